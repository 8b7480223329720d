package topology

import (
	"math/bits"
	"slices"
)

// maxDims is the maximum number of dimensions of recognised grids.
const maxDims = 4

// shape recognises a connected graph, the simplest shape first.
func (g *graph) shape() Shape {
	n := len(g.ranks)
	if s, ok := g.grid([]int{n}, false); ok {
		return s
	}
	if g.edges() == n*(n-1)/2 {
		return Shape{Kind: Complete}
	}
	if g.edges() == n-1 {
		return g.tree()
	}
	for _, diagonals := range []bool{false, true} {
		for dims := 2; dims <= maxDims; dims++ {
			if s, ok := g.grids(nil, n, dims, diagonals); ok {
				return s
			}
		}
	}
	if n&(n-1) == 0 && g.every(hypercube(n)) {
		s := Shape{Kind: Hypercube}
		for d := 1; d < n; d *= 2 {
			s.Dims, s.Wrap = append(s.Dims, 2), append(s.Wrap, false)
		}
		return s
	}
	return g.shifts()
}

func hypercube(n int) func(i int, list []int) []int {
	return func(i int, list []int) []int {
		for d := 1; d < n; d *= 2 {
			list = append(list, i^d)
		}
		return list
	}
}

// grids tries all ways to factor n positions into the remaining number of dimensions.
func (g *graph) grids(front []int, n, more int, diagonals bool) (Shape, bool) {
	if more == 1 {
		return g.grid(append(slices.Clone(front), n), diagonals)
	}
	for d := 2; d <= n/2; d++ {
		if n%d != 0 {
			continue
		}
		if s, ok := g.grids(append(slices.Clone(front), d), n/d, more-1, diagonals); ok {
			return s, true
		}
	}
	return Shape{}, false
}

// grid tries dimensions. The neighbours of position 0 say which of them are wrapped.
func (g *graph) grid(dims []int, diagonals bool) (Shape, bool) {
	s := Shape{Kind: Grid, Dims: dims, Wrap: make([]bool, len(dims)), Diagonals: diagonals}
	stride, torus, flat := len(g.ranks), true, true
	for k, d := range dims {
		stride /= d
		if d > 2 {
			flat = false
			_, s.Wrap[k] = slices.BinarySearch(g.near[0], (d-1)*stride)
			torus = torus && s.Wrap[k]
		}
	}
	switch {
	case len(dims) == 1 && s.Wrap[0]:
		s.Kind = Ring
	case len(dims) == 1:
		s.Kind = Line
	case flat && !diagonals && len(dims) > 2:
		s.Kind = Hypercube
	case torus && !flat:
		s.Kind = Torus
	}
	return s, g.every(s.neighbours)
}

// neighbours appends the neighbours of a position in a grid.
func (s *Shape) neighbours(i int, list []int) []int {
	stride := 1
	first := len(list)
	if s.Diagonals {
		list = append(list, i)
	}
	for k := len(s.Dims) - 1; k >= 0; k-- {
		at := i / stride % s.Dims[k]
		known := len(list)
		for _, to := range [2]int{at - 1, at + 1} {
			if s.Wrap[k] {
				to = (to + s.Dims[k]) % s.Dims[k]
			}
			if to < 0 || to >= s.Dims[k] {
				continue
			}
			if !s.Diagonals {
				list = append(list, i+(to-at)*stride)
				continue
			}
			for _, r := range list[first:known] {
				list = append(list, r+(to-at)*stride)
			}
		}
		stride *= s.Dims[k]
	}
	return list
}

// tree recognises a connected graph without cycles.
func (g *graph) tree() Shape {
	n := len(g.ranks)
	for i, l := range g.near {
		if len(l) == n-1 {
			return Shape{Kind: Star, Centre: i}
		}
	}
	if arity := len(g.near[0]); arity > 1 && g.every(heap(n, arity)) {
		return Shape{Kind: Tree, Arity: arity}
	}
	low := func(i int) int { return i & (i - 1) }
	high := func(i int) int { return i &^ (1 << (bits.Len(uint(i)) - 1)) }
	for _, parent := range []func(int) int{low, high} {
		if g.hasParents(parent) {
			return Shape{Kind: Binomial}
		}
	}
	return Shape{Kind: Tree}
}

func heap(n, arity int) func(i int, list []int) []int {
	return func(i int, list []int) []int {
		if i > 0 {
			list = append(list, (i-1)/arity)
		}
		for c := i*arity + 1; c <= i*arity+arity && c < n; c++ {
			list = append(list, c)
		}
		return list
	}
}

// hasParents reports whether each position except 0 is a neighbour of its parent; a tree has no
// other edges.
func (g *graph) hasParents(parent func(i int) int) bool {
	for i := 1; i < len(g.near); i++ {
		if _, ok := slices.BinarySearch(g.near[i], parent(i)); !ok {
			return false
		}
	}
	return true
}

// maxShifts is the maximum number of equal shifts that are listed.
const maxShifts = 64

// shifts recognises a graph in which all positions have neighbours at the same distances.
func (g *graph) shifts() Shape {
	n := len(g.ranks)
	offsets := g.near[0]
	same := len(offsets) <= maxShifts && g.every(func(i int, list []int) []int {
		for _, d := range offsets {
			list = append(list, (i+d)%n)
		}
		return list
	})
	if !same {
		return Shape{Kind: Irregular}
	}
	s := Shape{Kind: Shifts}
	for _, d := range offsets {
		if d > n/2 {
			d -= n
		}
		s.Offsets = append(s.Offsets, d)
	}
	slices.Sort(s.Offsets)
	return s
}
