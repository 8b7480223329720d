package timeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
)

// errTooMany ends the search for slices.
var errTooMany = errors.New("too many slices")

// slices adds the calls to a view, unless there are too many.
func (t *Timeline) slices(ctx context.Context, v *View, q *Query, b *budget) error {
	lists := make([][]Slice, len(q.Procs))
	var found atomic.Int64
	err := parallel(len(q.Procs), func(i int) error {
		var err error
		lists[i], err = t.slicesOf(ctx, v, q.Procs[i], b, func() bool { return found.Add(1) <= int64(q.Slices) })
		return err
	})
	if errors.Is(err, errTooMany) {
		return nil
	}
	if err != nil {
		return err
	}
	v.Slices = slices.Concat(lists...)
	if v.Slices == nil {
		v.Slices = []Slice{}
	}
	return nil
}

// slicesOf returns the calls of a process that overlap the view, or start or end in it. It
// calls more before each of them.
func (t *Timeline) slicesOf(ctx context.Context, v *View, i int, b *budget, more func() bool) ([]Slice, error) {
	p, err := t.run.Process(i)
	if err != nil {
		return nil, err
	}
	var list []Slice
	for j := range p.Streams {
		if p.Streams[j].Trace == nil {
			continue
		}
		found, err := t.slicesOfStream(ctx, v, p, j, t.first[i]+j, b, more)
		if errors.Is(err, errTooMany) {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("rank %d, thread %d: %w", p.Rank, p.Streams[j].Thread, err)
		}
		list = append(list, found...)
	}
	return list, nil
}

func (t *Timeline) slicesOfStream(ctx context.Context, v *View, p *efg.Process, j, number int, b *budget, more func() bool) ([]Slice, error) {
	s, err := t.open(p, j, number)
	if err != nil {
		return nil, err
	}
	first, events, _, err := s.around(v.From, v.To())
	if err != nil {
		return nil, err
	}
	if !b.take(events) {
		return nil, errTooMany
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var list []Slice
	_, _, err = s.walk(ctx, first, v.From, v.To(), func(node int, start, end int64) {
		if context.Cause(ctx) != nil {
			return
		}
		if !more() {
			cancel(errTooMany)
			return
		}
		index, ok := v.index[s.procs[node]]
		if !ok {
			index = NoTime
		}
		list = append(list, Slice{p.Rank, s.Thread, start, end, index, t.site(p, s.site(node)), node == len(s.Nodes)})
	})
	if cause := context.Cause(ctx); errors.Is(cause, errTooMany) {
		return nil, cause
	}
	return list, err
}

// site is the text of a callsite.
func (t *Timeline) site(p *efg.Process, word uint64) string {
	t.places.Lock()
	defer t.places.Unlock()
	text, ok := t.sites[word]
	if !ok {
		place := t.names.Place(word)
		if place == unknownPlace {
			place = reconstruct.NewNames(p.Defs, nil).Place(word)
		}
		text = strings.TrimSpace(t.names.Func(word) + " " + place)
		t.sites[word] = text
	}
	return text
}

// unknownPlace is the place of a callsite that is missing from the run's table; the process's
// definitions may have it.
const unknownPlace = "unknown"
