package jsondoc

import "github.com/efg-tools/efg/internal/analysis/diff"

// Sequences is how the events of two runs differ; docs/diff.md describes the document.
type Sequences struct {
	Schema  string               `json:"schema"`
	Files   []string             `json:"files"`
	Equal   bool                 `json:"equal"`
	Ranks   [2]int               `json:"ranks"`
	Threads [2]int               `json:"threads"`
	Events  [2]uint64            `json:"events"`
	Polls   [2]uint64            `json:"polls"`
	First   []SequenceDifference `json:"first"`
}

// SequenceDifference is the first difference of a thread.
type SequenceDifference struct {
	Rank   int       `json:"rank"`
	Thread int       `json:"thread"`
	What   string    `json:"what"`
	Event  [2]uint64 `json:"event"`
	Call   [2]string `json:"call"`
}

// NewSequences returns the document of a comparison.
func NewSequences(files []string, s *diff.Sequences) *Sequences {
	j := &Sequences{Schema: "efg-diff-sequences/1", Files: files, Equal: s.Equal(), Ranks: s.Ranks, Threads: s.Threads,
		Events: s.Events, Polls: s.Polls, First: []SequenceDifference{}}
	for _, d := range s.First {
		j.First = append(j.First, SequenceDifference(d))
	}
	return j
}
