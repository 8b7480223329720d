// Package text is the text twin of a run file: lines that say everything that is
// in the file, to be read, compared and changed by people and programs. Dump
// writes it, Parse reads it; a file that the current writer made comes back byte
// for byte. docs/text.md describes the lines.
package text

import "fmt"

// Error is a place in a text and what is wrong there.
type Error struct {
	File         string
	Line, Column int
	Cause        error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Cause)
}

func (e *Error) Unwrap() error { return e.Cause }

// firstLine begins every text. The number is that of the text's form.
const firstLine = "efg-text 1"

var endNames = []string{"running", "thread-ended", "finalized", "exit"}

// kindNames are the names of kinds of definitions, by number.
var kindNames = []string{
	"unknown", "string", "vec", "type", "group", "op", "comm", "win", "file", "site", "module", "region",
}
