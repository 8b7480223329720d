// Package waits finds the wait states of a run: which calls waited, how long, and for which call
// of which other process. The definitions are those of Scalasca; docs/waits.md gives the
// formulas.
//
// A call that completes several operations waits for the one that came last: of the operations
// that it waited for only the longest wait counts, and a late receiver only if no operation of
// the call waited for a sender. Nonblocking and persistent operations wait in the call that
// completes them; a successful test, together with the unsuccessful ones directly before it, waits
// like a call that blocks.
package waits
