// Package generate turns a run into a stand-alone MPI program in C that makes the same calls: the
// graph as structured code.
//
// Each process is read into a body of statements: calls, which are nodes of its graph, and loops,
// found by folding the walk through the graph. What a call passes is known for all visits of its
// node together: one word, or a series. Handles become numbers of variables, in the order in
// which the process made them, so processes that do the same with other handles look alike.
// Processes with equal bodies are one function of the program; where their words differ, these
// come from a table by rank, or follow from the rank. A grammar of all bodies finds sequences that
// recur, which become functions, too; for it processes with different bodies have calls in common, and
// nodes of one callsite become one call. The shortest of these programs is written.
//
// Whatever cannot be reproduced is refused, with the procedure and the reason.
package generate
