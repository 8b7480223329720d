// Package scc finds the strongly connected components of a graph.
package scc

import "slices"

// Finder finds the strongly connected components of some nodes, following only steps for which
// follow is true. Components of one node are included only if it steps to itself. (Tarjan's
// algorithm, with an explicit stack.)
type Finder struct {
	to     [][]int
	follow func(from, to int) bool
	index  []int // by node, from 1; 0 if not visited
	low    []int
	onPath []bool
	path   []int
	count  int
	found  [][]int
}

// New returns a finder for a graph: to lists the successors of each node.
func New(to [][]int, follow func(from, to int) bool) *Finder {
	n := len(to)
	return &Finder{to: to, follow: follow, index: make([]int, n), low: make([]int, n), onPath: make([]bool, n)}
}

// Of returns the components among these nodes. The search begins at the first of them; the
// nodes of a component are in the order in which it reached them.
func (f *Finder) Of(nodes []int) [][]int {
	f.found = nil
	for _, v := range nodes {
		f.index[v] = 0
	}
	for _, v := range nodes {
		if f.index[v] == 0 {
			f.search(v)
		}
	}
	return f.found
}

// visit is a node on the search's path with the next edge to take.
type visit struct{ node, edge int }

func (f *Finder) search(root int) {
	stack := []visit{{root, 0}}
	f.enter(root)
	for len(stack) > 0 {
		at := &stack[len(stack)-1]
		v := at.node
		if to := f.to[v]; at.edge < len(to) {
			w := to[at.edge]
			at.edge++
			switch {
			case !f.follow(v, w):
			case f.index[w] == 0:
				f.enter(w)
				stack = append(stack, visit{w, 0})
			case f.onPath[w]:
				f.low[v] = min(f.low[v], f.index[w])
			}
			continue
		}
		stack = stack[:len(stack)-1]
		if len(stack) > 0 {
			up := stack[len(stack)-1].node
			f.low[up] = min(f.low[up], f.low[v])
		}
		if f.low[v] == f.index[v] {
			f.leave(v)
		}
	}
}

func (f *Finder) enter(v int) {
	f.count++
	f.index[v], f.low[v] = f.count, f.count
	f.path = append(f.path, v)
	f.onPath[v] = true
}

// leave removes the component of v from the path.
func (f *Finder) leave(v int) {
	i := len(f.path) - 1
	for ; f.path[i] != v; i-- {
		f.onPath[f.path[i]] = false
	}
	f.onPath[v] = false
	if len(f.path)-i > 1 || f.stepsToItself(v) {
		f.found = append(f.found, slices.Clone(f.path[i:]))
	}
	f.path = f.path[:i]
}

func (f *Finder) stepsToItself(v int) bool {
	return slices.Contains(f.to[v], v) && f.follow(v, v)
}
