// Package sql answers SQL statements about a recorded run: SQLite over virtual tables of
// events, nodes, edges, counters, energy, ranks and communicators. docs/sql.md describes them.
//
// Events are not stored: they are generated while the graph is walked. Constraints on rank,
// thread, procedure, event number and time limit what is read and walked; a statement that uses
// only columns that are equal for all events of a node walks nothing.
package sql
