// Package segment reads the mapped file in which the hook keeps a process's event flow graphs.
// The layout is in layout.go, the meaning in FORMAT.md. A segment is readable at any moment,
// even after the process was killed.
package segment
