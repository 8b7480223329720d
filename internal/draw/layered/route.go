package layered

import (
	"cmp"
	"math"
	"slices"
)

// finish computes positions and routes.
func (d *drawing) finish() *Layout {
	d.placeLayers()
	left, right := 0.0, 0.0
	for i := range d.vertices {
		v := &d.vertices[i]
		if i == 0 || v.x-v.width/2 < left {
			left = v.x - v.width/2
		}
		right = max(right, v.x+v.width/2)
	}
	for i := range d.vertices {
		d.vertices[i].x += margin - left
	}
	out := &Layout{Width: right - left + 2*margin, Edges: make([]Route, len(d.edges))}
	if len(d.bottoms) > 0 {
		out.Height = d.bottoms[len(d.bottoms)-1] + margin
	}
	for i := range d.boxes {
		v := &d.vertices[i]
		out.Boxes = append(out.Boxes, Point{v.x - d.beside[i]/2, (d.tops[v.layer] + d.bottoms[v.layer]) / 2})
	}
	ports := d.ports(out)
	for i := range d.edges {
		if d.edges[i].From == d.edges[i].To {
			out.Edges[i] = d.selfLoopRoute(i, out)
		} else {
			out.Edges[i] = d.route(i, out, ports[i])
		}
	}
	return out
}

// placeLayers assigns y coordinates to the layers. Where edges go far sideways between two
// layers, these are further apart.
func (d *drawing) placeLayers() {
	y := margin
	for _, layer := range d.layers {
		height, aside := 0.0, 0.0
		for _, v := range layer {
			height = max(height, d.vertices[v].height)
			for _, w := range d.vertices[v].down {
				aside = max(aside, math.Abs(d.vertices[v].x-d.vertices[w].x))
			}
		}
		d.tops = append(d.tops, y)
		d.bottoms = append(d.bottoms, y+height)
		y += height + max(layerGap, min(aside/steepest, widestGap))
	}
}

// selfLoopRoute is the route of an edge from a box to itself, on its right side.
func (d *drawing) selfLoopRoute(i int, out *Layout) Route {
	e := &d.edges[i]
	c, b := out.Boxes[e.From], d.boxes[e.From]
	x, dy := c.X+b.Width/2, min(b.Height/4, 14)
	return Route{
		Points: []Point{{x, c.Y - dy}, {x + loopWidth, c.Y - dy}, {x + loopWidth, c.Y + dy}, {x, c.Y + dy}},
		Label:  Point{x + loopWidth*0.8 + e.Label.Width/2, c.Y}, Back: true,
	}
}

// port is where an edge leaves the upper box and reaches the lower one.
type port struct{ upper, lower float64 }

// end is an edge at a side of a box, and the x of the next point of its route.
type end struct {
	edge int
	x    float64
}

// ports spreads the edges at each side of a box in the order of their next points.
func (d *drawing) ports(out *Layout) []port {
	ports := make([]port, len(d.edges))
	below, above := make([][]end, len(d.boxes)), make([][]end, len(d.boxes))
	for i := range d.chains {
		p := d.chains[i].points
		if p == nil {
			continue
		}
		a, b := p[0], p[len(p)-1]
		below[a] = append(below[a], end{i, d.vertices[p[1]].x})
		above[b] = append(above[b], end{i, d.vertices[p[len(p)-2]].x})
	}
	spread := func(ends []end, box int, set func(edge int, x float64)) {
		slices.SortStableFunc(ends, func(p, q end) int { return cmp.Compare(p.x, q.x) })
		step := min(14, 0.8*d.boxes[box].Width/float64(max(len(ends), 1)))
		for k, e := range ends {
			set(e.edge, out.Boxes[box].X+step*(float64(k)-float64(len(ends)-1)/2))
		}
	}
	for v := range d.boxes {
		spread(below[v], v, func(edge int, x float64) { ports[edge].upper = x })
		spread(above[v], v, func(edge int, x float64) { ports[edge].lower = x })
	}
	return ports
}

// route is the route of an edge through its points: straight through layers, curved between
// them.
func (d *drawing) route(i int, out *Layout, p port) Route {
	c := &d.chains[i]
	upper, lower := c.points[0], c.points[len(c.points)-1]
	way := []Point{{p.upper, out.Boxes[upper].Y + d.boxes[upper].Height/2}}
	for _, v := range c.points[1 : len(c.points)-1] {
		x, l := d.vertices[v].x, d.vertices[v].layer
		way = curve(way, Point{x, d.tops[l]})
		way = curve(way, Point{x, d.bottoms[l]})
	}
	way = curve(way, Point{p.lower, out.Boxes[lower].Y - d.boxes[lower].Height/2})
	r := Route{Points: way, Back: c.back}
	if c.back {
		slices.Reverse(r.Points)
	}
	l := d.vertices[c.label].layer
	r.Label = Point{d.vertices[c.label].x, (d.tops[l] + d.bottoms[l]) / 2}
	return r
}

// curve continues to a point, vertical at both ends.
func curve(way []Point, to Point) []Point {
	from := way[len(way)-1]
	if from == to {
		return way
	}
	if from.X == to.X && len(way) > 1 && way[len(way)-4].X == to.X && way[len(way)-2].X == to.X {
		way = way[:len(way)-3] // straight on
		from = way[len(way)-1]
	}
	middle := (from.Y + to.Y) / 2
	return append(way, Point{from.X, middle}, Point{to.X, middle}, to)
}
