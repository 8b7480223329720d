package importer

import (
	"fmt"

	"github.com/efg-tools/efg/internal/printable"
)

// LineError is what is wrong with a line of a file.
type LineError struct {
	File string
	Line int
	Err  error
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %v", printable.Line(e.File), e.Line, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }
