package phases

import (
	"cmp"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// cuts say which events of a stream end phases.
type cuts struct {
	p     *analysis.Process
	nodes []cutState
	world map[uint64]bool // whether a communicator has all processes
}

type cutState uint8

const (
	noCut    cutState = iota
	cut               // all events of the node end phases
	byObject          // events on some communicators end phases
)

// cutsOf also returns the maximum number of such events.
func cutsOf(p *analysis.Process, i int) (c *cuts, events uint64) {
	s := &p.Data.Streams[i]
	c = &cuts{p, make([]cutState, len(s.Nodes)), map[uint64]bool{}}
	for k := range s.Nodes {
		n := &s.Nodes[k]
		h := signature.Header(n.Words[0])
		proc := signature.ProcByID(h.Proc())
		switch {
		case proc == nil || !proc.Synchronises() || h.ErrorClass() != 0 || h.Depth() > 0 || len(proc.Words) != len(n.Words):
			continue
		case n.Mask&objectMask != 0:
			c.nodes[k] = byObject
		case c.all(n.Words[signature.ObjectWord]):
			c.nodes[k] = cut
		default:
			continue
		}
		events += p.Visits(i)[k]
	}
	return c, events
}

// objectMask is the word of the communicator.
const objectMask = 1 << signature.ObjectWord

// all reports whether a communicator has all processes of the world.
func (c *cuts) all(comm uint64) bool {
	all, ok := c.world[comm]
	if !ok {
		own, other := c.p.Members(comm)
		all = own != nil && other == nil && own.Size() == c.p.Data.Size && c.p.Data.Size > 0
		c.world[comm] = all
	}
	return all
}

// end reports whether an event ends a phase; words is called if they decide.
func (c *cuts) end(node int, words func() []uint64) bool {
	return c.nodes[node] == cut || c.nodes[node] == byObject && c.all(words()[2])
}

// masks returns the words that decide where phases end.
func (c *cuts) masks() []uint64 {
	list := make([]uint64, len(c.nodes))
	for k := range list {
		if c.nodes[k] == byObject {
			list[k] = objectMask
		}
	}
	return list
}

// boundary is a place where phases begin or end. The zero value is the beginning or the
// end of the recording.
type boundary struct {
	op   string
	site uint64
}

// boundary is the place of a node that ends phases.
func (c *cuts) boundary(n *efg.Node) boundary {
	p := signature.ProcByID(signature.Header(n.Words[0]).Proc())
	return boundary{p.Name, c.p.Callsite(n.Words[1])}
}

// kind is what the phases of one row have in common.
type kind struct{ from, until boundary }

// part is what a process does in the phases of a kind.
type part struct {
	times  uint64
	order  int          // the position of the kind among those of the process
	nodes  []nodeVisits // the visited nodes, ascending once all are known
	at     map[int]int  // position of a node in nodes, until then
	volume analysis.Volume
	byStep []bool // nodes whose volume is in volume already
}

// nodeVisits counts the visits of a node; ends of them end phases.
type nodeVisits struct {
	node      int
	all, ends uint64
}

// visits returns the visits of a node, for adding to them.
func (x *split) visits(p *part, node int) *nodeVisits {
	i, ok := p.at[node]
	if !ok {
		i = len(p.nodes)
		p.at[node], p.nodes = i, append(p.nodes, nodeVisits{node: node})
		x.within[node]++
	}
	return &p.nodes[i]
}

// finish sorts the nodes of all kinds.
func (x *split) finish() {
	for _, p := range x.kinds {
		p.at = nil
		slices.SortFunc(p.nodes, func(a, b nodeVisits) int { return cmp.Compare(a.node, b.node) })
	}
}

// counted reports whether what a node moves was summed event by event.
func (p *part) counted(k int) bool { return p.byStep != nil && p.byStep[k] }

// split iterates over a folded stream and divides the visits of its nodes among the kinds of
// phases.
type split struct {
	nodes  []efg.Node
	cuts   *cuts
	fold   *efg.FoldedWalk
	volume func(s *efg.Step) *analysis.Volume // of events whose volume varies; nil if not requested
	byStep []bool                             // nodes with such events
	kinds  map[kind]*part
	within []int // the number of kinds of phases that each node is in
	hasCut map[*efg.Step]bool

	from  boundary
	open  []uint64 // visits since the last cut
	dirty []int    // nodes with such visits
	moved analysis.Volume
}

func newSplit(s *efg.Stream, cuts *cuts, f *efg.FoldedWalk) *split {
	n := len(s.Nodes)
	return &split{nodes: s.Nodes, cuts: cuts, fold: f, kinds: map[kind]*part{}, within: make([]int, n), hasCut: map[*efg.Step]bool{}, open: make([]uint64, n)}
}

// ends reports whether an event ends a phase.
func (x *split) ends(s *efg.Step) bool {
	return x.cuts.end(s.Node, func() []uint64 { return x.fold.Words(s) })
}

// contains reports whether phases end in a repeat.
func (x *split) contains(s *efg.Step) bool {
	has, ok := x.hasCut[s]
	if ok {
		return has
	}
	for i := range s.Body {
		b := &s.Body[i]
		if b.Times == 0 && x.ends(b) || b.Times > 0 && x.contains(b) {
			has = true
			break
		}
	}
	x.hasCut[s] = has
	return has
}

// run iterates over steps that occur m times. After the first turn of a repeat in which phases
// end, every turn begins like the second one, which stands for the rest.
func (x *split) run(steps []efg.Step, m uint64) {
	for i := range steps {
		s := &steps[i]
		switch {
		case s.Times == 0:
			x.add(s, 1)
			if x.ends(s) {
				x.close(s.Node, m)
			}
		case x.contains(s):
			x.run(s.Body, m)
			x.run(s.Body, m*(s.Times-1))
		default:
			x.bulk(s.Body, s.Times)
		}
	}
}

// bulk iterates over steps within a phase that occur n times.
func (x *split) bulk(steps []efg.Step, n uint64) {
	for i := range steps {
		if s := &steps[i]; s.Times == 0 {
			x.add(s, n)
		} else {
			x.bulk(s.Body, n*s.Times)
		}
	}
}

func (x *split) add(s *efg.Step, n uint64) {
	if x.open[s.Node] == 0 {
		x.dirty = append(x.dirty, s.Node)
	}
	x.open[s.Node] += n
	if x.volume != nil {
		if v := x.volume(s); v != nil {
			x.moved.Add(v, n)
		}
	}
}

// close ends m phases with an event of a node or, if node is -1, with the end of the recording.
func (x *split) close(node int, m uint64) {
	until := boundary{}
	if node >= 0 {
		until = x.cuts.boundary(&x.nodes[node])
	}
	k := kind{x.from, until}
	p := x.kinds[k]
	if p == nil {
		p = &part{order: len(x.kinds), at: map[int]int{}, byStep: x.byStep}
		x.kinds[k] = p
	}
	p.times += m
	if node >= 0 {
		x.visits(p, node).ends += m
	}
	for _, n := range x.dirty {
		x.visits(p, n).all += m * x.open[n]
		x.open[n] = 0
	}
	p.volume.Add(&x.moved, m)
	x.dirty, x.moved, x.from = x.dirty[:0], analysis.Volume{}, until
}
