// Package query answers queries about a recorded run, in the query language of
// the MPI Trace Format: which operations, of which processes, on which
// communicator, when and how large. docs/query.md is its grammar.
//
// Totals are computed on the graph: their time grows with the graph, not with the events.
// Selections reconstruct the events of streams that may match, one at a time.
package query
