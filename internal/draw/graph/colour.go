package graph

import "fmt"

// Measure is what nodes are coloured by: their share of it in the graph.
type Measure struct {
	Name string // as the user specifies it
	of   func(n *Node) uint64
	text string // "of the time in MPI"
}

// Measures are what nodes can be coloured by.
func Measures() []Measure {
	return []Measure{
		{"time", func(n *Node) uint64 { return n.Time.Sum }, "of the time in MPI"},
		{"calls", func(n *Node) uint64 { return n.Calls }, "of the calls"},
		{"bytes", func(n *Node) uint64 { return n.Sent + n.Received + n.Read + n.Written }, "of the bytes"},
	}
}

// shades are colours, each with the share from which a node has it. They go from light to dark,
// so that they can be distinguished in greyscale too.
var shades = []struct {
	from         float64
	fill, letter string
}{
	{0.5, "#a63603", "#ffffff"},
	{0.2, "#e6550d", "#ffffff"},
	{0.1, "#fd8d3c", "#000000"},
	{0.05, "#fdae6b", "#000000"},
	{0.01, "#fdd0a2", "#000000"},
	{0, "#feedde", "#000000"},
}

func shadeOf(share float64) int {
	for i := range shades {
		if share >= shades[i].from {
			return i
		}
	}
	return len(shades) - 1
}

// shares are the shares of all nodes; nil without a measure.
func (g *Graph) shares(m *Measure) []float64 {
	if m == nil {
		return nil
	}
	sum, list := uint64(0), make([]float64, len(g.Nodes))
	for i := range g.Nodes {
		sum += m.of(&g.Nodes[i])
	}
	for i := range g.Nodes {
		if sum > 0 {
			list[i] = float64(m.of(&g.Nodes[i])) / float64(sum)
		}
	}
	return list
}

// shadeText is the text of a shade in the legend.
func shadeText(i int) string {
	switch {
	case i == 0:
		return fmt.Sprintf("%.0f %% and more", 100*shades[i].from)
	case shades[i].from == 0:
		return fmt.Sprintf("below %.0f %%", 100*shades[i-1].from)
	}
	return fmt.Sprintf("%.0f to %.0f %%", 100*shades[i].from, 100*shades[i-1].from)
}
