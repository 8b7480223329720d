package jsondoc

import "github.com/efg-tools/efg/internal/analysis/timeline"

// Timeline is a view of a timeline; docs/timeline.md describes the document.
type Timeline struct {
	File string `json:"file"`
	timeline.Header
	Pixels []byte `json:"pixels"`
	Shares []byte `json:"shares,omitempty"`
}

// NewTimeline makes the document.
func NewTimeline(file string, v *timeline.View) *Timeline {
	return &Timeline{file, *v.Header(), v.Pixels, v.Share}
}

// compact: there are too many slices for a line each.
func (*Timeline) compact() {}
