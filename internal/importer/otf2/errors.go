package otf2

import (
	"errors"
	"fmt"
)

// Error is what is wrong with an archive, and where.
type Error struct {
	File   string
	Offset int64 // in bytes; -1: of the file as a whole
	Err    error
}

func (e *Error) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s: byte %#x: %v", e.File, e.Offset, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// ErrUnsupported is wrapped by errors about archives that are valid, but of a kind that is not read:
// compressed ones, those in SION containers, of big-endian machines, or of later versions.
var ErrUnsupported = errors.New("not supported")

// ErrTruncated is wrapped by errors about files that end early.
var ErrTruncated = errors.New("the file ends early")
