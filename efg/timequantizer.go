package efg

import (
	"fmt"
	"math/bits"
)

// ErrorUnit is what the error of traced times is counted in: parts of 10,000.
const ErrorUnit = 10_000

// MinError and MaxError bound the error of traced times that are not exact.
const (
	MinError = 10    // 0.1 %
	MaxError = 2_500 // 25 %
)

// DefaultBound is how far starts and ends may be from the measured ones where intervals are not
// exact, ns.
const DefaultBound = 1_000

// TimeQuantizer has the intervals to which others are rounded: 0 and, after each interval v, one
// that is 1 + min(s(v), 2 Bound) more, with s(v) the error that v may have. FORMAT.md, "Times",
// says why that is enough.
type TimeQuantizer struct {
	parts, bound uint64
	fine         []uint64 // the intervals up to the one from which on steps are equal
	// below is, for each prefix, the number of the largest interval that is not above the smallest
	// number with that prefix.
	below []uint32
}

// NewTimeQuantizer returns the intervals for a relative error in parts of ErrorUnit, and a bound
// for starts and ends in ticks. Of error 0 they are all intervals.
func NewTimeQuantizer(parts uint32, bound uint64) (*TimeQuantizer, error) {
	q := &TimeQuantizer{parts: uint64(parts), bound: bound}
	if parts == 0 && bound == 0 {
		return q, nil
	}
	if parts < MinError || parts > MaxError || bound >= maxBound {
		return nil, fmt.Errorf("error of %d parts of %d, bound of %d ticks", parts, ErrorUnit, bound)
	}
	for v := uint64(0); ; v += q.step(v) {
		q.fine = append(q.fine, v)
		if q.share(v) >= 2*bound {
			break
		}
	}
	last := q.fine[len(q.fine)-1]
	i := 0
	for p := range prefixOf(last) + 2 {
		for i+1 < len(q.fine) && q.fine[i+1] <= smallestWith(p) {
			i++
		}
		q.below = append(q.below, uint32(i))
	}
	return q, nil
}

// prefixBits is how many bits after the first belong to a prefix.
const prefixBits = 5

// prefixOf numbers the length of v in bits together with the bits after the first.
func prefixOf(v uint64) int {
	if v < 1<<prefixBits {
		return int(v)
	}
	rest := bits.Len64(v) - 1 - prefixBits
	return (rest+1)<<prefixBits | int(v>>rest)&(1<<prefixBits-1)
}

// smallestWith is the smallest number with a prefix.
func smallestWith(prefix int) uint64 {
	if prefix < 1<<prefixBits {
		return uint64(prefix)
	}
	return uint64(1<<prefixBits|prefix&(1<<prefixBits-1)) << (prefix>>prefixBits - 1)
}

// maxBound keeps the number of fine intervals small.
const maxBound = 1 << 48

// share is the error that an interval may have.
func (q *TimeQuantizer) share(ticks uint64) uint64 {
	return ticks/ErrorUnit*q.parts + ticks%ErrorUnit*q.parts/ErrorUnit
}

// step is how far the next interval is from one.
func (q *TimeQuantizer) step(v uint64) uint64 { return 1 + min(q.share(v), 2*q.bound) }

// Value returns an interval by its number.
func (q *TimeQuantizer) Value(i uint64) uint64 {
	if len(q.fine) == 0 {
		return i
	}
	last := uint64(len(q.fine)) - 1
	if i <= last {
		return q.fine[i]
	}
	return q.fine[last] + (i-last)*(1+2*q.bound)
}

// Below returns the number of the largest interval that is not above a number of ticks.
func (q *TimeQuantizer) Below(ticks uint64) uint64 {
	if len(q.fine) == 0 {
		return ticks
	}
	last := len(q.fine) - 1
	if ticks < q.fine[last] {
		i := int(q.below[prefixOf(ticks)])
		for q.fine[i+1] <= ticks { // at most once, if the error is 5 %
			i++
		}
		return uint64(i)
	}
	return uint64(last) + (ticks-q.fine[last])/(1+2*q.bound)
}

// Number returns the number of an interval; not ok: it is not one of the intervals.
func (q *TimeQuantizer) Number(ticks uint64) (i uint64, ok bool) {
	i = q.Below(ticks)
	return i, q.Value(i) == ticks
}

// Between returns the numbers of the first and the last interval to which one may be rounded.
// ahead is how far the clock that a reader makes is ahead of the recorded one.
func (q *TimeQuantizer) Between(ticks uint64, ahead int64) (first, last uint64) {
	may, bound := int64(q.share(ticks)), int64(q.bound)
	low, high := max(-may, -bound-ahead), min(may, bound-ahead)
	low = max(low, -int64(min(ticks, 1<<62)))
	last = q.Below(ticks + uint64(high))
	first = q.Below(ticks + uint64(low))
	if q.Value(first) < ticks+uint64(low) {
		first++
	}
	return first, last
}

// Round returns the interval to which one is rounded.
func (q *TimeQuantizer) Round(ticks uint64, ahead int64) (rounded uint64, after int64) {
	if len(q.fine) == 0 {
		return ticks, ahead
	}
	first, last := q.Between(ticks, ahead)
	i := first
	for k := first; k <= last; k++ { // those with even numbers are enough mostly
		if i&1 != 0 || k&1 == 0 && off(q.Value(k), ticks) < off(q.Value(i), ticks) {
			i = k
		}
	}
	v := q.Value(i)
	return v, ahead + int64(v-ticks)
}

func off(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// Quantize rounds the times of each event, so that they take less: intervals within parts of
// ErrorUnit, starts and ends within DefaultBound.
func (p *Process) Quantize(parts uint32) error {
	for i := range p.Streams {
		if err := p.Streams[i].Quantize(parts, DefaultBound); err != nil {
			return &StreamError{p.Rank, p.Streams[i].Thread, -1, err}
		}
	}
	return nil
}

// Quantize rounds the times of each event of a stream, so that they take less.
func (s *Stream) Quantize(parts uint32, boundNS uint64) error {
	if s.Trace == nil || s.Trace.Error != 0 || parts == 0 {
		return nil
	}
	bound := s.Trace.Clock.Ticks(boundNS)
	q, err := NewTimeQuantizer(parts, bound)
	if err != nil {
		return err
	}
	out, from := make([]Times, len(s.Nodes)), make([]nodeClock, len(s.Nodes))
	for i := range s.Nodes {
		t := s.Nodes[i].Times
		from[i] = t.clock()
		out[i].Values = t.Values
	}
	ahead := int64(0)
	depths, nesting := depthsOf(s.Nodes), Nesting[int64]{}
	w := s.Walk(nil)
	for seq := range s.TimedEvents() {
		if !w.step() {
			break
		}
		n := w.cur
		gap, ok1 := from[n].gap.Next()
		dur, ok2 := from[n].dur.Next()
		if !ok1 || !ok2 {
			return fmt.Errorf("%w: node %d has no more", ErrTimes, n)
		}
		ahead, _ = nesting.Enter(depthAt(depths, n), seq, ahead)
		gap, ahead = q.Round(gap, ahead)
		dur, ahead = q.Round(dur, ahead)
		out[n].Gap.Append(gap)
		out[n].Dur.Append(dur)
	}
	for i := range out {
		s.Nodes[i].Times = &out[i]
	}
	s.Trace = &Trace{Error: parts, Bound: bound, Begin: s.Trace.Begin, Clock: s.Trace.Clock, Untimed: s.Trace.Untimed, Counters: s.Trace.Counters}
	return w.Err()
}
