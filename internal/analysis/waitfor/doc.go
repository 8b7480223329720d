// Package waitfor finds out which ranks of a job can never continue: it builds the wait-for
// graph of the calls that their threads are in, live (internal/live) and of runs that ended
// (internal/analysis/check).
//
// # Who waits for whom
//
// A call in progress needs other ranks. A receive needs its sender, a send its receiver, unless
// the graphs of the two show that the matching call has already been made. A wait needs what
// its requests need. Where any of several ranks will do (a receive from any source,
// MPI_Waitany) one is enough.
//
// A collective needs the members of its communicator that have not made the matching call: all
// members make the collectives of a communicator in the same order, so call number k of one
// matches call number k of the others. A member has not made it if it has made fewer, or if its
// call number k is another procedure or has another root. Members with another operation or
// other data have made it: libraries do not notice.
//
// Ranks that compute, or are in a call that needs no other rank or that is not understood, can
// continue by themselves. From these it follows step by step which others can continue. The
// remaining ranks can never continue. If ranks among these need each other in a cycle, that is
// a deadlock; if they need a process that has ended, they wait forever. While any needed rank
// computes, the job is never reported as deadlocked, however long that takes.
//
// Independently, differing calls at the same position in a communicator's order are an error, a
// mismatch, whichever rank waits.
package waitfor
