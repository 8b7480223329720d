package topology

import "slices"

// graph holds the neighbours, in either direction, of the ranks that communicate, by position.
type graph struct {
	ranks  []int
	near   [][]int // by position, ascending
	oneWay bool
}

func newGraph(to [][]int) *graph {
	n := len(to)
	for _, list := range to {
		for _, r := range list {
			n = max(n, r+1)
		}
	}
	near := make([][]int, n)
	edges, answered := 0, 0
	for from, list := range to {
		for _, r := range list {
			if r < 0 || r == from {
				continue
			}
			near[from] = append(near[from], r)
			near[r] = append(near[r], from)
		}
	}
	for i := range near {
		edges += len(near[i])
		slices.Sort(near[i])
		near[i] = slices.Compact(near[i])
		answered += len(near[i])
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	g := (&graph{ranks: all, near: near}).keep(func(i int) bool { return len(near[i]) > 0 })
	g.oneWay = edges == answered && edges > 0
	return g
}

// keep is the graph of the given positions. They must not have neighbours among the others.
func (g *graph) keep(in func(i int) bool) *graph {
	at := make([]int, len(g.ranks))
	k := &graph{}
	for i, r := range g.ranks {
		if in(i) {
			at[i] = len(k.ranks)
			k.ranks = append(k.ranks, r)
		}
	}
	for i := range g.ranks {
		if !in(i) {
			continue
		}
		list := make([]int, len(g.near[i]))
		for j, r := range g.near[i] {
			list[j] = at[r]
		}
		k.near = append(k.near, list)
	}
	return k
}

// parts are the connected components, by their first rank.
func (g *graph) parts() []*graph {
	part := make([]int, len(g.ranks))
	count := 0
	for i := range part {
		if part[i] != 0 {
			continue
		}
		count++
		part[i] = count
		for work := []int{i}; len(work) > 0; {
			at := work[len(work)-1]
			work = work[:len(work)-1]
			for _, r := range g.near[at] {
				if part[r] == 0 {
					part[r] = count
					work = append(work, r)
				}
			}
		}
	}
	if count == 1 {
		return []*graph{g}
	}
	return g.split(part, count)
}

func (g *graph) split(part []int, count int) []*graph {
	list := make([]*graph, count)
	at := make([]int, len(part))
	for i, p := range part {
		if list[p-1] == nil {
			list[p-1] = &graph{}
		}
		s := list[p-1]
		at[i] = len(s.ranks)
		s.ranks = append(s.ranks, g.ranks[i])
	}
	for i, p := range part {
		near := make([]int, len(g.near[i]))
		for j, r := range g.near[i] {
			near[j] = at[r]
		}
		list[p-1].near = append(list[p-1].near, near)
	}
	return list
}

// every reports whether each position has exactly the neighbours that f appends; f may append
// duplicates, and the position itself.
func (g *graph) every(f func(i int, list []int) []int) bool {
	var list []int
	for i := range g.near {
		list = f(i, list[:0])
		slices.Sort(list)
		list = slices.DeleteFunc(slices.Compact(list), func(r int) bool { return r == i })
		if !slices.Equal(list, g.near[i]) {
			return false
		}
	}
	return true
}

// edges counts pairs of neighbours.
func (g *graph) edges() int {
	n := 0
	for _, l := range g.near {
		n += len(l)
	}
	return n / 2
}
