// Package goal writes runs as schedules for LogGOPSim and the simulators of ATLAHS, which execute them
// on simulated networks: in GOAL, a text in which operations of each rank require others, or as the
// traces of liballprof, from which LogGOPSim's Schedgen makes such schedules. docs/exchange.md says
// what becomes of which call.
//
// Both have the computation between calls, messages between ranks of the run, and what waits for what.
// GOAL knows no collective calls: they become the messages of the algorithms that Schedgen uses, or of
// the nearest ones where it has none. In liballprof's traces, those that Schedgen knows stay calls.
//
// Processes are read one after another, the threads of one side by side: memory grows with the pairs of
// ranks that exchange messages, the communicators and tags, and the open requests of one process.
package goal
