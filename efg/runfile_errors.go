package efg

import (
	"errors"
	"fmt"
)

// Errors of the run file's reader. A CorruptError tells more than these three.
var (
	// ErrNotEFG says that the file does not start like a run file.
	ErrNotEFG = errors.New("not an efg run file")
	// ErrNewerVersion says that the file was written by a later version.
	ErrNewerVersion = errors.New("written by a newer version of efg")
	// ErrTruncated says that the end of the file is missing.
	ErrTruncated = errors.New("truncated run file")
)

// CorruptError says that a run file's content contradicts itself.
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
