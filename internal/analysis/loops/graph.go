package loops

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
)

// graph is the shape of a stream's graph, or of one in which some of its nodes are merged.
type graph struct {
	to, from [][]int // each once
	visits   []uint64
	start    int // -1 if there is none
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
