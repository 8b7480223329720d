package runfile

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// A block of times with values is one of times that also has what each of Meta.Counters counted at each event.

// Columns of a block of times with values, behind those of one without.
const (
	valuesCounters = timesVisits + 1 + iota // of a stream with times: number of counters that it has values of; all, or 0
	valuesSets                              // the columns of each counter
	valuesCall     = 0                      // of an event: 1 more than what was counted in the call; 0: it was not counted
	valuesBefore   = 1                      // of an event that was counted
	valuesEach     = 2
)

// countersByNumber are the counters of the file, without states.
func (r *Run) countersByNumber() []efg.Counter {
	var list []efg.Counter
	for _, name := range r.Meta.Counters {
		list = append(list, efg.ParseCounter(name))
	}
	return list
}

// valuedStreams reports whether there is a stream with values.
func valuedStreams(streams []*efg.Stream) bool {
	return slices.ContainsFunc(streams, func(s *efg.Stream) bool { return s.Trace != nil && s.Trace.Counters > 0 })
}

// valuesAt says which counters of a stream's process, which are these, the columns of each of names have the values of; -1:
// of none. It is nil if the stream has no values.
func valuesAt(s *efg.Stream, counters []efg.Counter, names []string) []int {
	if s.Trace == nil || s.Trace.Counters == 0 {
		return nil
	}
	return countersByName(counters, names)
}

// putValues appends what the counters counted at the next events of a node.
func putValues(c *block.Columns, at []int, from []efg.ValueIter, count uint64) {
	for i, k := range at {
		set := valuesSets + i*valuesEach
		for range count {
			var v efg.CounterValue
			if k >= 0 && k < len(from) {
				v, _ = from[k].Next()
			}
			if !v.Counted {
				c.Put(set+valuesCall, 0)
				continue
			}
			c.Put(set+valuesCall, v.Call+1)
			c.Put(set+valuesBefore, v.Before)
		}
	}
}

// takeValues takes what the counters counted at so many events of a node; if t is nil, it passes over them.
func takeValues(b *block.Block, counters int, t *efg.Times, count uint64) {
	if t != nil && counters > 0 && count > 0 {
		t.Values = make([]efg.CounterValues, counters)
	}
	for i := range counters {
		set := valuesSets + i*valuesEach
		for k := uint64(0); k < count && b.Err == nil; k++ {
			var v efg.CounterValue
			if call := b.Get(set + valuesCall); call > 0 {
				v = efg.CounterValue{Call: call - 1, Before: b.Get(set + valuesBefore), Counted: true}
			}
			if t != nil {
				t.Values[i].Append(v)
			}
		}
	}
}

// valuesTaker returns the function that takes times and values of so many counters from a block.
func valuesTaker(counters int) func(*block.Block, wantedTimes) *efg.TimesPart {
	return func(b *block.Block, want wantedTimes) *efg.TimesPart {
		return takeTimesAnd(b, want, headTaker(counters))
	}
}

// headTaker returns the function that takes the head of a stream's times from a block of those and of values of so many
// counters.
func headTaker(counters int) func(*block.Block) (*timesHead, uint64) {
	return func(b *block.Block) (*timesHead, uint64) {
		h, nodes := takeTimesHead(b)
		if h == nil {
			return nil, 0
		}
		if h.trace.Counters = int(b.Get(valuesCounters)); h.trace.Counters != 0 && h.trace.Counters != counters {
			b.Failf("values of %d counters, the run has %d", h.trace.Counters, counters)
			h.trace.Counters = 0
		}
		return h, nodes
	}
}

// valued reports whether the process has streams with values.
func (s *memorySource) valued() bool {
	return slices.ContainsFunc(s.proc.Streams, func(st efg.Stream) bool { return st.Trace != nil && st.Trace.Counters > 0 })
}

func (s *fileSource) valued() bool { return s.run.features&featureValues != 0 }

// HasCounterValues reports whether the file has what the counters counted at each event.
func (r *Run) HasCounterValues() bool { return r.features&featureValues != 0 }
