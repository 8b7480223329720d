package loops

import (
	"cmp"
	"slices"

	"github.com/efg-tools/efg/efg"
)

// Loop is a loop of a stream's graph.
type Loop struct {
	// Parent is the number of the loop around it, -1 if there is none. Depth is 1
	// for the outermost.
	Parent, Depth int
	// Header is the node with which an iteration begins.
	Header int
	// Entrances are the nodes that steps from outside lead to. More than one make
	// the loop Irreducible.
	Entrances   []int
	Irreducible bool
	// Nodes are all nodes of the loop, those of loops in it included, ascending.
	Nodes []int
	// Entries is how often the loop was entered, Iterations how often it was gone
	// through in all. Least and Most are the iterations of an entry.
	Entries, Iterations, Least, Most uint64
}

// Forest are the loops of a stream.
type Forest struct {
	// Loops in preorder: each in front of those in it, else by their first node.
	Loops []Loop
	// Inner is the number of the innermost loop of each node, -1 if it is in none.
	Inner []int
}

// Find finds the loops of a stream and counts their iterations. A graph that no
// walk can have made is an error that wraps efg.ErrGraph or efg.ErrSeq.
func Find(s *efg.Stream) (*Forest, error) {
	g, err := newGraph(s)
	if err != nil {
		return nil, err
	}
	f := newFinder(g)
	f.find()
	for {
		counts, err := f.count(s)
		if err != nil {
			return nil, err
		}
		if f.settled() {
			return f.forest(counts), nil
		}
		f.decide(counts)
	}
}

// forest makes loops of the families.
func (f *finder) forest(counts []counter) *Forest {
	b := forestBuilder{f: f, children: map[int][]int{}, inner: make([]int, len(f.nodes))}
	for v := range b.inner {
		b.inner[v] = -1
	}
	for i := range f.families {
		b.add(&f.families[i], &counts[i])
	}
	return b.inOrder()
}

// forestBuilder makes a forest.
type forestBuilder struct {
	f        *finder
	loops    []Loop // outer ones first
	children map[int][]int
	inner    []int // innermost loop of nodes
}

// add adds the loops of a family.
func (b *forestBuilder) add(a *family, c *counter) {
	parent := b.inner[a.nodes[0]]
	var levels []int // innermost first
	inner := map[int]int{}
	for level, below := a.levels-1, a.levels; level >= 0; level-- {
		if level == 0 || c.isLoop(level, below) {
			levels = append(levels, level)
			inner[level] = below
			below = level
		}
	}
	for _, level := range slices.Backward(levels) {
		s := c.at(level, inner[level])
		number := len(b.loops)
		b.loops = append(b.loops, Loop{
			Header: a.header, Entrances: a.entrances, Irreducible: a.irreducible(), Nodes: a.body(level),
			Entries: s.entries, Iterations: s.total, Least: s.least, Most: s.most,
		})
		b.children[parent] = append(b.children[parent], number)
		parent = number
		for _, v := range b.loops[number].Nodes {
			b.inner[v] = number
		}
	}
}

// inOrder numbers the loops anew.
func (b *forestBuilder) inOrder() *Forest {
	out := &Forest{Inner: b.inner}
	number := map[int]int{-1: -1}
	var add func(parent int)
	add = func(parent int) {
		list := b.children[parent]
		slices.SortFunc(list, func(x, y int) int { return cmp.Compare(b.loops[x].Nodes[0], b.loops[y].Nodes[0]) })
		for _, i := range list {
			l := b.loops[i]
			l.Parent, l.Depth = number[parent], 1
			if l.Parent >= 0 {
				l.Depth = out.Loops[l.Parent].Depth + 1
			}
			number[i] = len(out.Loops)
			out.Loops = append(out.Loops, l)
			add(i)
		}
	}
	add(-1)
	for v := range out.Inner {
		out.Inner[v] = number[out.Inner[v]]
	}
	return out
}
