package jsondoc

import (
	"strings"

	"github.com/efg-tools/efg/internal/symbolize"
)

// Source has the lines around a callsite; docs/api.md describes the document.
type Source struct {
	Schema string   `json:"schema"`
	File   string   `json:"file"`
	At     string   `json:"at"`
	Path   string   `json:"path"`
	Line   int      `json:"line"`
	First  int      `json:"first"` // number of the first line
	Lines  []string `json:"lines"`
	Newer  bool     `json:"newer"`
}

// longestLine bounds the characters of a line: some programs have all of their source in one.
const longestLine = 2000

// NewSource makes the document with at most so many lines before and after the call.
func NewSource(file, at string, s *symbolize.Source, around int) *Source {
	j := &Source{Schema: "efg-source/1", File: file, At: at, Path: s.Path, Line: s.Line, First: max(1, s.Line-around), Newer: s.Newer, Lines: []string{}}
	n := 0
	for line := range strings.Lines(string(s.Text)) {
		if n++; n < j.First || n > s.Line+around {
			continue
		}
		line = strings.TrimRight(line, "\r\n")
		if r := []rune(line); len(r) > longestLine {
			line = string(r[:longestLine]) + "…"
		}
		j.Lines = append(j.Lines, line)
	}
	return j
}
