package topology

import (
	"cmp"
	"slices"
)

// Order arranges n ranks so that those that communicate are close to each other: parts that are
// not connected one after another, by their first ranks; the blocks of a grid that result from
// halving its longest dimension again and again; a tree by its subtrees; of any other graph,
// neighbours after neighbours (reverse Cuthill–McKee: E. Cuthill, J. McKee, Reducing the bandwidth
// of sparse symmetric matrices, 1969). Ranks that do not communicate come last. The result has the
// rank at each place; to lists, for each rank, those that it sends to.
func Order(to [][]int) []int {
	g := newGraph(to)
	order := make([]int, 0, len(to))
	placed := make([]bool, max(len(to), len(g.ranks)))
	if len(g.ranks) > 0 {
		for _, part := range g.parts() {
			for _, i := range part.order() {
				order = append(order, part.ranks[i])
				placed[part.ranks[i]] = true
			}
		}
	}
	for rank := range to {
		if !placed[rank] {
			order = append(order, rank)
		}
	}
	return order
}

// order arranges the positions of a connected graph.
func (g *graph) order() []int {
	s := g.shape()
	switch {
	case len(s.Dims) > 1 && s.Kind != Hypercube:
		return blocks(s.Dims)
	case s.Kind == Tree && s.Arity > 0 || s.Kind == Binomial:
		return g.subtrees(s.Centre)
	case len(s.Dims) > 0 || s.Kind == Complete || s.Kind == Star:
		order := make([]int, len(g.ranks))
		for i := range order {
			order[i] = i
		}
		return order
	}
	return g.cuthillMcKee()
}

// blocks arranges the positions of a grid, of which the last dimension changes fastest.
func blocks(dims []int) []int {
	size := 1
	for _, d := range dims {
		size *= d
	}
	order := make([]int, 0, size)
	low, high := make([]int, len(dims)), slices.Clone(dims)
	var add func()
	add = func() {
		longest := 0
		for d := range dims {
			if high[d]-low[d] > high[longest]-low[longest] {
				longest = d
			}
		}
		first, last := low[longest], high[longest]
		if last-first == 1 {
			at := 0
			for d := range dims {
				at = at*dims[d] + low[d]
			}
			order = append(order, at)
			return
		}
		middle := (first + last + 1) / 2
		high[longest] = middle
		add()
		low[longest], high[longest] = middle, last
		add()
		low[longest] = first
	}
	add()
	return order
}

// subtrees lists the positions of a tree: each after its parent, followed by those below it.
func (g *graph) subtrees(root int) []int {
	order := make([]int, 0, len(g.ranks))
	seen := make([]bool, len(g.ranks))
	seen[root] = true
	for work := []int{root}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		order = append(order, at)
		for _, k := range slices.Backward(g.near[at]) {
			if !seen[k] {
				seen[k] = true
				work = append(work, k)
			}
		}
	}
	return order
}

// cuthillMcKee lists the positions by their distance from one at the end of the graph.
func (g *graph) cuthillMcKee() []int {
	order := g.from(g.from(g.leastConnected())[len(g.ranks)-1])
	slices.Reverse(order)
	return order
}

func (g *graph) leastConnected() int {
	least := 0
	for i := range g.near {
		if len(g.near[i]) < len(g.near[least]) {
			least = i
		}
	}
	return least
}

// from lists all positions: neighbours of the first, then of those, each time those with the
// fewest neighbours first.
func (g *graph) from(first int) []int {
	order := append(make([]int, 0, len(g.ranks)), first)
	seen := make([]bool, len(g.ranks))
	seen[first] = true
	for i := 0; i < len(order); i++ {
		start := len(order)
		for _, k := range g.near[order[i]] {
			if !seen[k] {
				seen[k] = true
				order = append(order, k)
			}
		}
		slices.SortFunc(order[start:], func(x, y int) int {
			return cmp.Or(cmp.Compare(len(g.near[x]), len(g.near[y])), cmp.Compare(x, y))
		})
	}
	return order
}
