package topology_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/topology"
)

// distance is the largest one, in places, between two ranks that communicate.
func distance(to [][]int, order []int) (most int) {
	place := make([]int, len(order))
	for at, rank := range order {
		place[rank] = at
	}
	for from, list := range to {
		for _, r := range list {
			most = max(most, place[from]-place[r], place[r]-place[from])
		}
	}
	return most
}

// renumbered gives the ranks of a graph other numbers.
func renumbered(to [][]int, r *rand.Rand) [][]int {
	number := r.Perm(len(to))
	out := make([][]int, len(to))
	for from, list := range to {
		for _, t := range list {
			out[number[from]] = append(out[number[from]], number[t])
		}
	}
	return out
}

// Ranks are in blocks of grids, subtrees, and next to their neighbours.
func TestOrder(t *testing.T) {
	if got, want := topology.Order(cartesian([]int{4, 4}, []bool{true, false}, false)), []int{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}; !slices.Equal(got, want) {
		t.Errorf("grid: %v, want %v", got, want)
	}
	tree := of(7, func(a, b int) bool { return b == 2*a+1 || b == 2*a+2 })
	if got, want := topology.Order(tree), []int{0, 1, 3, 4, 2, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("tree: %v, want %v", got, want)
	}
	apart := of(8, func(a, b int) bool { return b == a+4 && a < 3 })
	if got, want := topology.Order(apart), []int{0, 4, 1, 5, 2, 6, 3, 7}; !slices.Equal(got, want) {
		t.Errorf("pairs: %v, want %v", got, want)
	}
	if got := topology.Order(make([][]int, 3)); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("no messages: %v", got)
	}
	if got := topology.Order(nil); len(got) != 0 {
		t.Errorf("no ranks: %v", got)
	}
}

// However ranks are numbered, those of a line are at most one place apart, those of a ring two,
// and those of a grid about as far as it is wide.
func TestOrderOfOtherNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		to   [][]int
		most int
	}{
		"line": {cartesian([]int{40}, []bool{false}, false), 1},
		"ring": {cartesian([]int{40}, []bool{true}, false), 2},
		"grid": {cartesian([]int{6, 20}, []bool{false, false}, false), 9},
	} {
		for range 20 {
			to := renumbered(c.to, r)
			order := topology.Order(to)
			if sorted := slices.Sorted(slices.Values(order)); len(sorted) != len(to) || len(slices.Compact(sorted)) != len(to) {
				t.Fatalf("%s: not each rank once: %v", name, order)
			}
			if d := distance(to, order); d > c.most {
				t.Errorf("%s: neighbours are %d places apart, want at most %d", name, d, c.most)
			}
		}
	}
}
