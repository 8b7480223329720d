// Package jsonl reads lists of calls as JSON Lines: what efg reconstruct writes, and what other
// recorders can write; docs/import.md has the form.
//
// The file is read twice. The first pass finds the ranks, where each ends, and the members of
// communicators; the second one makes processes. Memory is for the graphs of ranks whose calls are
// mixed in the file.
package jsonl
