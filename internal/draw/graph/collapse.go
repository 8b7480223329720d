package graph

// Collapse merges each loop of a depth, 1 for the outermost, into one node. Steps from or to it
// are merged.
func (g *Graph) Collapse(depth int) *Graph {
	return g.merge(func(l int) int {
		for l >= 0 && g.Loops[l].Depth > depth {
			l = g.Loops[l].Parent
		}
		if l >= 0 && g.Loops[l].Depth < depth {
			return -1
		}
		return l
	})
}

// CollapseExcept merges each loop that is not open, and is in no loop that is not open, into one node.
// Loops are open by their numbers ("1.2"). The graph must not have been collapsed.
func (g *Graph) CollapseExcept(open map[string]bool) *Graph {
	return g.merge(func(l int) int {
		outermost := -1
		for ; l >= 0; l = g.Loops[l].Parent {
			if !open[g.Loops[l].Number] {
				outermost = l
			}
		}
		return outermost
	})
}

// merge makes one node of the nodes for which into returns the same loop, of their innermost loops (-1: none); those for
// which it returns -1 stay.
func (g *Graph) merge(into func(loop int) int) *Graph {
	out := &Graph{Rank: g.Rank, Thread: g.Thread, Events: g.Events, Timed: g.Timed, Loops: g.Loops, start: -1}
	at := make([]int, len(g.Nodes)) // by node: number in the result
	made := map[int]int{}           // by loop
	for i := range g.Nodes {
		l := into(g.inner[i])
		if l < 0 {
			at[i] = len(out.Nodes)
			out.Nodes = append(out.Nodes, g.Nodes[i])
			continue
		}
		k, ok := made[l]
		if !ok {
			k = len(out.Nodes)
			made[l] = k
			h := &g.Nodes[g.Loops[l].Header]
			out.Nodes = append(out.Nodes, Node{Number: h.Number, Op: h.Op, Site: h.Site, Loop: l, Collapsed: true})
		}
		at[i] = k
		out.Nodes[k].join(&g.Nodes[i])
	}
	if g.start >= 0 {
		out.start = at[g.start]
	}
	out.joinEdges(g, at)
	return out
}

// join adds the totals of a node of the loop.
func (n *Node) join(o *Node) {
	n.Polls += o.Polls
	n.Calls += o.Calls
	n.Errors += o.Errors
	n.Volume.Add(&o.Volume, 1)
	n.Time.Merge(&o.Time)
	n.Gap.Merge(&o.Gap)
}

// joinEdges merges edges that lead from one node to the same other node.
func (g *Graph) joinEdges(from *Graph, at []int) {
	index := map[[2]int]int{}
	for i := range from.Edges {
		e := from.Edges[i]
		e.From, e.To = at[e.From], at[e.To]
		if e.From == e.To && g.Nodes[e.From].Collapsed {
			continue
		}
		if g.Nodes[e.From].Collapsed {
			e.Runs = nil
		}
		if k, ok := index[[2]int{e.From, e.To}]; ok {
			g.Edges[k].Weight += e.Weight
			g.Edges[k].Runs = nil
			continue
		}
		index[[2]int{e.From, e.To}] = len(g.Edges)
		g.Edges = append(g.Edges, e)
	}
}
