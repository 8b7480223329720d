// Package simgrid writes runs as time-independent traces, which SimGrid's smpirun -replay executes on
// simulated machines: for each rank the computation between its calls, and the calls that move
// data. docs/exchange.md says what becomes of which call.
//
// Times are those of each process, so that its clock need not agree with those of others. Processes are
// read one after another, event by event: memory grows with the ranks, the open requests of one
// process and the messages in flight at its end.
package simgrid
