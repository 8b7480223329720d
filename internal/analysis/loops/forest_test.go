package loops_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis/loops"
)

// checkForest checks invariants of loops: they nest, their entrances are right, no cycle avoids
// all of them, and natural ones are those that dominators yield.
func checkForest(t *testing.T, s *efg.Stream, f *loops.Forest) {
	t.Helper()
	g := newEdges(s)
	for i := range f.Loops {
		l := &f.Loops[i]
		in := nodeSet(l)
		if l.Parent >= i || l.Parent >= 0 && !within(in, nodeSet(&f.Loops[l.Parent])) {
			t.Errorf("loop %d is not in its parent %d", i, l.Parent)
		}
		var entrances []int
		for _, v := range l.Nodes {
			if v == s.Start() || slices.ContainsFunc(g.from[v], func(u int) bool { return !in[u] }) {
				entrances = append(entrances, v)
			}
		}
		beside := slices.ContainsFunc(entrances, func(v int) bool { return !slices.Contains(l.Headers, v) })
		if !slices.Equal(entrances, l.Entrances) || beside && !l.Irreducible || l.Irreducible && !beside && (l.Depth > 1 || hasChild(f, i)) || !slices.Contains(l.Headers, l.Header) {
			t.Errorf("loop %d is entered at %v, not %v", i, entrances, l.Entrances)
		}
	}
	for v, i := range f.Inner {
		for j := range f.Loops {
			around := i
			for around >= 0 && around != j {
				around = f.Loops[around].Parent
			}
			if nodeSet(&f.Loops[j])[v] != (around == j) {
				t.Errorf("node %d is in loop %d, and that in %d?", v, i, j)
			}
		}
	}
	tangled := func(l loops.Loop) bool { return l.Irreducible && len(l.Entrances) == 1 }
	if slices.ContainsFunc(f.Loops, func(l loops.Loop) bool { return len(l.Headers) > 1 || tangled(l) }) {
		return // the rest holds only if no calls were merged and no loops left out
	}
	g.checkCircles(t, f)
	if !slices.ContainsFunc(f.Loops, func(l loops.Loop) bool { return l.Irreducible }) {
		g.checkNatural(t, f)
	}
}

// hasChild reports whether a loop contains loops with headers of their own.
func hasChild(f *loops.Forest, i int) bool {
	return slices.ContainsFunc(f.Loops, func(l loops.Loop) bool { return l.Parent == i && l.Header != f.Loops[i].Header })
}

func within(a, b map[int]bool) bool {
	for v := range a {
		if !b[v] {
			return false
		}
	}
	return true
}

type edges struct {
	to, from [][]int
	start    int
}

func newEdges(s *efg.Stream) *edges {
	g := &edges{to: make([][]int, len(s.Nodes)), from: make([][]int, len(s.Nodes)), start: s.Start()}
	for u := range s.Nodes {
		for _, e := range s.Nodes[u].Edges {
			g.to[u] = append(g.to[u], int(e.To))
			g.from[e.To] = append(g.from[e.To], u)
		}
	}
	return g
}

// reach is the set of nodes that can be reached without passing a given node.
func (g *edges) reach(without int) map[int]bool {
	seen := map[int]bool{}
	if g.start < 0 || g.start == without {
		return seen
	}
	seen[g.start] = true
	for work := []int{g.start}; len(work) > 0; {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, w := range g.to[v] {
			if w != without && !seen[w] {
				seen[w] = true
				work = append(work, w)
			}
		}
	}
	return seen
}

// checkCircles: without the steps to headers from within their loops there is no cycle.
func (g *edges) checkCircles(t *testing.T, f *loops.Forest) {
	t.Helper()
	back := map[[2]int]bool{}
	for i := range f.Loops {
		for _, u := range f.Loops[i].Nodes {
			back[[2]int{u, f.Loops[i].Header}] = true
		}
	}
	state := make([]int, len(g.to))
	var visit func(v int) bool
	visit = func(v int) bool {
		state[v] = 1
		for _, w := range g.to[v] {
			if !back[[2]int{v, w}] && (state[w] == 1 || state[w] == 0 && !visit(w)) {
				return false
			}
		}
		state[v] = 2
		return true
	}
	for v := range state {
		if state[v] == 0 && !visit(v) {
			t.Errorf("a circle through node %d is in no loop", v)
		}
	}
}

// checkNatural compares headers and bodies with those that dominators yield.
func (g *edges) checkNatural(t *testing.T, f *loops.Forest) {
	t.Helper()
	want, got := map[int]map[int]bool{}, map[int]map[int]bool{}
	for h := range g.to {
		apart := g.reach(h) // what h does not dominate
		for _, u := range g.from[h] {
			if apart[u] {
				continue
			}
			if want[h] == nil {
				want[h] = map[int]bool{h: true}
			}
			for work := []int{u}; len(work) > 0; {
				v := work[len(work)-1]
				work = work[:len(work)-1]
				if !want[h][v] {
					want[h][v] = true
					work = append(work, g.from[v]...)
				}
			}
		}
	}
	for i := range f.Loops {
		if h := f.Loops[i].Header; got[h] == nil {
			got[h] = nodeSet(&f.Loops[i])
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("natural loops %v, want %v", got, want)
	}
}
