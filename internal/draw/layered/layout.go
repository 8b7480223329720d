package layered

import (
	"errors"
	"fmt"
	"slices"
)

// Box is the size of a box to place, in any unit.
type Box struct{ Width, Height float64 }

// Edge leads from one box to another, or to itself. Label is the size of its label.
type Edge struct {
	From, To int
	Label    Box
}

// Point is a position; Y increases down the page.
type Point struct{ X, Y float64 }

// Layout says where everything is.
type Layout struct {
	Width, Height float64
	Boxes         []Point // centres
	Edges         []Route
}

// Route is the path of an edge.
type Route struct {
	// Points are those of a chain of cubic Bézier curves: the start, then two
	// control points and an end for each. The last end is at the box that the edge
	// leads to.
	Points []Point
	Label  Point // centre
	// Back: the edge closes a cycle, and goes up the page.
	Back bool
}

// ErrTooLarge says that a graph has more boxes and edges than can be placed.
var ErrTooLarge = errors.New("too large to be drawn")

const (
	// maxPoints bounds the points of a layout: boxes, and layers that edges cross.
	maxPoints = 150_000
	boxGap    = 24.0 // between neighbours in a layer
	lineGap   = 10.0 // likewise, if one of them is an edge
	layerGap  = 16.0 // between a layer of boxes and one of labels
	steepest  = 12.0 // horizontal distance of an edge per unit of the gap
	widestGap = 90.0
	margin    = 10.0
	loopWidth = 26.0 // of an edge from a box to itself
)

// vertex is a box, or the point of an edge in a layer.
type vertex struct {
	width, height float64
	layer, pos    int
	x             float64
	box           int // -1 for the point of an edge
	up, down      []int
}

// chain is an edge with its points, of which the first and the last are boxes, directed down
// the page.
type chain struct {
	points []int
	label  int // the point that has the label
	back   bool
}

// drawing is a layout under construction.
type drawing struct {
	boxes    []Box
	edges    []Edge
	vertices []vertex
	chains   []chain // by edge; without points if it leads from a box to itself
	layers   [][]int
	beside   []float64 // width of the edges from a box to itself
	tops     []float64 // by layer
	bottoms  []float64
}

// New lays out a graph. The first box is likely to be at the top. Edges must refer to existing
// boxes. The only error is ErrTooLarge.
func New(boxes []Box, edges []Edge) (*Layout, error) {
	d := &drawing{boxes: boxes, edges: edges, chains: make([]chain, len(edges)), beside: make([]float64, len(boxes))}
	for _, e := range edges {
		if e.From == e.To {
			d.beside[e.From] = max(d.beside[e.From], loopWidth+e.Label.Width)
		}
	}
	d.reverseCycles()
	if n := d.assignLayers(); n > maxPoints {
		return nil, fmt.Errorf("%w: %d boxes and %d edges, with %d points in %d layers", ErrTooLarge, len(boxes), len(edges), n, len(d.layers))
	}
	d.makePoints()
	d.order()
	d.place()
	return d.finish(), nil
}

// ends are the upper and the lower box of an edge.
func (d *drawing) ends(i int) (upper, lower int) {
	if d.chains[i].back {
		return d.edges[i].To, d.edges[i].From
	}
	return d.edges[i].From, d.edges[i].To
}

// reverseCycles finds the edges that close a cycle.
func (d *drawing) reverseCycles() {
	out := make([][]int, len(d.boxes)) // edges
	for i, e := range d.edges {
		out[e.From] = append(out[e.From], i)
	}
	const onPath, done = 1, 2
	state := make([]int, len(d.boxes))
	next := make([]int, len(d.boxes))
	for root := range d.boxes {
		if state[root] != 0 {
			continue
		}
		state[root] = onPath
		for path := []int{root}; len(path) > 0; {
			v := path[len(path)-1]
			if next[v] == len(out[v]) {
				state[v] = done
				path = path[:len(path)-1]
				continue
			}
			i := out[v][next[v]]
			next[v]++
			switch w := d.edges[i].To; state[w] {
			case onPath:
				d.chains[i].back = w != v
			case 0:
				state[w] = onPath
				path = append(path, w)
			}
		}
	}
}

// assignLayers gives boxes even layers, and returns the number of points that
// edges and boxes take up.
func (d *drawing) assignLayers() int {
	layer := d.longestWays()
	last := 0
	for v, b := range d.boxes {
		d.vertices = append(d.vertices, vertex{width: b.Width + d.beside[v], height: b.Height, layer: layer[v], box: v})
		last = max(last, layer[v])
	}
	d.layers = make([][]int, last+1)
	points := len(d.boxes)
	for i, e := range d.edges {
		if e.From != e.To {
			a, b := d.ends(i)
			points += layer[b] - layer[a] - 1
		}
	}
	return points
}

// longestWays assigns layers by the longest paths that lead to the boxes.
func (d *drawing) longestWays() []int {
	n := len(d.boxes)
	down, up, waits := make([][]int, n), make([]int, n), make([]int, n)
	for i, e := range d.edges {
		if e.From != e.To {
			a, b := d.ends(i)
			down[a] = append(down[a], b)
			up[b]++
			waits[b]++
		}
	}
	layer := make([]int, n)
	var sorted []int
	for v := range n {
		if waits[v] == 0 {
			sorted = append(sorted, v)
		}
	}
	for k := 0; k < len(sorted); k++ {
		for _, w := range down[sorted[k]] {
			layer[w] = max(layer[w], layer[sorted[k]]+2)
			if waits[w]--; waits[w] == 0 {
				sorted = append(sorted, w)
			}
		}
	}
	// Boxes with more edges down than up go as far down as possible.
	for _, v := range slices.Backward(sorted) {
		if len(down[v]) <= up[v] {
			continue
		}
		low := layer[down[v][0]]
		for _, w := range down[v] {
			low = min(low, layer[w])
		}
		layer[v] = max(layer[v], low-2)
	}
	return layer
}

// makePoints gives each edge a point in each layer that it crosses.
func (d *drawing) makePoints() {
	for i, e := range d.edges {
		if e.From == e.To {
			continue
		}
		a, b := d.ends(i)
		top, bottom := d.vertices[a].layer, d.vertices[b].layer
		middle := (top + bottom) / 2
		if middle%2 == 0 {
			middle--
		}
		c := &d.chains[i]
		c.points = []int{a}
		for l := top + 1; l < bottom; l++ {
			v := vertex{layer: l, box: -1}
			if l == middle {
				c.label = len(d.vertices)
				v.width, v.height = e.Label.Width, e.Label.Height
			}
			c.points = append(c.points, len(d.vertices))
			d.vertices = append(d.vertices, v)
		}
		c.points = append(c.points, b)
		for k := 1; k < len(c.points); k++ {
			u, v := c.points[k-1], c.points[k]
			d.vertices[u].down = append(d.vertices[u].down, v)
			d.vertices[v].up = append(d.vertices[v].up, u)
		}
	}
}
