// Package phases attributes calls, bytes and time to the phases between global synchronization
// points: a barrier or another collective that no process leaves before all have entered it, on
// a communicator of all processes.
//
// A phase begins after such a call and ends with the next one, that included. Phases between
// the same two callsites are one row: a loop with a reduction is a row of a thousand phases.
// The events are not expanded: the stream is iterated folded (efg.FoldedWalk), and what differs
// from phase to phase only in its arguments is summed from the attribute streams.
//
// Times of a node within a single row are exact. If it spans several, and only statistics were
// recorded, its time is divided by the number of its events. With the times of each event all
// are exact, and the arrival of each process at each collective is known.
package phases
