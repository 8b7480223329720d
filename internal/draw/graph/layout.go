package graph

import (
	"fmt"
	"math"

	"github.com/efg-tools/efg/internal/draw/layered"
)

// MaxLaidOut bounds the nodes and edges of a graph that is laid out for a reader who waits, which
// then takes at most about a second.
const MaxLaidOut = 5000

// Layout says where the nodes and edges of a graph are, in points, for those who draw it themselves.
// Nodes and Edges are in the order of the graph's.
type Layout struct {
	Width, Height float64
	Nodes         []NodeBox
	Edges         []layered.Route
}

// NodeBox is the box of a node, around X and Y.
type NodeBox struct {
	X, Y, Width, Height float64
	Lines               []string
}

// LayoutOptions are what a layout has room for.
type LayoutOptions struct {
	Arguments bool // lines with the arguments of calls
	// Room are the characters of a further line in each node, which whoever draws it fills; 0: none.
	Room int
}

// maxArguments bounds the lines of arguments of a node in a layout.
const maxArguments = 6

// Layout lays out the graph, for a monospaced font of the size of pictures. Edges are labelled with
// their weights. If it is too large the error is ErrTooLarge.
func (g *Graph) Layout(opt LayoutOptions) (*Layout, error) {
	if len(g.Nodes)+len(g.Edges) > MaxLaidOut {
		return nil, fmt.Errorf("%w: %d nodes and %d edges, more than %d", ErrTooLarge, len(g.Nodes), len(g.Edges), MaxLaidOut)
	}
	out := &Layout{}
	var boxes []layered.Box
	for i := range g.Nodes {
		lines := g.layoutLines(i, opt.Arguments)
		size := sizeOf(lines)
		if opt.Room > 0 {
			size.Height += lineHeight
			size.Width = max(size.Width, float64(opt.Room)*charWidth)
		}
		b := layered.Box{Width: size.Width + 2*padding, Height: size.Height + 2*padding}
		boxes = append(boxes, b)
		out.Nodes = append(out.Nodes, NodeBox{Width: b.Width, Height: b.Height, Lines: lines})
	}
	var edges []layered.Edge
	for i := range g.Edges {
		e := &g.Edges[i]
		digits := len(fmt.Sprint(e.Weight))
		label := layered.Box{Width: float64(digits+(digits-1)/3)*charWidth + 6, Height: lineHeight + 2} // separators between thousands
		edges = append(edges, layered.Edge{From: e.From, To: e.To, Label: label})
	}
	l, err := layered.New(boxes, edges)
	if err != nil {
		return nil, err
	}
	out.Width, out.Height, out.Edges = math.Ceil(l.Width), math.Ceil(l.Height), l.Edges
	for i, at := range l.Boxes {
		out.Nodes[i].X, out.Nodes[i].Y = at.X, at.Y
	}
	return out, nil
}

// layoutLines are the lines of a node without its share, none longer than maxLine.
func (g *Graph) layoutLines(i int, arguments bool) []string {
	n := &g.Nodes[i]
	var lines []string
	if n.Collapsed {
		lines = g.labelLines(i)
	} else {
		lines = append(lines, n.Op)
		if arguments {
			lines = append(lines, n.Args[:min(len(n.Args), maxArguments)]...)
			if len(n.Args) > maxArguments {
				lines = append(lines, "…")
			}
		}
		if n.Site != "" {
			lines = append(lines, n.Site)
		}
		if n.Calls != 1 {
			lines = append(lines, plural(n.Calls, "call"))
		}
	}
	for k := range lines {
		lines[k] = shorten(lines[k])
	}
	return lines
}
