package runfile

import (
	"errors"

	"github.com/efg-tools/efg/efg/block"
)

// Errors of the run file's reader. CorruptError has more details.
var (
	// ErrNotEFG reports that the file does not begin like a run file.
	ErrNotEFG = errors.New("not an efg run file")
	// ErrNewerVersion reports that the file was written by a newer version.
	ErrNewerVersion = errors.New("written by a newer version of efg")
	// ErrTruncated reports that the end of the file is missing.
	ErrTruncated = errors.New("truncated run file")
)

// CorruptError reports that a run file's content contradicts itself.
type CorruptError = block.CorruptError
