package efg

import (
	"math"

	"github.com/efg-tools/efg/efg/seq"
)

// nodeState is the state of a node's sequences.
type nodeState struct {
	left   uint64
	to     int
	branch *branchState // nil if the node has only one edge
	attrs  []attrState
}

type branchState struct {
	runs, counts seq.State
	edges        []edgeState
}

type edgeState struct{ begun, fixed uint64 }

type attrState struct{ values, elems seq.State }

func stateOf(n *walkNode) nodeState {
	s := nodeState{left: n.left, to: n.to}
	if !n.single {
		s.branch = &branchState{seq.StateOf(&n.runs), seq.StateOf(&n.counts), make([]edgeState, len(n.edges))}
		for i := range n.edges {
			s.branch.edges[i] = edgeState{n.edges[i].begun, n.edges[i].fixed}
		}
	}
	if len(n.attrs) > 0 {
		s.attrs = make([]attrState, len(n.attrs))
		for i := range n.attrs {
			s.attrs[i] = attrState{seq.StateOf(&n.attrs[i].values), seq.StateOf(&n.attrs[i].elems)}
		}
	}
	return s
}

// size is the approximate number of words of memory of the state.
func (s *nodeState) size() int {
	n := 8
	if b := s.branch; b != nil {
		n += 2*len(b.edges) + b.runs.Size() + b.counts.Size()
	}
	for i := range s.attrs {
		n += s.attrs[i].values.Size() + s.attrs[i].elems.Size()
	}
	return n
}

func (m *nodeState) again(n *walkNode) uint64 {
	times := m.stepsAgain(n)
	for i := range n.attrs {
		if times == 0 {
			return 0
		}
		times = min(times, m.attrs[i].values.Again(&n.attrs[i].values), m.attrs[i].elems.Again(&n.attrs[i].elems))
	}
	return times
}

// stepsAgain is the number of times that the steps from a node since then recur.
func (m *nodeState) stepsAgain(n *walkNode) uint64 {
	b := m.branch
	if b == nil || b.runs.Used(&n.runs) == 0 {
		if m.left < n.left || m.left > n.left && m.to != n.to {
			return 0
		}
		if used := m.left - n.left; used > 0 {
			return n.left / used
		}
		return math.MaxUint64
	}
	if m.left != n.left || m.to != n.to {
		return 0
	}
	times := min(b.runs.Again(&n.runs), b.counts.Again(&n.counts))
	for i := range n.edges {
		begun, fixed := n.edges[i].begun-b.edges[i].begun, b.edges[i].fixed-n.edges[i].fixed
		switch {
		case fixed == 0:
		case fixed != begun:
			return 0
		default:
			times = min(times, n.edges[i].fixed/fixed)
		}
	}
	return times
}

// skip skips k times what a node has used since then.
func (m *nodeState) skip(n *walkNode, k uint64) {
	if b := m.branch; b == nil || b.runs.Used(&n.runs) == 0 {
		n.left -= k * (m.left - n.left)
	} else {
		n.runs.Skip(k * b.runs.Used(&n.runs))
		n.counts.Skip(k * b.counts.Used(&n.counts))
		for i := range n.edges {
			e := &n.edges[i]
			fixed := b.edges[i].fixed - e.fixed
			e.begun += k * (e.begun - b.edges[i].begun)
			e.fixed -= k * fixed
		}
	}
	for i := range n.attrs {
		a := &n.attrs[i]
		a.values.Skip(k * m.attrs[i].values.Used(&a.values))
		a.elems.Skip(k * m.attrs[i].elems.Used(&a.elems))
	}
}
