// Package waitfor finds out which ranks of a job can never go on: it builds the wait-for
// graph of the calls that their threads are in, live (internal/live) and of runs that ended
// (internal/analysis/check).
//
// # Who waits for whom
//
// A call in progress needs other ranks. A receive needs its sender, a send its
// receiver, unless the graphs of the two say that the matching call has been made
// already. A wait needs what its requests need. Where any of several ranks will do (a
// receive from any source, MPI_Waitany) one is enough.
//
// A collective needs the members of its communicator that have not made the matching
// call: all members make the collectives of a communicator in the same order, so call
// number k of one matches call number k of the others. A member has not made it if it has
// made fewer, or if its call number k is of another procedure or names another root.
// Members that give another operation or other data have made it: libraries do not notice.
//
// From the ranks that can go on by themselves, those that compute, or are in a call that needs
// no one, or one that is not understood, it follows which others can be released, step by step.
// What is left can never go on. If ranks among these need each other in a cycle, that is a
// deadlock; if they need a process that has ended, they wait forever. A job in which any rank
// that is needed computes is never called a deadlock, however long that takes.
//
// Apart from that, calls that stand in the same place of a communicator's order and differ
// are a fault whoever waits for whom: a mismatch.
package waitfor
