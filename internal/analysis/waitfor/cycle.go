package waitfor

import (
	"slices"
)

// explain determines why the stuck ranks are stuck: cycles among them, and processes that have
// ended.
func (v *Verdict) explain() {
	g := &dependence{v: v, at: map[int]int{}, sets: map[*set]int{}}
	for i, r := range v.ranks {
		if r.Number >= 0 {
			g.at[r.Number] = i
		}
	}
	g.build()
	cyclic := make([]bool, len(v.ranks))
	for _, members := range g.components() {
		var ranks []int
		for _, k := range members {
			if k < len(v.ranks) {
				ranks = append(ranks, v.ranks[k].Number)
				cyclic[k] = true
			}
		}
		if len(ranks) > 0 {
			slices.Sort(ranks)
			v.Cycles = append(v.Cycles, ranks)
		}
	}
	slices.SortFunc(v.Cycles, slices.Compare)
	for i, r := range v.ranks {
		switch {
		case !v.Stuck[i]:
		case g.needsEnded(i):
			v.InVain = append(v.InVain, r.Number)
		case !cyclic[i]:
			v.Behind = append(v.Behind, r.Number)
		}
	}
}

// dependence is the graph of which stuck rank needs which. Its vertices are ranks, by position,
// followed by sets.
type dependence struct {
	v    *Verdict
	at   map[int]int
	sets map[*set]int
	out  [][]int
}

func (g *dependence) build() {
	g.out = make([][]int, len(g.v.ranks))
	for i := range g.v.ranks {
		if !g.v.Stuck[i] {
			continue
		}
		for _, w := range g.v.waits[i] {
			for _, x := range w.needs {
				g.out[i] = append(g.out[i], g.vertex(x.set))
			}
		}
	}
}

// vertex returns the vertex of a set.
func (g *dependence) vertex(s *set) int {
	k, ok := g.sets[s]
	if ok {
		return k
	}
	k = len(g.out)
	g.sets[s] = k
	var members []int
	for _, m := range s.ranks {
		if i, here := g.at[m]; here && g.v.Stuck[i] {
			members = append(members, i)
		}
	}
	g.out = append(g.out, members)
	return k
}

// needsEnded reports whether a rank needs one that has ended.
func (g *dependence) needsEnded(i int) bool {
	for _, w := range g.v.waits[i] {
		for _, x := range w.needs {
			for _, m := range x.ranks {
				if k, here := g.at[m]; here && g.v.ranks[k].Ended {
					return true
				}
			}
		}
	}
	return false
}

// components are the strongly connected components with a cycle, by Tarjan's
// algorithm, without recursion: chains of waiting ranks can be long.
func (g *dependence) components() [][]int {
	n := len(g.out)
	t := &tarjan{out: g.out, index: make([]int, n), low: make([]int, n), onStack: make([]bool, n)}
	for k := range n {
		if t.index[k] == 0 {
			t.visit(k)
		}
	}
	return t.found
}

type tarjan struct {
	out        [][]int
	index, low []int // from 1
	onStack    []bool
	stack      []int
	next       int
	found      [][]int
}

type frame struct{ vertex, edge int }

func (t *tarjan) enter(k int) frame {
	t.next++
	t.index[k], t.low[k] = t.next, t.next
	t.stack = append(t.stack, k)
	t.onStack[k] = true
	return frame{k, 0}
}

func (t *tarjan) visit(k int) {
	frames := []frame{t.enter(k)}
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		if f.edge < len(t.out[f.vertex]) {
			to := t.out[f.vertex][f.edge]
			f.edge++
			if t.index[to] == 0 {
				frames = append(frames, t.enter(to))
			} else if t.onStack[to] {
				t.low[f.vertex] = min(t.low[f.vertex], t.index[to])
			}
			continue
		}
		v := f.vertex
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			up := frames[len(frames)-1].vertex
			t.low[up] = min(t.low[up], t.low[v])
		}
		if t.low[v] == t.index[v] {
			t.leave(v)
		}
	}
}

// leave removes a component from the stack. A single vertex is not a cycle: a rank that needs
// itself forms one with a set.
func (t *tarjan) leave(v int) {
	i := len(t.stack) - 1
	for t.stack[i] != v {
		i--
	}
	members := slices.Clone(t.stack[i:])
	t.stack = t.stack[:i]
	for _, k := range members {
		t.onStack[k] = false
	}
	if len(members) > 1 {
		t.found = append(t.found, members)
	}
}

// Cycle returns a shortest cycle through the lowest rank of one of Cycles: each rank needs the
// next, and the last the first. It has a single rank if that rank waits for itself.
func (v *Verdict) Cycle(ranks []int) []int {
	at := map[int]int{}
	for i, r := range v.ranks {
		at[r.Number] = i
	}
	first := ranks[0]
	from := map[int]int{} // the previous rank on the way from the first
	seen := map[*set]bool{}
	around := map[*set]bool{} // sets that the first rank needs and is a member of
	for queue := []int{first}; len(queue) > 0; queue = queue[1:] {
		rank := queue[0]
		for _, w := range v.waits[at[rank]] {
			for _, x := range w.needs {
				if rank != first && around[x.set] {
					return pathBack(from, first, rank)
				}
				if seen[x.set] {
					continue
				}
				seen[x.set] = true
				for _, next := range x.ranks {
					if next == first && (rank != first || len(ranks) == 1) {
						return pathBack(from, first, rank)
					}
					if around[x.set] = around[x.set] || next == first; next == first {
						continue
					}
					if _, known := from[next]; !known && in(ranks, next) {
						from[next] = rank
						queue = append(queue, next)
					}
				}
			}
		}
	}
	return ranks
}

func pathBack(from map[int]int, first, last int) []int {
	path := []int{last}
	for last != first {
		last = from[last]
		path = append(path, last)
	}
	slices.Reverse(path)
	return path
}

func in(sorted []int, rank int) bool {
	_, ok := slices.BinarySearch(sorted, rank)
	return ok
}
