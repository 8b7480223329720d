package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Kind says what differs in the structure.
type Kind string

const (
	NodeOnly   Kind = "node"      // a signature that one side does not have
	EdgeOnly   Kind = "edge"      // a step that one side does not take
	BranchRuns Kind = "runs"      // branch runs with other lengths, or in another order
	Arguments  Kind = "arguments" // matched nodes whose arguments or results differ
)

// Item is a difference in structure at a node.
type Item struct {
	Kind     Kind
	Thread   uint32
	Node     [2]int // -1: none
	Op, Site string
	// To and ToSite are the call that an edge leads to.
	To, ToSite string
	// Calls are the events at the node, or the steps along the edge. Bytes and Time (ns)
	// are those of the node; of branch runs and edges, which have none, they are 0.
	Calls, Bytes, Time [2]uint64
	// At is the number of the first branch run that differs, from 1; for arguments the number
	// of the visit, from 0.
	At uint64
	// Text shows the arguments of the node, or what differs, on each side.
	Text [2]string
}

// structure finds what differs in structure, and how far the streams are in step in their
// calls, and in all words.
func (p *pairBuilder) structure(m *matching) (calls, all *limits) {
	calls, all = m.newLimits(), m.newLimits()
	if !p.brief {
		p.alone(m)
	}
	for i, k := range m.to {
		if k == none || m.a.nodes[i].header().Counted() {
			continue
		}
		d := m.departures(i)
		calls.departures[i], all.departures[i] = d.departure, d.departure
		visit, words := m.otherArguments(i)
		all.visits[i] = visit
		if p.brief {
			continue
		}
		if d.departure != never && (len(m.a.Nodes[i].Edges) > 1 || len(m.b.Nodes[k].Edges) > 1) {
			p.branches(m, i, &d) // with one edge only the weight can differ
		}
		p.edges(m, i)
		if visit != never {
			p.arguments(m, i, visit, words)
		}
	}
	return calls, all
}

// item begins an item at node i of a or k of b, either of which may be none.
func (p *pairBuilder) item(kind Kind, m *matching, i, k int) Item {
	s, at := m.a, i
	if i == none {
		s, at = m.b, k
	}
	n := &s.nodes[at]
	it := Item{Kind: kind, Thread: s.Thread, Node: [2]int{i, k}, Op: n.call.op, Site: s.process.sites.text(n.call.site)}
	for side, at := range it.Node {
		if at == none {
			continue
		}
		var t Totals
		t.addNode([2]*stream{m.a, m.b}[side].nodes[at].facts)
		it.Calls[side] = t.Calls
		if kind == NodeOnly || kind == Arguments {
			it.Bytes[side], it.Time[side] = t.Bytes, t.Time.Sum
		}
	}
	return it
}

// weighItems orders items: by time, then bytes, then calls.
func weighItems(x, y Item) int {
	apart := func(v [2]uint64) uint64 { return max(v[0], v[1]) - min(v[0], v[1]) }
	return cmp.Or(cmp.Compare(apart(y.Time), apart(x.Time)), cmp.Compare(apart(y.Bytes), apart(x.Bytes)),
		cmp.Compare(max(y.Calls[0], y.Calls[1]), max(x.Calls[0], x.Calls[1])), cmp.Compare(x.Kind, y.Kind))
}

func (p *pairBuilder) add(it Item, at call, from *process) {
	p.pair.Items = append(p.pair.Items, it)
	p.change(at, from).Structure++
}

// alone adds the nodes that have no partner.
func (p *pairBuilder) alone(m *matching) {
	for i, k := range m.to {
		if k == none {
			it := p.item(NodeOnly, m, i, none)
			it.Text[0] = strings.Join(p.describe(0, m.a, i), ", ")
			p.add(it, m.a.nodes[i].call, m.a.process)
		}
	}
	for k, i := range m.from {
		if i == none {
			it := p.item(NodeOnly, m, none, k)
			it.Text[1] = strings.Join(p.describe(1, m.b, k), ", ")
			p.add(it, m.b.nodes[k].call, m.b.process)
		}
	}
}

// missing adds the nodes of a thread that one side does not have.
func (p *pairBuilder) missing(s [2]*stream) {
	for k, t := range s {
		if t == nil {
			continue
		}
		m := &matching{a: t, b: t}
		for i := range t.nodes {
			at := [2]int{none, none}
			at[k] = i
			it := p.item(NodeOnly, m, at[0], at[1])
			it.Text[k] = strings.Join(p.describe(k, t, i), ", ")
			p.add(it, t.nodes[i].call, t.process)
		}
	}
}

// describe returns the arguments of a node.
func (p *pairBuilder) describe(k int, s *stream, i int) []string {
	return p.text[k].Describe(s.index(), i).Args
}

// edges adds the steps from two matched nodes that only one of them takes.
func (p *pairBuilder) edges(m *matching, i int) {
	k := m.to[i]
	var taken [2]map[int]bool
	taken[0], taken[1] = map[int]bool{}, map[int]bool{}
	for _, e := range m.a.Nodes[i].Edges {
		if to := m.to[e.To]; to != none {
			taken[0][to] = true
		}
	}
	for _, e := range m.b.Nodes[k].Edges {
		taken[1][int(e.To)] = true
		if !taken[0][int(e.To)] {
			p.edge(m, i, 1, int(e.To), e.Weight)
		}
	}
	for _, e := range m.a.Nodes[i].Edges {
		if to := m.to[e.To]; to == none || !taken[1][to] {
			p.edge(m, i, 0, int(e.To), e.Weight)
		}
	}
}

// edge adds a step from node i of a, or its partner, to a node of a side.
func (p *pairBuilder) edge(m *matching, i, side, to int, weight uint64) {
	it := p.item(EdgeOnly, m, i, m.to[i])
	s := [2]*stream{m.a, m.b}[side]
	c := s.nodes[to].call
	it.To, it.ToSite = c.op, s.process.sites.text(c.site)
	it.Calls = [2]uint64{}
	it.Calls[side] = weight
	p.add(it, m.a.nodes[i].call, m.a.process)
}

// branches adds branch runs that diverge.
func (p *pairBuilder) branches(m *matching, i int, d *divergence) {
	it := p.item(BranchRuns, m, i, m.to[i])
	it.At = d.run
	for k, r := range []branch{d.x, d.y} {
		if r.length == 0 {
			it.Text[k] = "none"
			continue
		}
		s := [2]*stream{m.a, m.b}[k]
		c := s.nodes[r.to].call
		it.Text[k] = strings.TrimSpace(fmt.Sprintf("%d × %s %s", r.length, c.op, s.process.sites.text(c.site)))
	}
	p.add(it, m.a.nodes[i].call, m.a.process)
}

// arguments adds the arguments in which matched nodes differ.
func (p *pairBuilder) arguments(m *matching, i int, visit uint64, words []int) {
	it := p.item(Arguments, m, i, m.to[i])
	it.At = visit
	for k, s := range []*stream{m.a, m.b} {
		n := it.Node[k]
		it.Text[k] = p.differing(s, k, n, words)
	}
	p.add(it, m.a.nodes[i].call, m.a.process)
}

// differing returns the arguments of a node that contain some words.
func (p *pairBuilder) differing(s *stream, side, i int, words []int) string {
	proc := s.nodes[i].proc
	var out []string
	list := p.describe(side, s, i)
	for _, w := range words {
		if proc == nil || w == 0 {
			out = append(out, s.nodes[i].headerText())
			continue
		}
		name, _, _ := strings.Cut(proc.Words[w].Name, ".")
		at := slices.IndexFunc(list, func(a string) bool {
			return strings.HasPrefix(strings.TrimPrefix(a, "-> "), name+"=") || name == "status" && strings.HasPrefix(a, "-> source=")
		})
		text := name
		if at >= 0 {
			text = list[at]
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

var languages = map[signature.Language]string{signature.C: "C", signature.Fortran: "Fortran", signature.F08: "mpi_f08"}

// headerText describes the header of a node, except for the procedure.
func (n *node) headerText() string {
	h := n.header()
	text := languages[h.Lang()]
	if h.Large() {
		text += ", large count"
	}
	if h.ByPMPI() {
		text += ", by its PMPI_ name"
	}
	if h.ErrorClass() != 0 {
		text += ", " + reconstruct.ErrorName(h.ErrorClass())
	}
	return text
}
