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
// From the ranks that can continue by themselves, those that compute, or are in a call that
// needs no one, or one that is not understood, it follows which others can be released, step by
// step. What is left can never continue. If ranks among these need each other in a cycle, that
// is a deadlock; if they need a process that has ended, they wait forever. A job in which any
// needed rank computes is never reported as a deadlock, however long that takes.
//
// Independently, calls at the same position in a communicator's order that differ are an error,
// whichever rank waits: a mismatch.
package waitfor
