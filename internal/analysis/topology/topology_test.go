package topology_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/topology"
)

// cartesian makes a grid as MPI_Cart_create numbers it, by coordinates.
func cartesian(dims []int, wrap []bool, diagonals bool) [][]int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	to := make([][]int, n)
	for a := range n {
		for b := range n {
			steps, far := 0, false
			for i, x, y := len(dims)-1, a, b; i >= 0; i-- {
				d := max(x%dims[i]-y%dims[i], y%dims[i]-x%dims[i])
				if wrap[i] {
					d = min(d, dims[i]-d)
				}
				steps += d
				far = far || d > 1
				x /= dims[i]
				y /= dims[i]
			}
			if a != b && (steps == 1 || diagonals && !far) {
				to[a] = append(to[a], b)
			}
		}
	}
	return to
}

// of makes a graph in which pairs communicate both ways.
func of(n int, pairs func(a, b int) bool) [][]int {
	to := make([][]int, n)
	for a := range n {
		for b := range n {
			if a != b && (pairs(a, b) || pairs(b, a)) {
				to[a] = append(to[a], b)
			}
		}
	}
	return to
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		want string
		to   [][]int
	}{
		{"no messages", make([][]int, 4)},
		{"no messages", [][]int{{0}, {1}}},
		{"line of 2", of(2, func(a, b int) bool { return true })},
		{"line of 5", of(5, func(a, b int) bool { return b == a+1 })},
		{"ring of 6", of(6, func(a, b int) bool { return b == (a+1)%6 })},
		{"ring of 5, one way", [][]int{{1}, {2}, {3}, {4}, {0}}},
		{"all-to-all of 9", of(9, func(a, b int) bool { return true })},
		{"star of 6 around rank 0", of(6, func(a, b int) bool { return a == 0 })},
		{"star of 6 around rank 5", of(6, func(a, b int) bool { return a == 5 })},
		{"tree of 11 with 2 children each, root 0", of(11, func(a, b int) bool { return b == 2*a+1 || b == 2*a+2 })},
		{"tree of 13 with 3 children each, root 0", of(13, func(a, b int) bool { return b > 0 && (b-1)/3 == a })},
		{"binomial tree of 16, root 0", of(16, func(a, b int) bool { return b&(b-1) == a && b > 0 })},
		{"binomial tree of 8, root 0", of(8, func(a, b int) bool { return b == a|4 && a < 4 || b == a|2 && a < 2 || a == 0 && b == 1 })},
		{"tree of 6", of(6, func(a, b int) bool { return [...]int{-1, 0, 1, 2, 1, 2}[b] == a })},
		{"hypercube of 5 dimensions", of(32, func(a, b int) bool { x := a ^ b; return x&(x-1) == 0 })},
		{"hypercube of 3 dimensions", of(8, func(a, b int) bool { x := a ^ b; return x&(x-1) == 0 })},
		{"12 ranks, each with those at -3, -1, 1, 3, around the end", of(12, func(a, b int) bool { return b == (a+1)%12 || b == (a+3)%12 })},
		{"irregular, 5 ranks", of(5, func(a, b int) bool { return b == a+1 || a == 0 && b == 3 || a == 1 && b == 4 })},
		{"2 times: ring of 4", of(8, func(a, b int) bool { return a/4 == b/4 && b%4 == (a+1)%4 })},
		{"irregular, 7 ranks, 2 parts", of(7, func(a, b int) bool { return a/4 == b/4 })},
		{"line of 3", of(9, func(a, b int) bool { return a%4 == 0 && b == a+4 })},
	} {
		if got := topology.Recognise(c.to).String(); got != c.want {
			t.Errorf("%v: %q, want %q", c.to, got, c.want)
		}
	}
}

func TestGrids(t *testing.T) {
	for _, dims := range [][]int{{2, 2}, {3, 2}, {4, 8}, {8, 4}, {5, 5}, {3, 4, 5}, {4, 4, 2}, {4, 3, 3, 5}, {2, 3, 2, 4}} {
		for mask := range 1 << len(dims) {
			for _, diagonals := range []bool{false, true} {
				wrap, known := make([]bool, len(dims)), make([]bool, len(dims))
				full := true
				for i, d := range dims {
					wrap[i] = mask>>i&1 != 0
					known[i] = wrap[i] && d > 2
					full = full && (!diagonals || d <= 2 || wrap[i] && d == 3)
				}
				if diagonals && full {
					continue // all ranks communicate with all others
				}
				s := topology.Recognise(cartesian(dims, wrap, diagonals))
				// A graph may have several decompositions: then the grid must be the same
				// graph.
				if s.Dims == nil || !same(cartesian(s.Dims, s.Wrap, s.Diagonals), cartesian(dims, wrap, diagonals)) {
					t.Errorf("%v %v %v: %v", dims, wrap, diagonals, s)
				}
				if !diagonals && len(dims) < 4 && (!slices.Equal(s.Dims, dims) || !slices.Equal(s.Wrap, known)) {
					t.Errorf("%v %v: %v %v %v", dims, wrap, s, s.Dims, s.Wrap)
				}
			}
		}
	}
}

func same(a, b [][]int) bool {
	return slices.EqualFunc(a, b, slices.Equal[[]int])
}

// With one message more or less it is not a grid.
func TestNearly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		to := cartesian([]int{4, 5}, []bool{false, true}, false)
		a, b := r.IntN(20), r.IntN(20)
		if i := slices.Index(to[a], b); a == b || i >= 0 {
			continue
		}
		to[a] = append(to[a], b)
		if s := topology.Recognise(to); s.Kind == topology.Grid || s.Kind == topology.Torus {
			t.Errorf("with %d to %d: %v", a, b, s)
		}
	}
}

func BenchmarkLarge(b *testing.B) {
	dims := []int{32, 64, 64}
	to := make([][]int, 32*64*64)
	for i := range to {
		x, y, z := i/4096, i/64%64, i%64
		for _, d := range []int{-1, 1} {
			to[i] = append(to[i], (x+d+32)%32*4096+y*64+z, x*4096+(y+d+64)%64*64+z, x*4096+y*64+(z+d+64)%64)
		}
	}
	for b.Loop() {
		if s := topology.Recognise(to); fmt.Sprint(s.Dims) != fmt.Sprint(dims) {
			b.Fatal(s)
		}
	}
}
