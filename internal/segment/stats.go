package segment

import (
	"errors"
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

// times reads the times of a node's events, as many as are there by now. The
// node's NodeStats stand at bytes behind its start.
func (r *reader) times(ref uint32, at uint64) (*efg.Times, error) {
	b, err := r.bytes("node", ref, at, uint64(unsafe.Sizeof(NodeStats{})))
	if err != nil {
		return nil, err
	}
	st := atomic.LoadUint64(view[uint64](b[unsafe.Offsetof(NodeStats{}.High):]))
	if st>>32 == 0 {
		return &efg.Times{}, nil
	}
	var t Times
	if err := r.record("times", uint32(st>>32), &t); err != nil {
		return nil, err
	}
	var code []byte
	for next := t.First; next != 0; {
		var c Chunk
		if err := r.record("times", next, &c); err != nil {
			return nil, err
		}
		b, err := r.bytes("times", next, uint64(unsafe.Sizeof(c)), uint64(c.Cap))
		if err != nil {
			return nil, err
		}
		code = append(code, b...)
		next = c.Next
	}
	return efg.DecodeTimes(code), nil
}

// stats reads a node's times, which stand at bytes behind its start.
func (r *reader) stats(ref uint32, at uint64) (*efg.Stats, error) {
	b, err := r.bytes("node", ref, at, uint64(unsafe.Sizeof(NodeStats{})))
	if err != nil {
		return nil, err
	}
	var s NodeStats
	decode(b, &s)
	out := &efg.Stats{
		Dur: efg.Interval{Sum: s.DurSum, Min: s.DurMin, Max: s.DurMax},
		Gap: efg.Interval{Sum: s.GapSum, Min: s.GapMin, Max: s.GapMax},
	}
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
	if out.Count == 0 { // what new nodes have there is no time
		out.Dur.Min, out.Gap.Min = 0, 0
	}
	return out, nil
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
