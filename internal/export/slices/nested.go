package slices

import (
	"slices"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/eventrow"
	"github.com/efg-tools/efg/reconstruct"
)

// innerSlice is a call that was made inside another one. It comes before that one, but is drawn after
// it: the slices of a track are in the order in which they start.
type innerSlice struct {
	Slice
	depth int
}

// inside keeps a call that was made inside one that follows, before those that are inside itself. If that one is
// shorter than the resolution, neither is drawn.
func (w *writer) inside(e *reconstruct.Event, call *analysis.Call, start, end int64) error {
	sent, _, _ := eventrow.Volume(call.Operations)
	w.sent += sent
	if p := e.Proc(); p.Annotates() && (p.Opens || p.Closes) {
		return nil
	}
	x := innerSlice{depth: e.Depth()}
	w.fill(&x.Slice, e, call, start, end)
	w.requests(&x.Slice, e)
	at := len(w.inner)
	for at > 0 && w.inner[at-1].depth > x.depth {
		at--
	}
	w.inner = slices.Insert(w.inner, at, x)
	return nil
}

// drawInner draws the calls inside one that takes from start to end. Times may not be exact: they are
// made to nest.
func (w *writer) drawInner(start, end int64) error {
	if len(w.inner) == 0 {
		return nil
	}
	around := []Slice{{Start: start, End: end}}
	for i := range w.inner {
		s := &w.inner[i].Slice
		around = around[:min(len(around), w.inner[i].depth)]
		for k := len(around); k < w.inner[i].depth; k++ {
			around = append(around, around[k-1])
		}
		outer := &around[len(around)-1]
		s.Start = min(max(s.Start, outer.Start), outer.End)
		s.End = min(max(s.End, s.Start), outer.End)
		outer.Start = s.End // the next one starts later
		if s.End-s.Start < w.resolution {
			continue
		}
		if err := w.draw(s); err != nil {
			return err
		}
		around = append(around, *s)
	}
	w.inner = w.inner[:0]
	return nil
}
