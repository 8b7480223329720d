package loops

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/scc"
)

const (
	// maxDepth limits the nesting depth of loops that are searched for.
	maxDepth = 64
	// maxSplit bounds the work of distinguishing loops that share a header: latches times
	// nodes.
	maxSplit = 1 << 22
)

// finder finds loops.
type finder struct {
	*graph
	stream   *efg.Stream
	last     int   // node of the stream
	at       []int // node of the graph, by node of the stream
	region   []int // by node: steps between different regions are not followed
	inner    []int // innermost family, by node; -1 if there is none
	headed   []int // family, by header node; -1 if it is not a header
	families []family
}

// newFinder finds the families of a graph in which node v of the stream is node at[v] of n.
func newFinder(s *efg.Stream, last int, at []int, n int) *finder {
	f := &finder{graph: newGraph(s, at, n), stream: s, last: last, at: at, region: make([]int, n), inner: make([]int, n), headed: make([]int, n)}
	for v := range n {
		f.inner[v], f.headed[v] = -1, -1
	}
	f.find()
	return f
}

// find fills in the families, each after those that contain it.
func (f *finder) find() {
	all := make([]int, len(f.to))
	for v := range all {
		all[v] = v
	}
	regions := 0
	c := scc.New(f.to, func(from, to int) bool { return f.region[from] == f.region[to] && f.headed[to] < 0 })
	for work := [][]int{all}; len(work) > 0; {
		nodes := work[len(work)-1]
		work = work[:len(work)-1]
		for _, found := range c.Of(nodes) {
			regions++
			for _, v := range found {
				f.region[v] = regions
			}
			if depth := f.add(found, regions); depth < maxDepth && len(found) > 1 {
				work = append(work, found)
			}
		}
	}
}

// add adds a component, whose nodes are a region, and returns its depth.
func (f *finder) add(nodes []int, region int) int {
	slices.Sort(nodes)
	a := family{parent: f.inner[nodes[0]], depth: 1, header: nodes[0], nodes: nodes, latch: map[int]int{}, levels: 1}
	if a.parent >= 0 {
		a.depth = f.families[a.parent].depth + 1
	}
	for _, v := range nodes {
		f.inner[v] = len(f.families)
		outside := func(u int) bool { return f.region[u] != region }
		if v == f.start || slices.ContainsFunc(f.from[v], outside) {
			a.entrances = append(a.entrances, v)
		}
	}
	for i, v := range a.entrances {
		if i == 0 || f.visits[v] > f.visits[a.header] {
			a.header = v
		}
	}
	for _, u := range f.from[a.header] {
		if f.region[u] == region {
			a.latch[u] = len(a.latches)
			a.rest = append(a.rest, len(a.latches))
			a.latches = append(a.latches, u)
		}
	}
	a.level = make([]int, len(a.latches))
	if !a.irreducible() && len(a.latches) > 1 && len(a.latches)*len(nodes) <= maxSplit {
		f.closeBodies(&a, region)
	}
	a.advance()
	f.headed[a.header] = len(f.families)
	f.families = append(f.families, a)
	return a.depth
}

// closeBodies fills in the bodies of a family's latches.
func (f *finder) closeBodies(a *family, region int) {
	at := make(map[int]int, len(a.nodes)) // position, by node
	for i, v := range a.nodes {
		at[v] = i
	}
	for _, l := range a.latches {
		a.bodies = append(a.bodies, f.body(l, a.header, at, region))
	}
}

// body is what the step from latch to header closes: the header, and the nodes that reach the
// latch without passing it.
func (f *finder) body(latch, header int, at map[int]int, region int) bitset {
	set := newBitset(len(at))
	set.set(at[header])
	if latch == header {
		return set
	}
	set.set(at[latch])
	for work := []int{latch}; len(work) > 0; {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, u := range f.from[v] {
			if f.region[u] == region && !set.has(at[u]) {
				set.set(at[u])
				work = append(work, u)
			}
		}
	}
	return set
}

// contains reports whether a node is in a family.
func (f *finder) contains(family, node int) bool {
	if node < 0 {
		return false
	}
	i := f.inner[node]
	for i > family {
		i = f.families[i].parent
	}
	return i == family
}

// settled reports whether the loops of all families are known.
func (f *finder) settled() bool {
	return !slices.ContainsFunc(f.families, func(a family) bool { return len(a.rest) > 0 })
}

// decide settles a level, by the counts, of each family that is not settled.
func (f *finder) decide(counts []counter) {
	for i := range f.families {
		if a := &f.families[i]; len(a.rest) > 0 {
			a.decide(&counts[i])
		}
	}
}
