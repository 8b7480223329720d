// Package sql answers SQL about a recorded run: SQLite over virtual tables of
// events, nodes, edges, ranks and communicators. docs/sql.md describes them.
//
// Events are not stored: they are made while the graph is walked. What a
// statement says about rank, thread, procedure, event number and time decides what
// is read and walked at all; where it asks for nothing that differs between the
// events of a node, nothing is walked.
package sql
