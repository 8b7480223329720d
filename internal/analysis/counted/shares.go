package counted

import (
	"math/bits"
	"slices"

	"github.com/efg-tools/efg/efg"
)

// Shares tells what has been counted in a thread at the start and the end of each of its calls, for formats that show it over time.
// Where values of calls are recorded, each call, and what is before it, has its own. What else their nodes counted
// is spread over the others: each has their mean. All calls of a node together have what it counted.
type Shares struct {
	// Counters are those of the process that were read.
	Counters []efg.Counter
	// Each: all calls have their own values.
	Each    bool
	numbers []int
	nodes   []efg.Node
	calls   []uint64 // by node, so far: those without their own values
	known   []known  // by node, and then by counter: of those with their own values; nil: there are none
	now     []uint64
}

// known is what a counter counted in calls with their own values.
type known struct{ count, before, call uint64 }

// NewShares returns the shares of Streams[i] of a process; nil if nothing was counted.
func NewShares(p *efg.Process, i int) *Shares {
	stream := &p.Streams[i]
	s := &Shares{nodes: stream.Nodes}
	for k, c := range p.Counters {
		if c.Read() {
			s.Counters, s.numbers = append(s.Counters, c), append(s.numbers, k)
		}
	}
	if s.Counters == nil || !slices.ContainsFunc(s.nodes, func(n efg.Node) bool { return n.Counters != nil }) {
		return nil
	}
	s.calls, s.now = make([]uint64, len(s.nodes)), make([]uint64, len(s.Counters))
	if t := stream.Trace; t != nil && t.Counters > 0 {
		s.Each = t.Untimed == 0
		s.known = make([]known, len(s.nodes)*len(s.Counters))
	}
	return s
}

// Enter returns what each counter has counted in the thread when its next call, of a node, begins. values are those of the call,
// nil if it has none of its own. The result is valid until the next Enter or Leave.
func (s *Shares) Enter(node int, values []efg.CounterValue) []uint64 {
	for i, k := range s.numbers {
		if values == nil {
			c := s.counter(node, k)
			s.now[i] += s.share(node, i, c, c.Before.Sum, s.knownOf(node, i).before)
		} else if k < len(values) && values[k].Counted {
			s.now[i] += values[k].Before
		}
	}
	return s.now
}

// Leave is Enter for the end of that call.
func (s *Shares) Leave(node int, values []efg.CounterValue) []uint64 {
	for i, k := range s.numbers {
		if values == nil {
			c := s.counter(node, k)
			s.now[i] += s.share(node, i, c, c.Call.Sum, s.knownOf(node, i).call)
		} else if k < len(values) && values[k].Counted {
			s.now[i] += values[k].Call
			s.learn(node, i, &values[k])
		}
	}
	if values == nil {
		s.calls[node]++
	}
	return s.now
}

// counter is what counter k of the process counted at a node.
func (s *Shares) counter(node, k int) *efg.NodeCounter {
	if list := s.nodes[node].Counters; k < len(list) {
		return &list[k]
	}
	return &efg.NodeCounter{}
}

func (s *Shares) knownOf(node, i int) known {
	if s.known == nil {
		return known{}
	}
	return s.known[node*len(s.Counters)+i]
}

func (s *Shares) learn(node, i int, v *efg.CounterValue) {
	if s.known != nil {
		k := &s.known[node*len(s.Counters)+i]
		k.count, k.before, k.call = k.count+1, k.before+v.Before, k.call+v.Call
	}
}

// share is what the next call without its own value has of a sum, of which other calls had a part.
func (s *Shares) share(node, i int, c *efg.NodeCounter, sum, had uint64) uint64 {
	n := s.knownOf(node, i).count
	if n >= c.Count || had > sum {
		return 0
	}
	return part(sum-had, c.Count-n, s.calls[node])
}

// part is the k-th of n nearly equal parts of a sum; calls beyond those that were counted have none.
func part(sum, n, k uint64) uint64 {
	if k >= n {
		return 0
	}
	upTo := func(k uint64) uint64 { // sum*k/n, of which k is at most n
		high, low := bits.Mul64(sum, k)
		quotient, _ := bits.Div64(high, low, n)
		return quotient
	}
	if k+1 == n {
		return sum - upTo(k)
	}
	return upTo(k+1) - upTo(k)
}
