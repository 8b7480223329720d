package runfile

import (
	"errors"

	"github.com/efg-tools/efg/efg/block"
)

// Errors of the run file's reader. A CorruptError says more than these three.
var (
	// ErrNotEFG says that the file does not start like a run file.
	ErrNotEFG = errors.New("not an efg run file")
	// ErrNewerVersion says that the file was written by a later version.
	ErrNewerVersion = errors.New("written by a newer version of efg")
	// ErrTruncated says that the end of the file is missing.
	ErrTruncated = errors.New("truncated run file")
)

// CorruptError says that a run file's content contradicts itself.
type CorruptError = block.CorruptError
