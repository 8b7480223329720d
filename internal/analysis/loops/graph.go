package loops

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
)

// graph is the shape of a stream's graph, or of one where some of its nodes count
// as one.
type graph struct {
	to, from [][]int // each once
	visits   []uint64
	start    int // -1: none
}

// newGraph makes the graph of a stream in which node v is at[v] of n.
func newGraph(s *efg.Stream, at []int, n int) *graph {
	g := &graph{to: make([][]int, n), from: make([][]int, n), visits: make([]uint64, n), start: s.Start()}
	if g.start >= 0 {
		g.start = at[g.start]
		g.visits[g.start] = 1
	}
	seen := map[[2]int]bool{}
	for u := range s.Nodes {
		for _, e := range s.Nodes[u].Edges {
			step := [2]int{at[u], at[e.To]}
			g.visits[step[1]] += e.Weight
			if !seen[step] {
				seen[step] = true
				g.to[step[0]] = append(g.to[step[0]], step[1])
				g.from[step[1]] = append(g.from[step[1]], step[0])
			}
		}
	}
	return g
}

// lastNode is the node of a stream's last event, -1 if there is none.
func lastNode(s *efg.Stream) (int, error) {
	balance := make([]uint64, len(s.Nodes)) // steps in minus steps out
	if i := s.Start(); i >= 0 {
		balance[i] = 1
	}
	for u := range s.Nodes {
		for _, e := range s.Nodes[u].Edges {
			if int(e.To) >= len(s.Nodes) {
				return -1, fmt.Errorf("%w: edge to node %d of %d", efg.ErrGraph, e.To, len(s.Nodes))
			}
			balance[e.To] += e.Weight
			balance[u] -= e.Weight
		}
	}
	last := -1
	for v := range balance {
		if balance[v] == 1 {
			last = v
		}
	}
	return last, nil
}

// components finds the strongly connected components of some nodes, following
// only steps that follow allows. Components of one node are only those that step
// to themselves. (Tarjan's algorithm, with a stack of its own.)
type components struct {
	g      *graph
	follow func(from, to int) bool
	index  []int // of nodes, from 1; 0: not seen
	low    []int
	onPath []bool
	path   []int
	count  int
	found  [][]int
}

func newComponents(g *graph, follow func(from, to int) bool) *components {
	n := len(g.to)
	return &components{g: g, follow: follow, index: make([]int, n), low: make([]int, n), onPath: make([]bool, n)}
}

// of returns the components among these nodes.
func (c *components) of(nodes []int) [][]int {
	c.found = nil
	for _, v := range nodes {
		c.index[v] = 0
	}
	for _, v := range nodes {
		if c.index[v] == 0 {
			c.search(v)
		}
	}
	return c.found
}

// visit is a node on the search's path and the next edge to take.
type visit struct{ node, edge int }

func (c *components) search(root int) {
	stack := []visit{{root, 0}}
	c.enter(root)
	for len(stack) > 0 {
		at := &stack[len(stack)-1]
		v := at.node
		if to := c.g.to[v]; at.edge < len(to) {
			w := to[at.edge]
			at.edge++
			switch {
			case !c.follow(v, w):
			case c.index[w] == 0:
				c.enter(w)
				stack = append(stack, visit{w, 0})
			case c.onPath[w]:
				c.low[v] = min(c.low[v], c.index[w])
			}
			continue
		}
		stack = stack[:len(stack)-1]
		if len(stack) > 0 {
			up := stack[len(stack)-1].node
			c.low[up] = min(c.low[up], c.low[v])
		}
		if c.low[v] == c.index[v] {
			c.leave(v)
		}
	}
}

func (c *components) enter(v int) {
	c.count++
	c.index[v], c.low[v] = c.count, c.count
	c.path = append(c.path, v)
	c.onPath[v] = true
}

// leave takes the component of v from the path.
func (c *components) leave(v int) {
	i := len(c.path) - 1
	for ; c.path[i] != v; i-- {
		c.onPath[c.path[i]] = false
	}
	c.onPath[v] = false
	if len(c.path)-i > 1 || c.stepsToItself(v) {
		c.found = append(c.found, append([]int(nil), c.path[i:]...))
	}
	c.path = c.path[:i]
}

func (c *components) stepsToItself(v int) bool {
	return slices.Contains(c.g.to[v], v) && c.follow(v, v)
}
