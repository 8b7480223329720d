package efg

import "math"

// nodeState is how a node stood.
type nodeState struct {
	left   uint64
	to     int
	branch *branchState // nil if only one edge leads away
	attrs  []attrState
}

type branchState struct {
	runs, counts seqState
	edges        []edgeState
}

type edgeState struct{ begun, fixed uint64 }

type attrState struct{ values, elems seqState }

func stateOf(n *walkNode) nodeState {
	s := nodeState{left: n.left, to: n.to}
	if !n.single {
		s.branch = &branchState{seqStateOf(&n.runs), seqStateOf(&n.counts), make([]edgeState, len(n.edges))}
		for i := range n.edges {
			s.branch.edges[i] = edgeState{n.edges[i].begun, n.edges[i].fixed}
		}
	}
	if len(n.attrs) > 0 {
		s.attrs = make([]attrState, len(n.attrs))
		for i := range n.attrs {
			s.attrs[i] = attrState{seqStateOf(&n.attrs[i].values), seqStateOf(&n.attrs[i].elems)}
		}
	}
	return s
}

// size is about how many words of memory the state takes.
func (s *nodeState) size() int {
	n := 8
	if b := s.branch; b != nil {
		n += 2*len(b.edges) + b.runs.size() + b.counts.size()
	}
	for i := range s.attrs {
		n += s.attrs[i].values.size() + s.attrs[i].elems.size()
	}
	return n
}

func (m *nodeState) again(n *walkNode) uint64 {
	times := m.stepsAgain(n)
	for i := range n.attrs {
		if times == 0 {
			return 0
		}
		times = min(times, m.attrs[i].values.again(&n.attrs[i].values), m.attrs[i].elems.again(&n.attrs[i].elems))
	}
	return times
}

// stepsAgain is how often the steps from a node since then come again.
func (m *nodeState) stepsAgain(n *walkNode) uint64 {
	b := m.branch
	if b == nil || b.runs.left == n.runs.Left() {
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
	times := min(b.runs.again(&n.runs), b.counts.again(&n.counts))
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

// skip passes k times what a node has used since then.
func (m *nodeState) skip(n *walkNode, k uint64) {
	if b := m.branch; b == nil || b.runs.left == n.runs.Left() {
		n.left -= k * (m.left - n.left)
	} else {
		n.runs.skip(k * b.runs.used(&n.runs))
		n.counts.skip(k * b.counts.used(&n.counts))
		for i := range n.edges {
			e := &n.edges[i]
			fixed := b.edges[i].fixed - e.fixed
			e.begun += k * (e.begun - b.edges[i].begun)
			e.fixed -= k * fixed
		}
	}
	for i := range n.attrs {
		a := &n.attrs[i]
		a.values.skip(k * m.attrs[i].values.used(&a.values))
		a.elems.skip(k * m.attrs[i].elems.used(&a.elems))
	}
}

// seqState is how the iteration of a sequence stood.
type seqState struct {
	left, after uint64
	prev        uint64
	code        int
	rem0, d0    uint64
	rem, d      [SeqLevels]uint64
	rings       *ringState // nil: not kept
}

// foldRing bounds the rings that states keep copies of: without, only repeats of
// values are found, not those of repeats.
const foldRing = 1 << 10

func seqStateOf(it *SeqIter) seqState {
	s := seqState{left: it.Left(), after: it.after, prev: it.prev, code: len(it.code), rem0: it.rem0, d0: it.d0}
	deep := false
	for l := 1; l < SeqLevels; l++ {
		s.rem[l], s.d[l] = it.upper[l].rem, it.upper[l].d
		deep = deep || it.upper[l].rem > 0
	}
	if deep && len(it.ring0) <= foldRing {
		rings := it.rings(SeqLevels - 1)
		s.rings = &rings
	}
	return s
}

func (m *seqState) size() int {
	n := 14
	if m.rings != nil {
		n += len(m.rings.values) + 16
		for _, s := range m.rings.symbols {
			n += 2 * len(s)
		}
	}
	return n
}

// used is how many values have come since then.
func (m *seqState) used(it *SeqIter) uint64 { return m.left - it.Left() }

// again is how often the values since then come again, at least.
func (m *seqState) again(it *SeqIter) uint64 {
	if m.used(it) == 0 {
		return math.MaxUint64
	}
	if m.after != it.after || m.code != len(it.code) || it.delta && m.prev != it.prev {
		return 0
	}
	level := SeqLevels - 1
	for level > 0 && m.rem[level] == it.upper[level].rem {
		level--
	}
	if level == 0 {
		return repeats(m.rem0, it.rem0, m.d0, it.d0)
	}
	u := &it.upper[level]
	if m.rem0 != it.rem0 || it.rem0 > 0 && m.d0 != it.d0 || m.rings == nil {
		return 0
	}
	for l := 1; l < level; l++ {
		if v := &it.upper[l]; m.rem[l] != v.rem || v.rem > 0 && m.d[l] != v.d {
			return 0
		}
	}
	times := repeats(m.rem[level], u.rem, m.d[level], u.d)
	if times == 0 || !it.sameRings(*m.rings, level-1) {
		return 0
	}
	return times
}

// repeats is how often what a repeat has given comes again, if it is still the
// same repeat, and has gone on by whole periods.
func repeats(before, now, d, dNow uint64) uint64 {
	if before <= now || d != dNow || d == 0 || (before-now)%d != 0 {
		return 0
	}
	return now / (before - now)
}
