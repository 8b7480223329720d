// Package diff compares what was recorded: two ranks, all ranks with each other, two runs. It
// says what differs in structure (nodes and edges of the event flow graphs, branch runs, the
// first event where the sequences diverge), in calls, in bytes and in time, the most expensive
// first.
//
// # What is equal
//
// Words of two processes are compared in a form that does not depend on the process. Ranks are
// equal if they are the same, or at the same distance from the process's own rank in the
// communicator. Communicators are equal if they were created in the same way with the same
// number of members; windows and files by their communicators; requests if calls of the same
// procedure at the same callsite issued them, in the same slot; arrays element by element.
// Callsites of two runs are equal if their source locations are.
//
// # Nodes
//
// If two graphs have equal calls (procedure and callsite) and masks node by node, their nodes
// are matched by number. Otherwise nodes with equal signatures are matched first, then the
// remaining ones of the same call, in the order of their first events.
//
// # How
//
// Nothing is expanded. The point where two sequences diverge is found on the graphs: for each
// node the first departure that differs, and the first visit with other arguments, in folded
// sequences (seq.JoinRuns). Which of these comes first in the order of events is found from the
// preceding checkpoint of the stream. A comparison of all ranks costs as much as reading each
// process's graph once; classes of ranks are compared by hashes.
package diff
