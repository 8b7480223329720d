package efg

import "github.com/efg-tools/efg/internal/scc"

// nestWork bounds the work of finding nested loops, in multiples of the graph's size, with a
// minimum: loops nested deeper than that are ignored.
const (
	nestWork      = 64
	nestWorkLeast = 1 << 24
)

// nest holds the loops of a stream's graph: a strongly connected component is a loop, the node
// where the walk enters it first is its head, and components that remain strongly connected
// without the head are loops within it. A walk that returns to an earlier node has therefore
// passed the head of the innermost loop that it stayed in.
type nest struct {
	headed []int // loop, by head node; -1 for other nodes
	inner  []int // innermost loop, by node; -1 if there is none
	// Loops are numbered so that those in loop k are k+1 … last[k].
	last []int
}

// nestOf finds the loops of a stream's graph.
func nestOf(s *Stream) *nest {
	n := len(s.Nodes)
	b := nestBuilder{region: make([]int, n), nest: nest{headed: fill(n, -1), inner: fill(n, -1)}}
	b.find(steps(s))
	return b.number()
}

func fill(n, v int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// steps lists the successors of each node.
func steps(s *Stream) [][]int {
	list := make([][]int, len(s.Nodes))
	for u := range s.Nodes {
		for _, e := range s.Nodes[u].Edges {
			if int(e.To) < len(list) {
				list[u] = append(list[u], int(e.To))
			}
		}
	}
	return list
}

// contains reports whether a node is in a loop.
func (n *nest) contains(loop, node int) bool {
	i := n.inner[node]
	return loop <= i && i <= n.last[loop]
}

// nestBuilder numbers loops as it finds them, outer ones first.
type nestBuilder struct {
	nest
	region []int // by node: steps between different regions are not followed
	parent []int // by loop; -1 if there is none
}

// find finds the loops, level by level.
func (b *nestBuilder) find(to [][]int) {
	all := make([]int, len(to))
	for v := range all {
		all[v] = v
	}
	regions, work := 0, 0
	most := max(nestWork*sizeOf(all, to), nestWorkLeast)
	finder := scc.New(to, func(from, to int) bool { return b.region[from] == b.region[to] && b.headed[to] < 0 })
	for queue := [][]int{all}; len(queue) > 0 && work < most; queue = queue[1:] {
		work += sizeOf(queue[0], to)
		for _, found := range finder.Of(queue[0]) {
			regions++
			for _, v := range found {
				b.region[v] = regions
			}
			b.add(found)
			if len(found) > 1 {
				queue = append(queue, found)
			}
		}
	}
}

// sizeOf is the number of nodes plus the number of steps from them.
func sizeOf(nodes []int, to [][]int) int {
	size := len(nodes)
	for _, v := range nodes {
		size += len(to[v])
	}
	return size
}

// add adds a loop; the first of its nodes is the head.
func (b *nestBuilder) add(nodes []int) {
	b.parent = append(b.parent, b.inner[nodes[0]])
	loop := len(b.parent) - 1
	b.headed[nodes[0]] = loop
	for _, v := range nodes {
		b.inner[v] = loop
	}
}

// number renumbers the loops, so that each is followed by those within it.
func (b *nestBuilder) number() *nest {
	within := make([]int, len(b.parent)) // number of loops within a loop, including itself
	for i := len(b.parent) - 1; i >= 0; i-- {
		within[i]++
		if up := b.parent[i]; up >= 0 {
			within[up] += within[i]
		}
	}
	number, next, top := make([]int, len(within)), make([]int, len(within)), 0
	b.last = make([]int, len(within))
	for i, up := range b.parent {
		from := &top
		if up >= 0 {
			from = &next[up]
		}
		number[i] = *from
		next[i] = *from + 1
		*from += within[i]
		b.last[number[i]] = number[i] + within[i] - 1
	}
	for v := range b.inner {
		if i := b.inner[v]; i >= 0 {
			b.inner[v] = number[i]
		}
		if i := b.headed[v]; i >= 0 {
			b.headed[v] = number[i]
		}
	}
	return &b.nest
}
