package counted

import (
	"math/bits"
	"slices"

	"github.com/efg-tools/efg/efg"
)

// Shares spreads over the calls of a thread what their nodes counted, for formats that show it over time: each
// call, and what is before it, has the mean of its node, and all calls of a node together what it counted.
type Shares struct {
	// Counters are those of the process that were read.
	Counters []efg.Counter
	numbers  []int
	nodes    []efg.Node
	calls    []uint64 // by node, so far
	now      []uint64
}

// NewShares returns the shares of Streams[i] of a process; nil if nothing was counted.
func NewShares(p *efg.Process, i int) *Shares {
	s := &Shares{nodes: p.Streams[i].Nodes}
	for k, c := range p.Counters {
		if c.Read() {
			s.Counters, s.numbers = append(s.Counters, c), append(s.numbers, k)
		}
	}
	if s.Counters == nil || !slices.ContainsFunc(s.nodes, func(n efg.Node) bool { return n.Counters != nil }) {
		return nil
	}
	s.calls, s.now = make([]uint64, len(s.nodes)), make([]uint64, len(s.Counters))
	return s
}

// Enter returns what each counter has counted in the thread when its next call, of a node, begins. It is valid until
// the next Enter or Leave.
func (s *Shares) Enter(node int) []uint64 {
	return s.advance(node, func(c *efg.NodeCounter) uint64 { return c.Before.Sum })
}

// Leave is Enter for the end of that call.
func (s *Shares) Leave(node int) []uint64 {
	s.advance(node, func(c *efg.NodeCounter) uint64 { return c.Call.Sum })
	s.calls[node]++
	return s.now
}

func (s *Shares) advance(node int, sum func(c *efg.NodeCounter) uint64) []uint64 {
	list := s.nodes[node].Counters
	for i, k := range s.numbers {
		if k < len(list) {
			s.now[i] += part(sum(&list[k]), list[k].Count, s.calls[node])
		}
	}
	return s.now
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
