package loops

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
)

// graph is the shape of a stream's graph, with predecessors.
type graph struct {
	nodes       []efg.Node
	from        [][]uint32
	visits      []uint64
	start, last int // -1: none
}

func newGraph(s *efg.Stream) (*graph, error) {
	g := &graph{nodes: s.Nodes, from: make([][]uint32, len(s.Nodes)), visits: make([]uint64, len(s.Nodes)), start: s.Start(), last: -1}
	if g.start >= 0 {
		g.visits[g.start] = 1
	}
	for u := range s.Nodes {
		for _, e := range s.Nodes[u].Edges {
			if int(e.To) >= len(s.Nodes) {
				return nil, fmt.Errorf("%w: edge to node %d of %d", efg.ErrGraph, e.To, len(s.Nodes))
			}
			g.from[e.To] = append(g.from[e.To], uint32(u))
			g.visits[e.To] += e.Weight
		}
	}
	for v := range s.Nodes {
		out := uint64(0)
		for _, e := range s.Nodes[v].Edges {
			out += e.Weight
		}
		if g.visits[v] == out+1 {
			g.last = v
		}
	}
	return g, nil
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
	n := len(g.nodes)
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
		if edges := c.g.nodes[v].Edges; at.edge < len(edges) {
			w := int(edges[at.edge].To)
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
	for _, e := range c.g.nodes[v].Edges {
		if int(e.To) == v {
			return c.follow(v, v)
		}
	}
	return false
}
