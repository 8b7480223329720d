package segment

import (
	"sync/atomic"
	"unsafe"

	"github.com/efg-tools/efg/efg"
)

// counters are what the process was to count.
func (h *Header) counters() []efg.Counter {
	var list []efg.Counter
	for i := range min(int(h.NCounters), MaxCounters) {
		c := efg.ParseCounter(text(h.Counters[i].Name[:]))
		c.State = efg.CounterState(h.Counters[i].State) & (efg.CounterRead | efg.CounterMultiplexed | efg.CounterFailed)
		list = append(list, c)
	}
	return list
}

// valued is the number of counters whose values are with the times of each event.
func (h *Header) valued() int {
	if h.Values == 0 {
		return 0
	}
	return min(int(h.NCounters), MaxCounters)
}

// nodeCounters reads the counters of a node, which stand at bytes behind its start.
func (r *reader) nodeCounters(ref uint32, at uint64, n uint32) ([]efg.NodeCounter, error) {
	if n == 0 {
		return nil, nil
	}
	out := make([]efg.NodeCounter, min(n, MaxCounters))
	for i := range out {
		b, err := r.bytes("node", ref, at, uint64(unsafe.Sizeof(NodeCounter{})))
		if err != nil {
			return nil, err
		}
		var c NodeCounter
		decode(b, &c)
		out[i] = efg.NodeCounter{Call: efg.Tally(c.Call), Before: efg.Tally(c.Before)}
		// Last: it tells of events that came while the rest was read.
		if out[i].Count = atomic.LoadUint64(&view[NodeCounter](b).Count); out[i].Count == 0 {
			out[i] = efg.NodeCounter{}
		}
		at += uint64(unsafe.Sizeof(c))
	}
	return out, nil
}
