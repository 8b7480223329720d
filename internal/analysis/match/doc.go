// Package match walks all streams of a run side by side and matches what belongs together: the
// two sides of each message, the members of each collective call, the calls that synchronise
// accesses to windows. It is the graph of the recorded dependencies, as a stream: a Visitor sees
// each call when it is entered and when it is left, in the order of time and in the order of
// each thread, with the operations that it posts and those that it completes, and of each
// operation the one of another process that it depends on.
//
// # Order
//
// The walk is a simulation of the recorded events: the next event is the earliest exit of a call that
// completes something. A thread then goes on up to its next such call, and enters that one, so that
// its part of the memory is needed once for several calls: what it posts ahead of time only matters
// to calls that are left later, and is not shown to others. Processes with several threads do one step
// at a time, in the order of time. A call whose recorded end lies before what it depends on, because clocks
// differ or times are not exact, is held back until that has happened. What never happens,
// because a recording ends early, is not waited for: when nothing else is left to do, the
// earliest such call is released, and Summary.Unmatched counts it.
//
// Events are read ahead, a window of each thread at a time, while those before them are matched, except of processes with several
// threads, and of those whose requests persist, are cancelled or freed: their requests are looked up in both.
//
// So the memory of a walk is bounded by what is open: messages in flight, collective calls that
// some members have not left, incomplete requests.
//
// # Messages
//
// Messages of one sender, receiver, communicator and tag are received in the order in which
// they were sent, by receives in the order in which they were posted. A receive of any source or
// tag counts as what it received: of a nonblocking one that is known from the call that
// completes it, which a second reader of the stream looks for. If that call is made by another
// thread, the receive is matched when it is complete.
//
// A persistent operation is posted when it is started, but a partitioned send by the call that says that
// its last partitions are ready; see parts.go. A matched probe takes its message out
// of the order; the receive of it is posted by MPI_Mrecv or MPI_Imrecv. A probe depends on the
// message that it finds, as a receive does.
//
// # Collectives
//
// The members of a communicator, window or file make their collective calls in one order. The
// starts of a persistent collective are matched in the order in which it was made and started.
// On an intercommunicator the members of one group wait for those of the other. If members
// disagree on a call, nothing after it on that object is matched. Calls that failed are ignored.
//
// # Calls inside calls
//
// What callbacks of the program do inside a call takes part in matching, because messages and
// collective calls have one order, but visitors do not see it: its time is that of the outermost
// call, and what that call depends on is known from its own operations.
package match
