package slices

import (
	"errors"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis/counted"
	"github.com/efg-tools/efg/reconstruct"
)

// Counter is something that is counted on a track.
type Counter struct {
	Number     int // from 0, on each track
	Name, Unit string
}

// BytesSent is the counter that every track has; those of efg run --counters have the numbers from 1.
var BytesSent = Counter{0, "bytes sent", "bytes"}

// counts are what the counters of efg run --counters have counted in a thread.
type counts struct {
	shares   *counted.Shares // nil: nothing was counted
	counters []Counter
	before   []uint64 // at the start of the call
	now      []uint64 // at the end of the last one
	drawn    []uint64
}

func newCounts(p *efg.Process, stream int) counts {
	c := counts{shares: counted.NewShares(p, stream)}
	if c.shares == nil {
		return c
	}
	for i, k := range c.shares.Counters {
		name := k.Name
		if k.State&efg.CounterMultiplexed != 0 {
			name += " (multiplexed)"
		}
		c.counters = append(c.counters, Counter{i + 1, name, k.Unit})
	}
	c.now, c.drawn = make([]uint64, len(c.counters)), make([]uint64, len(c.counters))
	return c
}

// enter goes to the start of a call, leave to its end.
func (c *counts) enter(e *reconstruct.Event) {
	if c.shares != nil {
		c.before = append(c.before[:0], c.shares.Enter(e.Node(), e.Counters())...)
	}
}

func (c *counts) leave(e *reconstruct.Event) {
	if c.shares != nil {
		c.now = append(c.now[:0], c.shares.Leave(e.Node(), e.Counters())...)
	}
}

// draw draws the counters that have changed.
func (c *counts) draw(sink Sink, at int64, values []uint64) (err error) {
	for i, v := range values {
		if v != c.drawn[i] {
			err = errors.Join(err, sink.Counter(at, &c.counters[i], v))
		}
	}
	copy(c.drawn, values)
	return err
}
