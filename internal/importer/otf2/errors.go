package otf2

import (
	"errors"
	"fmt"

	"github.com/efg-tools/efg/internal/printable"
)

// Error is what is wrong with an archive, and where.
type Error struct {
	File   string // relative to the directory of the anchor file
	Offset int64  // in bytes; -1: of the file as a whole
	Err    error
}

func (e *Error) Error() string {
	file := printable.Line(e.File)
	if e.Offset < 0 {
		return fmt.Sprintf("%s: %v", file, e.Err)
	}
	return fmt.Sprintf("%s: byte %#x: %v", file, e.Offset, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// ErrUnsupported is wrapped by errors about archives that are valid, but of a kind that is not read:
// compressed ones, those in SION containers, of big-endian machines, or of later versions.
var ErrUnsupported = errors.New("not supported")

// ErrTruncated is wrapped by errors about files that end early.
var ErrTruncated = errors.New("the file ends early")
