package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// grid is an arrangement of ranks; the last dimension changes fastest, as in MPI_Cart_create.
type grid struct {
	dims []int
	wrap []bool
}

func (g *grid) size() int {
	n := 1
	for _, d := range g.dims {
		n *= d
	}
	return n
}

func (g *grid) String() string { return dimsText(g.dims) }

func dimsText(dims []int) string {
	parts := make([]string, len(dims))
	for i, d := range dims {
		parts[i] = fmt.Sprint(d)
	}
	return strings.Join(parts, " × ")
}

// at returns the coordinates of a rank.
func (g *grid) at(rank int) []int {
	c := make([]int, len(g.dims))
	for d := len(g.dims) - 1; d >= 0; d-- {
		c[d] = rank % g.dims[d]
		rank /= g.dims[d]
	}
	return c
}

// neighbour returns the word of the rank at a distance: MPI_PROC_NULL beyond the border.
func (g *grid) neighbour(rank int, distance []int) uint64 {
	to := 0
	for d, c := range g.at(rank) {
		c += distance[d]
		if g.wrap[d] {
			c = (c%g.dims[d] + g.dims[d]) % g.dims[d]
		}
		if c < 0 || c >= g.dims[d] {
			return signature.ProcNull
		}
		to = to*g.dims[d] + c
	}
	return uint64(to)
}

// distance returns the shortest way from one rank to another, and the first dimension in which there
// are two, -1 if there is none.
func (g *grid) distance(from, to int) (way []int, unclear int) {
	a, b := g.at(from), g.at(to)
	unclear = -1
	for d := range b {
		n := b[d] - a[d]
		if size := g.dims[d]; g.wrap[d] {
			switch n = (n + size) % size; {
			case 2*n == size && unclear < 0:
				unclear = d
			case 2*n > size:
				n -= size
			}
		}
		b[d] = n
	}
	return b, unclear
}

// distanceOfAll returns the one distance of all ranks from their peers, which are words of ranks or
// MPI_PROC_NULL beyond the border.
func (g *grid) distanceOfAll(ranks []int, peers []uint64) (way []int, unclear int, ok bool) {
	unclear = -1
	for i, w := range peers {
		if w == signature.ProcNull {
			continue
		}
		if special(w) || w >= uint64(g.size()) {
			return nil, -1, false
		}
		if way != nil {
			if g.neighbour(ranks[i], way) != w {
				return nil, -1, false
			}
			continue
		}
		way, unclear = g.distance(ranks[i], int(w))
	}
	for i, w := range peers {
		if way == nil || g.neighbour(ranks[i], way) != w {
			return nil, -1, false
		}
	}
	return way, unclear, true
}

// balanced returns n as a product of factors as close to each other as possible, in descending order: what
// MPI_Dims_create gives.
func balanced(n, factors int) []int {
	var best []int
	var try func(front []int, rest int)
	try = func(front []int, rest int) {
		if len(front) == factors-1 {
			if dims := append(slices.Clone(front), rest); closer(dims, best) {
				best = dims
			}
			return
		}
		for d := rest; d >= 1; d-- {
			if rest%d == 0 && (len(front) == 0 || d <= front[len(front)-1]) {
				try(append(slices.Clone(front), d), rest/d)
			}
		}
	}
	try(nil, n)
	return best
}

// closer reports whether the factors of a are in descending order, and closer to each other than those of b.
func closer(a, b []int) bool {
	last := len(a) - 1
	if last > 0 && a[last-1] < a[last] {
		return false
	}
	if b == nil {
		return true
	}
	if x, y := a[0]-a[last], b[0]-b[last]; x != y {
		return x < y
	}
	return a[0] < b[0]
}

// dimsFlag is what --ranks takes for dimensions.
func dimsFlag(dims []int) string { return strings.ReplaceAll(dimsText(dims), " × ", "x") }
