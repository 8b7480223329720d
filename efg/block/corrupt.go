package block

import "fmt"

// CorruptError reports that a run file's content contradicts itself.
type CorruptError struct {
	// Section is the part of the file: "trailer", "index", "graph 3", ...
	Section string
	// Offset counts bytes from the start of the file for blocks, and from the
	// start of the block's decoded content for what lies in one.
	Offset uint64
	Cause  error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt run file: %s at %d: %v", e.Section, e.Offset, e.Cause)
}

func (e *CorruptError) Unwrap() error { return e.Cause }
