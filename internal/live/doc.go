// Package live tells what the processes of a job are doing, or were doing when they
// were killed: the call that each thread is in, since when, and whom it waits for. It
// reads their segments (internal/segment); the processes notice nothing.
//
// # Who waits for whom
//
// A call in progress needs other ranks. A receive needs its sender, a send its
// receiver, unless the graphs of the two tell that the matching call has been made
// already. A collective needs the members of its communicator that have made fewer
// collective calls on it: collectives of a communicator are made by all members in the
// same order, so that the number of calls tells who is missing. A wait needs
// what its requests need. Where any of several ranks will do (a receive from any
// source, MPI_Waitany) one is enough.
//
// From the ranks that can go on by themselves, those that compute, or are in a call
// that needs nobody, or one that is not understood, it follows which others can be
// released, step by step. What is left can never go on. If ranks among these need
// each other in a cycle, that is a deadlock; if they need a process that has ended,
// they wait in vain. A job in which any rank that is needed computes is never called
// a deadlock, however long that takes.
package live
