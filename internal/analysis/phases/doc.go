// Package phases says where calls, bytes and time went from one point to the next
// where all processes of a world meet: a barrier or another collective that
// no one leaves before all have come, on a communicator with all processes.
//
// A phase begins after such a call and ends with the next one, that included. Phases between
// the same two places in the source are one row: a loop with a reduction is a row of a thousand
// phases. The events are not written out: the stream is iterated folded (efg.FoldedWalk), and
// what differs from phase to phase only in its arguments is added up from the attribute
// streams.
//
// Times of a node that lies in one row alone are exact. If it lies in several,
// and only statistics were recorded, its time is divided by the number of its
// events. With the times of each event all are exact, and it is known when each
// process arrived at each collective.
package phases
