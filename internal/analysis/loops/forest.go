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
	// Header is the node with which an iteration begins. If there are several,
	// of one procedure and callsite, they are all in Headers, ascending, and Header
	// is the one with most events.
	Header  int
	Headers []int
	// Entrances are the nodes that steps from outside lead to. If there are more of them than
	// Headers the loop is Irreducible. So is an outermost loop if more than three, and more
	// than half, of its inner loops would be: these are then left out.
	Entrances   []int
	Irreducible bool
	// Nodes are all nodes of the loop, those of loops in it included, ascending.
	Nodes []int
	// Entries is how often the loop was entered, Iterations how often it was iterated in all.
	// Least and Most are the iterations of an entry.
	Entries, Iterations, Least, Most uint64
}

// Forest holds the loops of a stream.
type Forest struct {
	// Loops in preorder: each before its inner loops, siblings by their first node.
	Loops []Loop
	// Inner is the number of the innermost loop of each node, -1 if it is in none.
	Inner []int
}

// Find finds the loops of a stream and counts their iterations. A graph that no recording can
// have is an error that wraps efg.ErrGraph or efg.ErrSeq.
func Find(s *efg.Stream) (*Forest, error) { return find(s, naming{}) }

func find(s *efg.Stream, by naming) (*Forest, error) {
	f, err := bestFinder(s, by)
	if err != nil {
		return nil, err
	}
	for {
		counts, err := f.count()
		if err != nil {
			return nil, err
		}
		if f.settled() {
			return f.forest(counts), nil
		}
		f.decide(counts)
	}
}

// forest makes loops from the families.
func (f *finder) forest(counts []counter) *Forest {
	n := len(f.at)
	b := forestBuilder{f: f, children: map[int][]int{}, inner: make([]int, n), members: make([][]int, len(f.to)), mark: make([]int, n), own: f.graph}
	if len(f.to) < n {
		b.own = newGraph(f.stream, identity(n), n)
	}
	for v, at := range f.at {
		b.members[at] = append(b.members[at], v)
	}
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
	inner    []int   // innermost loop, by node
	members  [][]int // nodes of the stream, by node of the graph
	own      *graph  // the stream's own graph
	mark     []int   // by node: 1 more than the last loop examined
}

// add adds the loops of a family.
func (b *forestBuilder) add(a *family, c *counter) {
	parent := b.inner[b.members[a.nodes[0]][0]]
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
		l := Loop{
			Headers: b.members[a.header], Irreducible: a.irreducible() || a.merged, Nodes: b.all(a.body(level)),
			Entries: s.entries, Iterations: s.total, Least: s.least, Most: s.most,
		}
		b.complete(&l)
		b.loops = append(b.loops, l)
		b.children[parent] = append(b.children[parent], number)
		parent = number
		for _, v := range b.loops[number].Nodes {
			b.inner[v] = number
		}
	}
}

// all lists the nodes of the stream that some nodes of the graph stand for.
func (b *forestBuilder) all(nodes []int) []int {
	var list []int
	for _, v := range nodes {
		list = append(list, b.members[v]...)
	}
	slices.Sort(list)
	return list
}

// complete finds the header and the entrances of a loop.
func (b *forestBuilder) complete(l *Loop) {
	l.Header = l.Headers[0]
	for _, v := range l.Headers {
		if b.own.visits[v] > b.own.visits[l.Header] {
			l.Header = v
		}
	}
	for _, v := range l.Nodes {
		b.mark[v] = len(b.loops) + 1
	}
	outside := func(u int) bool { return b.mark[u] != len(b.loops)+1 }
	for _, v := range l.Nodes {
		if v == b.own.start || slices.ContainsFunc(b.own.from[v], outside) {
			l.Entrances = append(l.Entrances, v)
		}
	}
}

// inOrder renumbers the loops in preorder.
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
