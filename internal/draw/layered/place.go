package layered

import (
	"math"
	"slices"
)

// place assigns x coordinates: of four alignments (with the neighbours above or below, from the
// left or from the right) it takes the mean of the middle two.
func (d *drawing) place() {
	crossed := d.conflicts()
	var all [4][]float64
	for k := range all {
		a := alignment{d: d, crossed: crossed, up: k&1 == 0, left: k&2 == 0}
		all[k] = a.solve()
	}
	narrow := all[0]
	for _, xs := range all[1:] {
		if width(xs) < width(narrow) {
			narrow = xs
		}
	}
	low, high := bounds(narrow)
	for k, xs := range all {
		l, h := bounds(xs)
		shift := low - l
		if k&2 != 0 {
			shift = high - h
		}
		for v := range xs {
			xs[v] += shift
		}
	}
	for v := range d.vertices {
		four := []float64{all[0][v], all[1][v], all[2][v], all[3][v]}
		slices.Sort(four)
		d.vertices[v].x = (four[1] + four[2]) / 2
	}
}

func bounds(xs []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, x := range xs {
		low, high = min(low, x), max(high, x)
	}
	return low, high
}

func width(xs []float64) float64 {
	low, high := bounds(xs)
	return high - low
}

// conflicts are the segments between layers that cross a segment of a long edge, which is to
// stay straight.
func (d *drawing) conflicts() map[[2]int]bool {
	crossed := map[[2]int]bool{}
	for k := 1; k < len(d.layers); k++ {
		above, layer := d.layers[k-1], d.layers[k]
		from, done := 0, 0
		for i, v := range layer {
			to, straight := len(above), d.isInner(v)
			if straight {
				to = d.vertices[d.vertices[v].up[0]].pos
			}
			if !straight && i < len(layer)-1 {
				continue
			}
			for _, w := range layer[done : i+1] {
				for _, u := range d.vertices[w].up {
					if pos := d.vertices[u].pos; (pos < from || pos > to) && !(d.vertices[u].box < 0 && d.vertices[w].box < 0) {
						crossed[[2]int{u, w}] = true
					}
				}
			}
			from, done = to, i+1
		}
	}
	return crossed
}

// isInner reports whether a vertex and the one above are points of one edge.
func (d *drawing) isInner(v int) bool {
	return d.vertices[v].box < 0 && d.vertices[d.vertices[v].up[0]].box < 0
}

// alignment arranges vertices in blocks, one above the other, and the blocks as close together
// as possible.
type alignment struct {
	d        *drawing
	crossed  map[[2]int]bool
	up, left bool
	layers   [][]int
	pos      []int
	root     []int
	next     []int // in the block, cyclic
}

func (a *alignment) solve() []float64 {
	n := len(a.d.vertices)
	a.pos, a.root, a.next = make([]int, n), make([]int, n), make([]int, n)
	for _, layer := range a.d.layers {
		layer = slices.Clone(layer)
		if !a.left {
			slices.Reverse(layer)
		}
		for i, v := range layer {
			a.pos[v], a.root[v], a.next[v] = i, v, v
		}
		a.layers = append(a.layers, layer)
	}
	if !a.up {
		slices.Reverse(a.layers)
	}
	a.align()
	return a.compact()
}

// near are the neighbours in the layer before.
func (a *alignment) near(v int) []int {
	if a.up {
		return a.d.vertices[v].up
	}
	return a.d.vertices[v].down
}

func (a *alignment) conflict(v, w int) bool {
	if a.up {
		return a.crossed[[2]int{w, v}]
	}
	return a.crossed[[2]int{v, w}]
}

// align joins each vertex with its median neighbour.
func (a *alignment) align() {
	var near []int
	for _, layer := range a.layers {
		before := -1
		for _, v := range layer {
			near = append(near[:0], a.near(v)...)
			if len(near) == 0 {
				continue
			}
			slices.SortFunc(near, func(u, w int) int { return a.pos[u] - a.pos[w] })
			for i := (len(near) - 1) / 2; i <= len(near)/2; i++ {
				w := near[i]
				if a.next[v] == v && before < a.pos[w] && !a.conflict(v, w) {
					a.next[w] = v
					a.root[v] = a.root[w]
					a.next[v] = a.root[v]
					before = a.pos[w]
				}
			}
		}
	}
}

// separation is the minimum distance of a block from one on its left.
type separation struct {
	block int
	gap   float64
}

// compact moves the blocks as far to the left as their neighbours allow, and then as far to the
// right as possible without moving others.
func (a *alignment) compact() []float64 {
	n := len(a.d.vertices)
	left, right, waits := make([][]separation, n), make([][]separation, n), make([]int, n)
	for _, layer := range a.layers {
		for i := 1; i < len(layer); i++ {
			u, v := layer[i-1], layer[i]
			p, q, gap := a.root[u], a.root[v], a.gap(u, v)
			left[q] = append(left[q], separation{p, gap})
			right[p] = append(right[p], separation{q, gap})
			waits[q]++
		}
	}
	var sorted []int
	for v := range n {
		if a.root[v] == v && waits[v] == 0 {
			sorted = append(sorted, v)
		}
	}
	xs := make([]float64, n)
	for k := 0; k < len(sorted); k++ {
		p := sorted[k]
		for _, l := range left[p] {
			xs[p] = max(xs[p], xs[l.block]+l.gap)
		}
		for _, r := range right[p] {
			if waits[r.block]--; waits[r.block] == 0 {
				sorted = append(sorted, r.block)
			}
		}
	}
	for _, p := range slices.Backward(sorted) {
		room := math.Inf(1)
		for _, r := range right[p] {
			room = min(room, xs[r.block]-r.gap)
		}
		if !math.IsInf(room, 1) {
			xs[p] = max(xs[p], room)
		}
	}
	for v := range n {
		xs[v] = xs[a.root[v]]
	}
	if !a.left {
		for v := range n {
			xs[v] = -xs[v]
		}
	}
	return xs
}

// gap is the distance of the centres of neighbours.
func (a *alignment) gap(u, v int) float64 {
	p, q := &a.d.vertices[u], &a.d.vertices[v]
	gap := boxGap
	if p.box < 0 || q.box < 0 {
		gap = lineGap
	}
	return (p.width+q.width)/2 + gap
}
