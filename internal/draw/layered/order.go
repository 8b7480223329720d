package layered

import (
	"cmp"
	"slices"
)

const (
	// maxSweeps bounds the sweeps over the layers, patience the consecutive ones without
	// improvement.
	maxSweeps = 24
	patience  = 6
	// sweepWork bounds sweeps times points.
	sweepWork = 3_000_000
)

// order arranges the vertices of each layer with few crossings.
func (d *drawing) order() {
	d.firstOrder()
	best, least := d.positions(), d.crossings()
	sweeps := min(maxSweeps, max(2, sweepWork/(len(d.vertices)+1)))
	for i, idle := 0, 0; i < sweeps && idle < patience && least > 0; i++ {
		d.sweep(i%2 == 0)
		if n := d.crossings(); n < least {
			best, least, idle = d.positions(), n, 0
		} else {
			idle++
		}
	}
	for v, pos := range best {
		d.vertices[v].pos = pos
	}
	for _, layer := range d.layers {
		slices.SortFunc(layer, func(u, v int) int { return cmp.Compare(d.vertices[u].pos, d.vertices[v].pos) })
	}
}

// firstOrder arranges the vertices in the order in which a depth-first search visits them.
func (d *drawing) firstOrder() {
	seen := make([]bool, len(d.vertices))
	for root := range d.boxes {
		if seen[root] {
			continue
		}
		seen[root] = true
		for stack := []int{root}; len(stack) > 0; {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			x := &d.vertices[v]
			x.pos = len(d.layers[x.layer])
			d.layers[x.layer] = append(d.layers[x.layer], v)
			for _, w := range slices.Backward(x.down) {
				if !seen[w] {
					seen[w] = true
					stack = append(stack, w)
				}
			}
		}
	}
}

func (d *drawing) positions() []int {
	list := make([]int, len(d.vertices))
	for v := range d.vertices {
		list[v] = d.vertices[v].pos
	}
	return list
}

// sweep orders each layer by the barycentres of the neighbours in the layer
// before, from the top down or from the bottom up.
func (d *drawing) sweep(downward bool) {
	centre := make([]float64, len(d.vertices))
	for k := range d.layers {
		layer := d.layers[k]
		if !downward {
			layer = d.layers[len(d.layers)-1-k]
		}
		for _, v := range layer {
			near := d.vertices[v].up
			if !downward {
				near = d.vertices[v].down
			}
			sum := 0
			for _, w := range near {
				sum += d.vertices[w].pos
			}
			centre[v] = float64(d.vertices[v].pos)
			if len(near) > 0 {
				centre[v] = float64(sum) / float64(len(near))
			}
		}
		slices.SortStableFunc(layer, func(u, v int) int { return cmp.Compare(centre[u], centre[v]) })
		for i, v := range layer {
			d.vertices[v].pos = i
		}
	}
}

// crossings counts the pairs of edges that cross between layers.
func (d *drawing) crossings() int {
	total := 0
	var tree, ends []int
	for k := 1; k < len(d.layers); k++ {
		n := len(d.layers[k])
		tree = append(tree[:0], make([]int, n+1)...)
		count := 0
		for _, u := range d.layers[k-1] {
			ends = ends[:0]
			for _, v := range d.vertices[u].down {
				ends = append(ends, d.vertices[v].pos)
			}
			for _, pos := range ends { // earlier ones that end further right
				total += count
				for i := pos + 1; i > 0; i &= i - 1 {
					total -= tree[i]
				}
			}
			for _, pos := range ends {
				count++
				for i := pos + 1; i <= n; i += i & -i {
					tree[i]++
				}
			}
		}
	}
	return total
}
