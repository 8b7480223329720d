package runfile

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// A trace block, of a file of an earlier version, has intervals in ns, each the value of a bin,
// and perhaps a few units more.

// Columns of a trace block.
const (
	traceNodes = iota // of a stream: number of nodes
	traceError        // of a stream
	traceBegin        // of a stream
	traceClock        // of a stream: its clock before the first event in the block
	traceGap          // of an event: bin + 1; 0: see the two columns at the end
	traceDur
	traceFineBin
	traceFine // zigzag
)

// maxInterval is more than any interval, in ns: 146 years.
const maxInterval = 1 << 62

// timeBins are the bins of a trace block.
type timeBins struct {
	parts uint64
	value []uint64 // what stands for all intervals of a bin
}

// newTimeBins returns the bins for a relative error in parts of efg.ErrorUnit.
func newTimeBins(parts uint32) (*timeBins, error) {
	if parts < efg.MinError || parts > efg.MaxError {
		return nil, fmt.Errorf("error of %d parts of %d, not %d to %d", parts, efg.ErrorUnit, efg.MinError, efg.MaxError)
	}
	q := &timeBins{parts: uint64(parts)}
	for low := uint64(0); low < maxInterval; {
		v := low + q.share(low)
		q.value = append(q.value, v)
		rest := efg.ErrorUnit - q.parts
		low = v + v/rest*q.parts + v%rest*q.parts/rest + 1
	}
	return q, nil
}

// share is the error that an interval may have.
func (q *timeBins) share(ns uint64) uint64 {
	return ns/efg.ErrorUnit*q.parts + ns%efg.ErrorUnit*q.parts/efg.ErrorUnit
}

// bound is how far a start or an end may be from the measured one: the error that an interval
// of a millisecond may have.
func (q *timeBins) bound() uint64 { return q.share(1_000_000) }

// take takes an interval.
func (q *timeBins) take(b *block.Block, column int) uint64 {
	bins := uint64(len(q.value))
	if v := b.Below(column, bins+1, "bin"); v > 0 {
		return q.value[v-1]
	}
	v := q.value[b.Below(traceFineBin, bins, "bin")]
	unit := max(1, min(q.bound(), q.share(v))/4)
	return v + uint64(block.Unzigzag(b.Get(traceFine)))*unit
}

// takeTrace is takeTimes for a trace block.
func takeTrace(b *block.Block, want wantedTimes) *efg.TimesPart {
	h, n := takeTraceHead(b)
	if h == nil {
		return nil
	}
	q, err := newTimeBins(h.trace.Error)
	if err != nil {
		b.Failf("%w", err)
		return nil
	}
	if want.nodes == nil {
		for k := uint64(0); k < want.events && b.Err == nil; k++ {
			q.take(b, traceGap)
			q.take(b, traceDur)
		}
		return nil
	}
	if n != uint64(len(want.nodes)) {
		b.Failf("times of %d nodes, there are %d", n, len(want.nodes))
		return nil
	}
	p := &efg.TimesPart{Trace: h.trace, Clock: h.clock, Times: make([]efg.Times, len(want.nodes))}
	for _, i := range traceOrder(want.nodes) {
		for k := uint64(0); k < want.visits[i] && b.Err == nil; k++ {
			p.Times[i].Gap.Append(q.take(b, traceGap))
			p.Times[i].Dur.Append(q.take(b, traceDur))
		}
	}
	return p
}

// takeTraceHead is takeTimesHead for a trace block.
func takeTraceHead(b *block.Block) (h *timesHead, nodes uint64) {
	n := b.Get(traceNodes)
	if n == 0 || b.Err != nil {
		return nil, 0
	}
	t := efg.Trace{Error: uint32(b.Below(traceError, efg.ErrorUnit, "error")), Begin: b.Get(traceBegin)}
	t.Bound = (&timeBins{parts: uint64(t.Error)}).bound()
	return &timesHead{t, b.Get(traceClock)}, n - 1
}
