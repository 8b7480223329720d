package segment

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/efg-tools/efg/efg"
)

// Header.TimeMode.
const (
	timesOff = iota
	timesStats
	timesTrace
)

// times reads the times of a stream's first n events, and the values of so many counters.
func (r *reader) times(first uint32, n uint64, counters int) (*efg.Times, error) {
	out := &efg.Times{}
	if counters > 0 {
		out.Values = make([]efg.CounterValues, counters)
	}
	for next := first; next != 0 && out.Dur.Len() < n; {
		var c Chunk
		if err := r.record("times", next, &c); err != nil {
			return nil, err
		}
		b, err := r.bytes("times", next, uint64(unsafe.Sizeof(c)), uint64(c.Cap))
		if err != nil {
			return nil, err
		}
		addEvents(out, b)
		next = c.Next
	}
	if have := out.Dur.Len(); have < n {
		return nil, r.corrupt("times", first, fmt.Errorf("of %d events, not of %d", have, n))
	}
	return out.Prefix(n)
}

// addEvents adds the times of the events in a chunk, and what the counters counted at them.
func addEvents(out *efg.Times, b []byte) {
	values := make([]efg.CounterValue, len(out.Values))
	for {
		gap, dur, rest, ok := pair(b)
		if ok && len(values) > 0 {
			rest, ok = readValues(rest, values)
		}
		if !ok {
			return
		}
		out.Gap.Append(gap)
		out.Dur.Append(dur)
		out.AppendValues(values)
		b = rest
	}
}

// readValues reads what each counter counted at an event: which of them did, and their pairs.
func readValues(b []byte, to []efg.CounterValue) (rest []byte, ok bool) {
	if len(b) == 0 {
		return nil, false
	}
	has := b[0]
	b = b[1:]
	if int(has)>>len(to) != 0 {
		return nil, false
	}
	for i := range to {
		to[i] = efg.CounterValue{}
		if has>>i&1 == 0 {
			continue
		}
		to[i].Counted = true
		if to[i].Before, to[i].Call, b, ok = pair(b); !ok {
			return nil, false
		}
	}
	return b, true
}

// pair reads two integers, and the numbers of their bytes before them.
func pair(b []byte) (before, in uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, 0, nil, false
	}
	n, k := int(b[0]&15), int(b[0]>>4)
	if n == 0 || k == 0 || n > 8 || k > 8 || 1+n+k > len(b) {
		return 0, 0, nil, false
	}
	return ticks(b[1 : 1+n]), ticks(b[1+n : 1+n+k]), b[1+n+k:], true
}

// ticks is an integer of up to 8 bytes, the lowest first.
func ticks(b []byte) (v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// stats reads a node's times, which stand at bytes behind its start.
func (r *reader) stats(ref uint32, at uint64, clock efg.MachineClock) (*efg.Stats, error) {
	b, err := r.bytes("node", ref, at, uint64(unsafe.Sizeof(NodeStats{})))
	if err != nil {
		return nil, err
	}
	var s NodeStats
	decode(b, &s)
	out := &efg.Stats{}
	var high [2 * Bins]uint32
	if s.High != 0 {
		if err := r.highBins(s.High, &s.Low, &high); err != nil {
			return nil, err
		}
	}
	for i := range Bins {
		out.Dur.Bins[i] = high[i]<<8 | uint32(s.Low[i])
		out.Gap.Bins[i] = high[Bins+i]<<8 | uint32(s.Low[Bins+i])
	}
	// Last: it tells of events that came while the times were read.
	out.Count = atomic.LoadUint64(&view[NodeStats](b).Count)
	if out.Count > 0 { // what new nodes have there is no time
		toTime(&out.Dur, clock, out.Count, s.DurSum, s.DurMin, s.DurMax)
		toTime(&out.Gap, clock, out.Count, s.GapSum, s.GapMin, s.GapMax)
	}
	return out, nil
}

// toTime fills in sum, minimum and maximum of n times in ticks. The edges of the bins, which
// were estimated at the start, hold for those in a bin: minimum and maximum stay in theirs.
func toTime(v *efg.Interval, clock efg.MachineClock, n, sum, least, most uint64) {
	v.Min, v.Max, v.Sum = clock.Since(least, 0), clock.Since(most, 0), clock.Since(sum, 0)
	first, last := -1, 0
	for i, c := range v.Bins {
		if c > 0 {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	if clock.Rate == 0 || first < 0 {
		return
	}
	v.Min, v.Max = into(first, v.Min), into(last, v.Max)
	if v.Max = max(v.Min, v.Max); n == 1 {
		v.Max, v.Sum = v.Min, v.Min
	}
	if n < 1<<20 {
		v.Sum = min(max(v.Sum, n*v.Min), n*v.Max)
	}
}

// into returns the time in a bin that is nearest to one that is not far from it.
func into(bin int, ns uint64) uint64 {
	if bin > 0 {
		ns = max(ns, 1<<(bin+3))
	}
	if bin < Bins-1 {
		ns = min(ns, 1<<(bin+4)-1)
	}
	return ns
}

// highBins reads the high parts of bins.
func (r *reader) highBins(ref uint32, low *[2 * Bins]uint8, high *[2 * Bins]uint32) error {
	var h HighBins
	if err := r.record("bins", ref, &h); err != nil {
		return err
	}
	for g, group := range h.Groups {
		if group == 0 {
			continue
		}
		var b BinGroup
		if err := r.record("bins", group, &b); err != nil {
			return err
		}
		copy(high[g*GroupBins:], b.High[:])
	}
	if h.Carry == 0 {
		return nil
	}
	if h.Carry > 2*Bins {
		return r.corrupt("bins", ref, errors.New("no such bin"))
	}
	bin := h.Carry - 1
	high[bin] = h.CarryTo
	if low[bin] == 255 { // the event that carries is not counted yet
		high[bin]--
	}
	return nil
}
