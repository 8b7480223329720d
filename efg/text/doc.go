// Package text is the text form of a run file: lines that represent everything in the file, to
// be read, compared and changed by people and programs. Dump writes it, Parse reads it; a file
// written by the current writer is restored byte for byte. docs/text.md describes the lines.
package text

import "fmt"

// Error reports what is wrong in a text, and where.
type Error struct {
	File         string
	Line, Column int
	Cause        error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Cause)
}

func (e *Error) Unwrap() error { return e.Cause }

// firstLine begins every text. The number is the version of the form.
const firstLine = "efg-text 1"

var endNames = []string{"running", "thread-ended", "finalized", "exit"}

// kindNames are the names of kinds of definitions, by number.
var kindNames = []string{
	"unknown", "string", "vec", "type", "group", "op", "comm", "win", "file", "site", "module", "region",
}
