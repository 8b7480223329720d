package diff

import (
	"cmp"
	"maps"
	"slices"
)

// Class is ranks with equal graphs.
type Class struct {
	// Shape is equal for classes whose nodes are equal except for arguments, and whose edges
	// are equal except for weights. Shapes are numbered from 1, by descending number of ranks.
	Shape int
	// Number of the class within its shape, from 1. Its ranks have equal arguments (with
	// relative ranks) and equal branch runs.
	Number int
	Ranks  []int // ascending; -1: a process whose rank is unknown
	First  Rank  // one of them
	// Events, Nodes and Edges are those of one rank.
	Events, Nodes, Edges uint64
	Total                Sums // of all ranks
}

// Sums are the calls of ranks, the bytes that they moved, and the time in ns that they took.
type Sums struct{ Calls, Errors, Bytes, Time uint64 }

func (t *Sums) add(s *summary) {
	t.Calls += s.profile.total.calls
	t.Errors += s.profile.total.errors
	t.Bytes += s.profile.total.bytes
	t.Time += s.total
}

// argumentKeys returns, for each summary, a key that is equal for equal graphs. A rank in an
// argument counts as it is, or as its distance from the process's own rank, whichever is the
// same in more processes.
func argumentKeys(list []*summary) []hash {
	keys := make([]hash, len(list))
	groups := map[hash][]int{}
	for i, s := range list {
		keys[i] = hashOf(uint64(s.shape), uint64(s.rest), uint64(len(s.peers)))
		groups[keys[i]] = append(groups[keys[i]], i)
	}
	for _, members := range groups {
		for k := range list[members[0]].peers {
			far := fewerFar(list, members, k)
			for _, i := range members {
				f := list[i].peers[k]
				if far {
					f.near = f.far
				}
				keys[i] = keys[i].add(f.near)
			}
		}
	}
	return keys
}

// fewerFar reports whether peer k has fewer different values as ranks than as distances.
func fewerFar(list []*summary, members []int, k int) bool {
	first, one := list[members[0]].peers[k], true
	for _, i := range members {
		one = one && list[i].peers[k].near == first.near
	}
	if one {
		return false
	}
	near, far := map[uint64]bool{}, map[uint64]bool{}
	for _, i := range members {
		f := list[i].peers[k]
		near[f.near], far[f.far] = true, true
	}
	return len(far) < len(near)
}

// classes groups the processes of a survey.
func (v *survey) classes() (list []Class, shapes int) {
	all := make([]*summary, len(v.summaries))
	for i := range all {
		all[i] = &v.summaries[i]
	}
	keys := argumentKeys(all)
	byKey := map[hash]int32{}
	byShape := map[hash][]int32{}
	ranks := map[hash]int{}
	for i, s := range all {
		k, ok := byKey[keys[i]]
		if !ok {
			k = int32(len(list))
			byKey[keys[i]] = k
			byShape[s.shape] = append(byShape[s.shape], k)
			list = append(list, Class{First: Rank{v.run, s.proc}, Events: s.events, Nodes: s.nodes, Edges: s.edges})
		}
		c := &list[k]
		c.Ranks = append(c.Ranks, s.rank)
		c.Total.add(s)
		ranks[s.shape]++
	}
	order := slices.SortedFunc(maps.Keys(byShape), func(x, y hash) int {
		return cmp.Or(cmp.Compare(ranks[y], ranks[x]), cmp.Compare(uint(list[byShape[x][0]].Ranks[0]), uint(list[byShape[y][0]].Ranks[0])), cmp.Compare(x, y))
	})
	for i, shape := range order {
		in := byShape[shape]
		slices.SortStableFunc(in, func(x, y int32) int { return cmp.Compare(len(list[y].Ranks), len(list[x].Ranks)) })
		for k, c := range in {
			list[c].Shape, list[c].Number = i+1, k+1
		}
	}
	slices.SortFunc(list, func(x, y Class) int {
		return cmp.Or(cmp.Compare(x.Shape, y.Shape), cmp.Compare(x.Number, y.Number))
	})
	return list, len(order)
}

func (t *Totals) addSummary(s *summary) {
	t.Calls += s.profile.total.calls
	t.Errors += s.profile.total.errors
	t.Bytes += s.profile.total.bytes
	t.Time.Sum += s.total
}
