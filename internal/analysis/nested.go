package analysis

import (
	"math/bits"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Calls that were made inside others are in the times of these. So that times add up, the facts of
// nodes have the calls' own times: sums without those of the calls inside. What a call has inside
// of it follows from the order of events; where calls of a node are inside those of several others,
// their time is divided by numbers of calls.

// ownTimes returns the statistics of the nodes of a stream with the calls' own times, nil if no
// call was made inside another. The time before a call inside another is part of that one's, so there
// are no gaps. Polls that are only counted are not in the order of events: their time is in that of the call around them.
func (s *stream) ownTimes() ([]*efg.Stats, error) {
	if !s.Nested() {
		return nil, nil
	}
	inside, err := s.inside()
	if err != nil {
		return nil, err
	}
	own := make([]*efg.Stats, len(s.Nodes))
	for k := range s.Nodes {
		own[k] = s.Nodes[k].Stats
		if own[k] == nil {
			continue
		}
		copied := *own[k]
		own[k] = &copied
		if depthOf(&s.Nodes[k]) > 0 {
			own[k].Gap = efg.Interval{}
			own[k].Gap.Bins[0] = uint32(min(copied.Count, 1<<32-1))
			if s.Nodes[k].Counted > 0 {
				own[k].Dur.Sum = 0
			}
		}
	}
	for _, x := range inside {
		if from := s.Nodes[x.inner].Stats; from != nil && from.Count > 0 && own[x.outer] != nil {
			sum := &own[x.outer].Dur.Sum
			*sum -= min(*sum, share(from.Dur.Sum, x.times, from.Count))
		}
	}
	return own, nil
}

func depthOf(n *efg.Node) int { return signature.Header(n.Words[0]).Depth() }

// share is part/of of a sum.
func share(sum, part, of uint64) uint64 {
	high, low := bits.Mul64(sum, min(part, of))
	q, _ := bits.Div64(high, low, of)
	return q
}

// nestedCalls counts calls of one node that are immediately inside calls of another one.
type nestedCalls struct {
	inner, outer int
	times        uint64
}

// inside finds which calls are inside which, in the order of first occurrence.
func (s *stream) inside() ([]nestedCalls, error) {
	var list []nestedCalls
	index := map[[2]int]int{}
	var open [signature.MaxDepth + 1][]int // nodes of calls, by depth, whose outer call follows
	depths := make([]int, len(s.Nodes))
	for k := range depths {
		depths[k] = depthOf(&s.Nodes[k])
	}
	w := s.Walk(nil)
	for w.Next() {
		k := w.Node()
		d := depths[k]
		for i := d + 1; i < len(open); i++ {
			for _, inner := range open[i] {
				at, ok := index[[2]int{inner, k}]
				if !ok {
					at = len(list)
					index[[2]int{inner, k}], list = at, append(list, nestedCalls{inner: inner, outer: k})
				}
				list[at].times++
			}
			open[i] = open[i][:0]
		}
		if d > 0 {
			open[d] = append(open[d], k)
		}
	}
	return list, w.Err()
}

// InsideTimes follows the events of a stream, and knows how long the calls immediately inside each
// of them took.
type InsideTimes struct{ sums [signature.MaxDepth + 1]int64 }

// Next goes to the next event, and returns how long the calls inside it took, ns.
func (x *InsideTimes) Next(e *reconstruct.Event) (ns int64) {
	d := e.Depth()
	for i := d + 1; i < len(x.sums); i++ {
		ns += x.sums[i]
		x.sums[i] = 0
	}
	if start, end, ok := e.Times(); ok && d > 0 {
		x.sums[d] += end - start
	}
	return ns
}
