package jsondoc

import (
	"math"

	"github.com/efg-tools/efg/internal/draw/graph"
	"github.com/efg-tools/efg/internal/draw/layered"
)

// GraphLayout says where the nodes and edges of a graph are drawn; docs/api.md describes it. Lengths
// are in points, y increases downwards.
type GraphLayout struct {
	Schema string       `json:"schema"`
	File   string       `json:"file"`
	Rank   int          `json:"rank"`
	Thread uint32       `json:"thread"`
	Width  float64      `json:"width"`
	Height float64      `json:"height"`
	Nodes  []LayoutNode `json:"nodes"`
	Edges  []LayoutEdge `json:"edges"`
}

type LayoutNode struct {
	ID     string   `json:"id"`
	X      float64  `json:"x"`
	Y      float64  `json:"y"`
	Width  float64  `json:"width"`
	Height float64  `json:"height"`
	Lines  []string `json:"lines"`
}

type LayoutEdge struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Weight uint64 `json:"weight"`
	Back   bool   `json:"back,omitempty"`
	// Points are those of a chain of cubic Bézier curves, x and y of each: the start, then two control points
	// and an end for each curve.
	Points []float64  `json:"points"`
	Label  [2]float64 `json:"label"`
}

// NewGraphLayout returns the document of the layout of a graph from a file.
func NewGraphLayout(file string, g *graph.Graph, l *graph.Layout) *GraphLayout {
	j := &GraphLayout{
		Schema: "efg-graph-layout/1", File: file, Rank: g.Rank, Thread: g.Thread, Width: l.Width, Height: l.Height,
		Nodes: make([]LayoutNode, len(l.Nodes)), Edges: make([]LayoutEdge, len(l.Edges)),
	}
	for i := range l.Nodes {
		n := &l.Nodes[i]
		j.Nodes[i] = LayoutNode{ID: g.Name(i), X: tenth(n.X), Y: tenth(n.Y), Width: tenth(n.Width), Height: tenth(n.Height), Lines: n.Lines}
	}
	for i := range l.Edges {
		e, r := &g.Edges[i], &l.Edges[i]
		j.Edges[i] = LayoutEdge{From: g.Name(e.From), To: g.Name(e.To), Weight: e.Weight, Back: r.Back, Points: flat(r.Points), Label: [2]float64{tenth(r.Label.X), tenth(r.Label.Y)}}
	}
	return j
}

func flat(points []layered.Point) []float64 {
	list := make([]float64, 0, 2*len(points))
	for _, p := range points {
		list = append(list, tenth(p.X), tenth(p.Y))
	}
	return list
}

// tenth rounds a length: more digits show nothing.
func tenth(x float64) float64 { return math.Round(10*x) / 10 }
