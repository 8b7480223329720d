package diff

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// limits say how far two streams are in step, by node of a: the events at the node before a
// visit, and the steps from it before a departure.
type limits struct{ visits, departures []uint64 }

func (m *matching) newLimits() *limits {
	l := &limits{make([]uint64, len(m.to)), make([]uint64, len(m.to))}
	for i := range m.to {
		l.visits[i], l.departures[i] = never, never
	}
	return l
}

// inStep is the number of events at the start of both streams that the limits allow. Up to
// there, an event at node i of a is at its partner in b.
func (m *matching) inStep(l *limits) (uint64, error) {
	a, b := m.a.Start(), m.b.Start()
	if a < 0 || b < 0 || m.to[a] != b {
		return 0, nil
	}
	if !l.any() {
		return m.a.Events, nil
	}
	w, visits, err := m.a.before(l)
	if err != nil {
		return 0, err
	}
	for w.Next() {
		i := w.Node()
		visits[i]++
		switch {
		case visits[i] > l.visits[i]:
			return w.Seq(), nil
		case visits[i] > l.departures[i]:
			return w.Seq() + 1, nil
		}
	}
	return m.a.Events, w.Err()
}

func (l *limits) any() bool {
	for i := range l.visits {
		if min(l.visits[i], l.departures[i]) != never {
			return true
		}
	}
	return false
}

// before begins a walk at the last checkpoint that lies before all limits. It also returns the
// number of events at each node before it.
func (s *stream) before(l *limits) (*efg.Walker, []uint64, error) {
	visits := make([]uint64, len(s.nodes))
	if s.Checkpoints == nil || len(s.Checkpoints.Nodes) != len(s.nodes) {
		return s.Walk(s.process.Data.Defs), visits, nil
	}
	its := make([]seq.Iter, len(s.nodes))
	for i := range its {
		its[i] = s.Checkpoints.Nodes[i].Visits.Iter()
	}
	events, from := s.Checkpoints.Events.Iter(), uint64(0)
	now := make([]uint64, len(s.nodes))
marks:
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		for i := range its {
			if now[i], ok = its[i].Next(); !ok || now[i] > min(l.visits[i], l.departures[i]) {
				break marks
			}
		}
		from = e
		visits, now = now, visits
	}
	w := s.WalkFrom(s.process.Data.Defs, from)
	return w, visits, w.Err()
}

// part finds the first event that differs in b: in arguments or results or, if calls is set, in
// the call. It is never if there is none.
func (m *matching) part(l *limits, calls bool) (uint64, error) {
	from, err := m.inStep(l)
	if err != nil {
		return 0, err
	}
	if from >= m.a.Events && m.a.Events == m.b.Events {
		return never, nil
	}
	p := &pairWalk{m: m, calls: calls, known: map[[2]int]bool{}}
	return p.from(from)
}

// pairWalk iterates over two streams event by event.
type pairWalk struct {
	m     *matching
	calls bool
	known map[[2]int]bool // whether events at two nodes are equal, for nodes without attributes
}

// from finds the first event at or after first that differs.
func (p *pairWalk) from(first uint64) (uint64, error) {
	a, b := p.m.a.walkTo(first), p.m.b.walkTo(first)
	for at := first; ; at++ {
		more, also := a.Next(), b.Next()
		if err := errorOf(a, b); err != nil {
			return 0, err
		}
		switch {
		case !more && !also:
			return never, nil
		case more != also || !p.equal(a, b):
			return at, errorOf(a, b)
		}
	}
}

func errorOf(a, b *efg.Walker) error {
	if a.Err() != nil {
		return a.Err()
	}
	return b.Err()
}

// walkTo returns a walk whose Next goes to event n.
func (s *stream) walkTo(n uint64) *efg.Walker {
	w := s.WalkFrom(s.process.Data.Defs, n)
	for done := w.Seq() + 1; done < n && w.Next(); {
		done = w.Seq() + 1
	}
	return w
}

func (p *pairWalk) equal(a, b *efg.Walker) bool {
	x, y := &p.m.a.nodes[a.Node()], &p.m.b.nodes[b.Node()]
	if p.calls {
		return x.call == y.call
	}
	at := [2]int{a.Node(), b.Node()}
	if is, ok := p.known[at]; ok {
		return is
	}
	is := x.call == y.call && x.Words[0] == y.Words[0]
	if is {
		wa, wb := a.Words(), b.Words()
		is = len(wa) == len(wb)
		for i := 2; is && i < len(wa); i++ {
			is = p.m.a.process.event(x, a, i, wa[i]).equal(p.m.b.process.event(y, b, i, wb[i]))
		}
	}
	if x.Mask|y.Mask == 0 {
		p.known[at] = is
	}
	return is
}

// event is the form of a word of the current event of a walk.
func (p *process) event(n *node, w *efg.Walker, i int, word uint64) form {
	var vec []uint64
	if n.isVec(i) && !signature.IsConst(word) {
		if vec = p.vecs[word]; n.Mask>>i&1 != 0 {
			vec = append([]uint64{}, w.Vec(i)...)
		}
	}
	return n.word(p, i, word, vec)
}
