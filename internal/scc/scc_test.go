package scc

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// reach lists what can be reached from a node, by one step at least.
func reach(to [][]int, from int) map[int]bool {
	seen := map[int]bool{}
	for work := []int{from}; len(work) > 0; {
		v := work[0]
		work = work[1:]
		for _, w := range to[v] {
			if !seen[w] {
				seen[w] = true
				work = append(work, w)
			}
		}
	}
	return seen
}

// Two nodes are in one component if each can be reached from the other.
func TestOf(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		to := make([][]int, 1+r.IntN(12))
		all := make([]int, len(to))
		for v := range to {
			all[v] = v
			for range r.IntN(3) {
				to[v] = append(to[v], r.IntN(len(to)))
			}
		}
		component := make([]int, len(to)) // 0: none
		for i, nodes := range New(to, func(int, int) bool { return true }).Of(all) {
			for _, v := range nodes {
				if component[v] != 0 {
					t.Fatalf("%v: node %d is in two components", to, v)
				}
				component[v] = i + 1
			}
		}
		for v := range to {
			for w := range to {
				want := reach(to, v)[w] && reach(to, w)[v]
				if got := component[v] != 0 && component[v] == component[w]; got != want {
					t.Fatalf("%v: nodes %d and %d together: %v", to, v, w, got)
				}
			}
		}
	}
}

// A component begins with the node that the search reached first; steps that may not be
// followed do not connect nodes.
func TestOrder(t *testing.T) {
	to := [][]int{{2}, {2}, {1, 3}, {2}}
	if got := New(to, func(int, int) bool { return true }).Of([]int{0, 1, 2, 3}); len(got) != 1 || !slices.Equal(got[0], []int{2, 1, 3}) {
		t.Errorf("%v, want [2 1 3]", got)
	}
	if got := New(to, func(_, w int) bool { return w != 2 }).Of([]int{0, 1, 2, 3}); len(got) != 0 {
		t.Errorf("%v without steps to 2", got)
	}
}
