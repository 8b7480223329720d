// Package check looks for errors of a program in its recording: messages that were never
// received, requests that were never completed, objects that were never freed, mismatched
// collectives, calls outside MPI_Init and MPI_Finalize, persistent requests that are started
// twice. Of calls that returned it knows the results, of others only that they were entered.
//
// Messages, requests and objects are counted on the graphs. The events of a process are
// iterated only where counting is not conclusive (an array of requests that depends on the
// order of events, a cancelled request), or to find the event that a finding names.
//
// A message is matched by sender, receiver, communicator and tag. A wildcard receive is matched
// by the sender and tag in its status. Messages between two processes with the same tag and
// communicator do not overtake each other, so if fewer were received than sent, the last ones
// are lost.
//
// With the times of all events, those of processes on one machine are compared too: if an
// operation ends before one that it needs in another process has begun, a clock or the
// recording is wrong.
package check
