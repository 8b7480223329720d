package efg

import (
	"fmt"
	"math"
)

// CounterValue is what a counter counted in a call, and before it since the end of the thread's call before.
type CounterValue struct {
	Before, Call uint64
	Counted      bool // or the rest means nothing: the counter could not be read, or the call was inside another one
}

// CounterValues are what a counter counted at each event of a node.
type CounterValues struct {
	call   TimeSeq // 1 more than what was counted in the call; 0: it was not counted
	before TimeSeq // of those that were counted
}

// Len is the number of events.
func (s CounterValues) Len() uint64 { return s.call.n }

// Append adds the value of the next event. Of a call in which math.MaxUint64 was counted, it keeps one less.
func (s *CounterValues) Append(v CounterValue) {
	if !v.Counted {
		s.call.Append(0)
		return
	}
	s.call.Append(min(v.Call, math.MaxUint64-1) + 1)
	s.before.Append(v.Before)
}

// Prefix returns the values of the first n events.
func (s CounterValues) Prefix(n uint64) (out CounterValues, err error) {
	if out.call, err = s.call.Prefix(n); err != nil {
		return out, err
	}
	counted := uint64(0)
	for it := out.Iter(); it.call.left > 0; {
		if v, _ := it.Next(); v.Counted {
			counted++
		}
	}
	out.before, err = s.before.Prefix(counted)
	return out, err
}

// Size is about how many bytes the times and values take.
func (t *Times) Size() int {
	n := len(t.Gap.code) + len(t.Dur.code)
	for i := range t.Values {
		n += len(t.Values[i].call.code) + len(t.Values[i].before.code)
	}
	return n
}

func (s *CounterValues) join(o CounterValues) {
	s.call.join(o.call)
	s.before.join(o.before)
}

// Iter returns an iterator over the values.
func (s CounterValues) Iter() ValueIter { return ValueIter{s.call.Iter(), s.before.Iter()} }

// ValueIter goes through CounterValues.
type ValueIter struct{ call, before TimeIter }

// Next returns the next value; false at the end.
func (it *ValueIter) Next() (v CounterValue, ok bool) {
	call, ok := it.call.Next()
	if !ok || call == 0 {
		return CounterValue{}, ok
	}
	before, _ := it.before.Next()
	return CounterValue{before, call - 1, true}, true
}

// ValueIters are iterators over the values of each counter.
func (t *Times) ValueIters() []ValueIter {
	if len(t.Values) == 0 {
		return nil
	}
	out := make([]ValueIter, len(t.Values))
	for i := range out {
		out[i] = t.Values[i].Iter()
	}
	return out
}

// AppendValues adds what each counter counted at an event.
func (t *Times) AppendValues(values []CounterValue) {
	if t.Values == nil && len(values) > 0 {
		t.Values = make([]CounterValues, len(values))
	}
	for i := range values {
		t.Values[i].Append(values[i])
	}
}

// nextValues reads the next value of each counter into to.
func nextValues(from []ValueIter, to []CounterValue) []CounterValue {
	to = to[:0]
	for i := range from {
		v, _ := from[i].Next()
		to = append(to, v)
	}
	return to
}

// checkValues checks that each event has the values of so many counters.
func (t *Times) checkValues(counters int) error {
	if len(t.Values) != counters && t.Gap.n > 0 || len(t.Values) > MaxCounters {
		return fmt.Errorf("%w: values of %d counters, not %d", ErrTimes, len(t.Values), counters)
	}
	for i := range t.Values {
		if n := t.Values[i].Len(); n != t.Gap.n {
			return fmt.Errorf("%w: values of counter %d at %d of %d events", ErrTimes, i, n, t.Gap.n)
		}
	}
	return nil
}

// tally returns the sums of values, as a recorder would have them.
func (s CounterValues) tally() (c NodeCounter) {
	it := s.Iter()
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		if !v.Counted {
			continue
		}
		if c.Count == 0 {
			c.Call.Min, c.Before.Min = math.MaxUint64, math.MaxUint64
		}
		c.Count++
		c.Call.Add(v.Call)
		c.Before.Add(v.Before)
	}
	return c
}

// Add adds a value. Before the first one, Min must be math.MaxUint64.
func (t *Tally) Add(v uint64) {
	t.Sum += v
	t.Min, t.Max = min(t.Min, v), max(t.Max, v)
	if n := &t.Bins[TallyBin(v)]; *n != math.MaxUint32 {
		*n++
	}
}

// CheckValues checks that where all events of a node have values, these make the sums of the node; its times are loaded. Of a process
// that was killed, the node's sums may lack the last event.
func CheckValues(s *Stream) (node int, err error) {
	if s.Trace == nil || s.Trace.Counters == 0 {
		return -1, nil
	}
	for i, visits := range s.Visits() {
		n := &s.Nodes[i]
		if n.Times == nil || n.Times.Gap.n < visits || n.Counters == nil {
			continue
		}
		for k := range n.Times.Values {
			if k >= len(n.Counters) {
				return i, fmt.Errorf("%w: values of %d counters, sums of %d", ErrTimes, len(n.Times.Values), len(n.Counters))
			}
			sums, counted := n.Counters[k], n.Times.Values[k].tally()
			if sums.Count > counted.Count || sums.Count == counted.Count && sums != counted {
				return i, fmt.Errorf("%w: counter %d: values of %d events, and sums of %d, are different", ErrTimes, k, counted.Count, sums.Count)
			}
		}
	}
	return -1, nil
}
