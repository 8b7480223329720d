// Package simulate writes runs for simulators that execute them on other networks: as a schedule in GOAL, a text in
// which operations of each rank require others, for LogGOPSim and the simulators of ATLAHS; as the traces of
// liballprof, from which LogGOPSim's Schedgen makes such schedules; and as the time-independent traces that
// SimGrid replays. docs/exchange.md says what becomes of which call.
//
// All have the computation between calls, messages between ranks of the run, and what waits for what. In GOAL
// collective calls become the messages of the algorithms that Schedgen uses, or of the nearest ones where it has
// none. In the other formats, those of all ranks that the simulator knows stay calls.
//
// Processes are read one after another, the threads of one side by side: memory grows with the pairs of
// ranks that exchange messages, the communicators and tags, and the open requests of one process.
package simulate
