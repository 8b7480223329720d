package diff

import (
	"math"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
)

// never is the number of a departure or visit that does not occur.
const never = math.MaxUint64

// branch is a branch run: consecutive steps from a node to the same next node.
type branch struct {
	to     int
	length uint64
}

// branches iterates over the branch runs of a node.
type branches struct {
	node   *efg.Node
	runs   seq.Iter
	counts seq.Iter
	begun  []uint64 // by edge
	only   bool     // a single edge that has not been taken yet
}

func newBranches(n *efg.Node) *branches {
	return &branches{node: n, runs: n.Runs.Iter(), counts: n.Counts.Iter(), begun: make([]uint64, len(n.Edges)), only: len(n.Edges) == 1}
}

// next returns the next branch run; false at the end. A broken sequence ends early.
func (b *branches) next() (branch, bool) {
	if b.only {
		b.only = false
		e := &b.node.Edges[0]
		return branch{int(e.To), e.Weight}, e.Weight > 0
	}
	k, ok := b.runs.Next()
	if !ok || k >= uint64(len(b.node.Edges)) {
		return branch{}, false
	}
	e := &b.node.Edges[k]
	r := branch{int(e.To), e.Count}
	if b.begun[k]++; b.begun[k] > e.Fixed {
		if r.length, ok = b.counts.Next(); !ok {
			return branch{}, false
		}
	}
	return r, true
}

// divergence is where the branch runs of two matched nodes diverge.
type divergence struct {
	departure uint64 // number of the first one that differs, from 0, or never
	run       uint64 // sequence number of its branch run, from 1
	x, y      branch // the runs; of length 0 if there is none
}

// departures finds the first departure from node i of a that differs from that of its
// partner in b.
func (m *matching) departures(i int) divergence {
	x, y := m.a.nodes[i].Node, m.b.nodes[m.to[i]].Node
	if x.Runs != nil && y.Runs != nil && x.Counts == nil && y.Counts == nil {
		return m.foldedDepartures(x, y)
	}
	p := divergence{}
	for bx, by := newBranches(x), newBranches(y); ; {
		var more, also bool
		p.x, more = bx.next()
		p.y, also = by.next()
		p.run++
		if !more && !also {
			return divergence{departure: never}
		}
		if m.differ(&p) {
			return p
		}
		p.departure += p.x.length
	}
}

// differ compares two branch runs and sets the number of the departure.
func (m *matching) differ(p *divergence) bool {
	switch {
	case p.x.length == 0 || p.y.length == 0 || m.to[p.x.to] != p.y.to:
		return true
	case p.x.length != p.y.length:
		p.departure += min(p.x.length, p.y.length)
		return true
	}
	return false
}

// foldedDepartures is departures for branch runs whose lengths follow from their edges: a
// repeat is iterated once.
func (m *matching) foldedDepartures(x, y *efg.Node) divergence {
	p := divergence{departure: 0}
	z := seq.JoinRuns(x.Runs, y.Runs)
	next, period, again := uint64(0), uint64(0), uint64(0) // position, steps of a period, its repetitions
	for v, times, ok := z.Next(); ok; v, times, ok = z.Next() {
		if z.Position() != next { // the skipped steps are like the period before
			p.departure += again * period
			period = 0
		}
		next, again = z.Position()+1, times-1
		if v[0] >= uint64(len(x.Edges)) || v[1] >= uint64(len(y.Edges)) {
			break
		}
		ex, ey := &x.Edges[v[0]], &y.Edges[v[1]]
		p.run, p.x, p.y = next, branch{int(ex.To), ex.Count}, branch{int(ey.To), ey.Count}
		if m.differ(&p) {
			return p
		}
		p.departure += p.x.length
		if times > 1 {
			period += p.x.length
		}
	}
	return m.ended(x, y)
}

// ended is the divergence of two nodes when the branch runs of one are the first ones of the
// other.
func (m *matching) ended(x, y *efg.Node) divergence {
	a, b := steps(x), steps(y)
	if a == b {
		return divergence{departure: never}
	}
	return divergence{departure: min(a, b), run: min(x.Runs.Len(), y.Runs.Len()) + 1}
}

// steps is the number of steps from a node.
func steps(n *efg.Node) (total uint64) {
	for i := range n.Edges {
		total += n.Edges[i].Weight
	}
	return total
}
