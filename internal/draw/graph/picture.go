package graph

import (
	"fmt"
	"math"

	"github.com/efg-tools/efg/internal/draw/layered"
)

// ErrTooLarge reports that a graph has too many nodes and edges for a picture.
var ErrTooLarge = layered.ErrTooLarge

// canvas is what a picture is drawn on. Lengths are in points, y increases downwards.
type canvas interface {
	// begin and end enclose what belongs to a node.
	begin(name, tip string)
	end()
	box(x, y, w, h float64, fill, stroke string, dashed bool)
	curve(points []layered.Point, stroke string)
	polygon(points []layered.Point, fill string)
	text(x, y float64, s, colour string, bold bool)
}

// Measures of pictures. The font is monospaced.
const (
	fontSize   = 11.0
	charWidth  = 0.6 * fontSize
	lineHeight = 14.0
	ascent     = 10.5 // from the top of a line to its baseline
	padding    = 7.0
	arrowSize  = 8.0
	// maxLine and maxRuns bound the characters of a line, and the branch runs at an
	// edge.
	maxLine = 50
	maxRuns = 5
)

const (
	ink      = "#222222"
	forward  = "#555555"
	backward = "#2b6cb0"
	paper    = "#ffffff"
)

// Picture is a laid-out graph, ready to be drawn.
type Picture struct {
	g             *Graph
	colour        *Measure
	shares        []float64
	lines, labels [][]string // of nodes and edges
	layout        *layered.Layout
	head, left    float64 // where the graph begins: below title and legend, centred
	width, height float64
}

// Picture lays out the graph. If it is too large the error is ErrTooLarge.
func (g *Graph) Picture(colour *Measure) (*Picture, error) {
	p := &Picture{g: g, colour: colour, shares: g.shares(colour), head: lineHeight + 2*padding}
	var boxes []layered.Box
	for i := range g.Nodes {
		lines := g.labelLines(i)
		if p.shares != nil {
			lines = append(lines, fmt.Sprintf("%.1f %% %s", 100*p.shares[i], colour.text))
		}
		for k := range lines {
			lines[k] = shorten(lines[k])
		}
		p.lines = append(p.lines, lines)
		size := sizeOf(lines)
		boxes = append(boxes, layered.Box{Width: size.Width + 2*padding, Height: size.Height + 2*padding})
	}
	var edges []layered.Edge
	for i := range g.Edges {
		lines := runLines(&g.Edges[i])
		p.labels = append(p.labels, lines)
		size := sizeOf(lines)
		edges = append(edges, layered.Edge{From: g.Edges[i].From, To: g.Edges[i].To, Label: layered.Box{Width: size.Width + 6, Height: size.Height + 2}})
	}
	var err error
	if p.layout, err = layered.New(boxes, edges); err != nil {
		return nil, err
	}
	least := float64(len(p.title()))*charWidth + 2*padding
	if colour != nil {
		p.head += 2*lineHeight + padding
		least = max(least, legendWidth())
	}
	p.left = max(0, least-p.layout.Width) / 2
	p.width, p.height = math.Ceil(max(p.layout.Width, least)), math.Ceil(p.layout.Height+p.head)
	return p, nil
}

func (p *Picture) title() string {
	return fmt.Sprintf("rank %d, thread %d: %s, %s, %s", p.g.Rank, p.g.Thread, plural(p.g.Events, "call"),
		plural(uint64(len(p.g.Nodes)), "node"), plural(uint64(len(p.g.Edges)), "edge"))
}

// shorten leaves out the middle of a line that is too long: the place of a callsite is at its end.
func shorten(s string) string {
	r := []rune(s)
	if len(r) <= maxLine {
		return s
	}
	front := (maxLine - 1) * 2 / 5
	return string(r[:front]) + "…" + string(r[len(r)-(maxLine-1-front):])
}

// runLines is the label of an edge: its weight or its branch runs, one per line.
func runLines(e *Edge) []string {
	var lines []string
	for i, r := range e.Runs {
		if i == maxRuns-1 && len(e.Runs) > maxRuns {
			return append(lines, fmt.Sprintf("and %d more: %d", len(e.Runs)-i, e.Weight))
		}
		lines = append(lines, r.String())
	}
	if lines == nil {
		lines = []string{fmt.Sprint(e.Weight)}
	}
	return lines
}

func sizeOf(lines []string) layered.Box {
	longest := 0
	for _, l := range lines {
		longest = max(longest, len([]rune(l)))
	}
	return layered.Box{Width: float64(longest) * charWidth, Height: float64(len(lines)) * lineHeight}
}

// draw draws everything, below the head.
func (p *Picture) draw(c canvas) {
	p.drawHead(c)
	for i := range p.layout.Edges {
		p.drawEdge(c, i)
	}
	for i := range p.g.Nodes {
		p.drawNode(c, i)
	}
	for i := range p.layout.Edges {
		p.drawLabel(c, i)
	}
}

func (p *Picture) drawHead(c canvas) {
	y := padding
	c.text(padding, y+ascent, p.title(), ink, true)
	if p.colour == nil {
		return
	}
	y += lineHeight + padding/2
	c.text(padding, y+ascent, "share "+p.colour.text, ink, false)
	y += lineHeight
	for i := range shades {
		x := padding + float64(i)*swatch
		c.box(x, y, swatch, lineHeight, shades[i].fill, ink, false)
		c.text(x+4, y+ascent, shadeText(i), shades[i].letter, false)
	}
}

// swatch is the width of a colour of the legend.
const swatch = 15*charWidth + 8

func legendWidth() float64 { return float64(len(shades))*swatch + 2*padding }

// moved translates points to the position of the graph.
func (p *Picture) moved(points ...layered.Point) []layered.Point {
	out := make([]layered.Point, len(points))
	for i, q := range points {
		out[i] = layered.Point{X: q.X + p.left, Y: q.Y + p.head}
	}
	return out
}

func (p *Picture) drawEdge(c canvas, i int) {
	r := &p.layout.Edges[i]
	colour := forward
	if r.Back {
		colour = backward
	}
	points := p.moved(r.Points...)
	tip, from := points[len(points)-1], points[len(points)-2]
	dx, dy := tip.X-from.X, tip.Y-from.Y
	length := math.Hypot(dx, dy)
	if length == 0 {
		dx, dy, length = 0, 1, 1
	}
	dx, dy = dx/length*arrowSize, dy/length*arrowSize
	base := layered.Point{X: tip.X - dx, Y: tip.Y - dy}
	points[len(points)-1] = base
	c.curve(points, colour)
	c.polygon([]layered.Point{tip, {X: base.X - dy*0.4, Y: base.Y + dx*0.4}, {X: base.X + dy*0.4, Y: base.Y - dx*0.4}}, colour)
}

func (p *Picture) drawNode(c canvas, i int) {
	n, lines := &p.g.Nodes[i], p.lines[i]
	at, size := p.moved(p.layout.Boxes[i])[0], sizeOf(lines)
	w, h := size.Width+2*padding, size.Height+2*padding
	x, y := at.X-w/2, at.Y-h/2
	fill, letter := paper, ink
	if p.shares != nil {
		s := &shades[shadeOf(p.shares[i])]
		fill, letter = s.fill, s.letter
	}
	c.begin(p.g.Name(i), p.g.tip(i))
	c.box(x, y, w, h, fill, ink, n.Polls > 0 && !n.Collapsed)
	if n.Collapsed {
		c.box(x+2.5, y+2.5, w-5, h-5, "none", ink, false)
	}
	for k, l := range lines {
		c.text(x+padding, y+padding+float64(k)*lineHeight+ascent, l, letter, k == 0)
	}
	c.end()
}

// tip is the tooltip of a node.
func (g *Graph) tip(i int) string {
	n := &g.Nodes[i]
	s := g.Name(i) + ": " + plural(n.Calls, "call")
	if n.Time.Count > 0 {
		s += fmt.Sprintf(", %.6g s in MPI", float64(n.Time.Sum)/1e9)
	}
	if bytes := n.Sent + n.Received + n.Read + n.Written; bytes > 0 {
		s += ", " + plural(bytes, "byte")
	}
	return s
}

func (p *Picture) drawLabel(c canvas, i int) {
	at, size := p.moved(p.layout.Edges[i].Label)[0], sizeOf(p.labels[i])
	x, y := at.X-size.Width/2, at.Y-size.Height/2
	c.box(x-2, y, size.Width+4, size.Height, paper, "none", false)
	colour := forward
	if p.layout.Edges[i].Back {
		colour = backward
	}
	for k, l := range p.labels[i] {
		c.text(x, y+float64(k)*lineHeight+ascent, l, colour, false)
	}
}
