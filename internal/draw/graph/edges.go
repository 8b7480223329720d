package graph

import (
	"cmp"
	"fmt"
	"slices"
)

// dotEdge is an edge in the form of DOT.
type dotEdge struct {
	to    int
	first uint64
	label string
}

// appendDOTEdges appends the edges as which an edge is written.
func appendDOTEdges(list []dotEdge, e *Edge) []dotEdge {
	if e.Runs == nil {
		return append(list, dotEdge{e.To, 0, fmt.Sprint(e.Weight)})
	}
	for _, r := range e.Runs {
		list = append(list, dotEdge{e.To, r.First, r.String()})
	}
	return list
}

func sortByFirst(list []dotEdge) {
	slices.SortStableFunc(list, func(x, y dotEdge) int { return cmp.Compare(x.first, y.first) })
}
