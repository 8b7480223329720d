// Package table turns a run into the tables that the formats parquet, arrow and csv contain:
// events, matched messages and waits, calls and nodes and edges of the graphs, ranks, and the run
// itself.
//
// Each table is defined once, as a list of columns with their types, units, meaning, and the
// function that provides the value; FORMAT.md has the same list, and a test compares them. Rows
// are made in batches while graphs are walked, in constant memory.
package table
