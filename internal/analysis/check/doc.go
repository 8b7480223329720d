// Package check looks for errors of a program in what was recorded of it: messages that no one
// received, requests that were never completed, objects that were never freed, collective calls
// that do not agree, calls outside MPI_Init and MPI_Finalize, persistent requests that are
// started twice. It knows only what the calls told when they returned; of one that never did,
// that it was entered.
//
// Messages, requests and objects are counted on the graphs. A process is walked
// through, event by event, only where counting leaves doubt (an array of requests
// that only the order of events tells, a cancelled request), or to find the event
// that a finding names.
//
// A message is matched by sender, receiver, communicator and tag. A receive with a
// wildcard is one of the sender and tag that its status told. Messages between two
// processes with the same tag and communicator do not overtake each other, so if
// fewer were received than sent, the last ones are lost.
//
// With the times of all events, those of processes on one machine are compared too:
// where an operation ends before what it needs of another process has begun, a clock
// or the recording is wrong.
package check
