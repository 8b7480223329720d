package graph

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// DOT writes the graph in the DOT language of Graphviz, with colours if there is
// a measure. An edge with branch runs is written once for each progression of
// them.
func (g *Graph) DOT(w io.Writer, colour *Measure) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "digraph \"rank %d, thread %d\" {\n", g.Rank, g.Thread)
	fmt.Fprintf(b, "\tnode [shape=box, fontname=\"Helvetica\"];\n\tedge [fontname=\"Helvetica\"];\n")
	shares := g.shares(colour)
	for i := range g.Nodes {
		label, styles, more := g.label(i), []string(nil), ""
		if g.Nodes[i].Polls > 0 && !g.Nodes[i].Collapsed {
			styles = append(styles, "dashed")
		}
		if g.Nodes[i].Collapsed {
			more = ", peripheries=2"
		}
		if shares != nil {
			s := &shades[shadeOf(shares[i])]
			label += fmt.Sprintf("\n%.1f %% %s", 100*shares[i], colour.text)
			styles = append(styles, "filled")
			more += fmt.Sprintf(", fillcolor=\"%s\", fontcolor=\"%s\"", s.fill, s.letter)
		}
		if styles != nil {
			more = fmt.Sprintf(", style=\"%s\"%s", strings.Join(styles, ","), more)
		}
		fmt.Fprintf(b, "\t%s [label=%s%s];\n", quoteName(g.Name(i)), quoteDOT(label), more)
	}
	g.dotEdges(b)
	if colour != nil {
		dotLegend(b, colour)
	}
	fmt.Fprintf(b, "}\n")
	return b.Flush()
}

// label is the label of a node; it may have several lines.
func (g *Graph) label(i int) string { return strings.Join(g.labelLines(i), "\n") }

func (g *Graph) labelLines(i int) []string {
	n := &g.Nodes[i]
	var lines []string
	if n.Collapsed {
		l := &g.Loops[n.Loop]
		kind := "loop "
		if l.Irreducible {
			kind = "irreducible loop "
		}
		lines = append(lines, kind+l.Number, l.IterationsText(), "begins with "+n.Op, n.Site,
			plural(uint64(len(l.Nodes)), "node")+", "+plural(n.Calls, "call"))
	} else {
		lines = append(append(lines, n.Op), n.Args...)
		lines = append(lines, n.Site)
		if n.Polls > 0 {
			lines = append(lines, fmt.Sprintf("%d polls, not in the sequence", n.Polls))
		}
	}
	return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
}

// dotEdges writes the edges of a node, ordered by their first branch runs.
func (g *Graph) dotEdges(b *bufio.Writer) {
	for i := 0; i < len(g.Edges); {
		j := i
		var list []dotEdge
		for ; j < len(g.Edges) && g.Edges[j].From == g.Edges[i].From; j++ {
			list = appendDOTEdges(list, &g.Edges[j])
		}
		sortByFirst(list)
		for _, e := range list {
			fmt.Fprintf(b, "\t%s -> %s [label=\"%s\"];\n", quoteName(g.Name(g.Edges[i].From)), quoteName(g.Name(e.to)), e.label)
		}
		i = j
	}
}

func dotLegend(b *bufio.Writer, m *Measure) {
	fmt.Fprintf(b, "\tsubgraph cluster_legend {\n\t\tlabel=\"share %s\";\n\t\tfontname=\"Helvetica\";\n", m.text)
	for i, s := range shades {
		fmt.Fprintf(b, "\t\tlegend%d [label=\"%s\", style=\"filled\", fillcolor=\"%s\", fontcolor=\"%s\"];\n", i, shadeText(i), s.fill, s.letter)
	}
	for i := range shades[1:] {
		fmt.Fprintf(b, "\t\tlegend%d -> legend%d [style=invis];\n", i, i+1)
	}
	fmt.Fprintf(b, "\t}\n")
}

// quoteName quotes a name, if DOT needs it.
func quoteName(name string) string {
	if strings.Contains(name, ".") {
		return `"` + name + `"`
	}
	return name
}

// quoteDOT quotes a label; its lines are left-aligned.
func quoteDOT(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\l`).Replace(s)
	return `"` + s + `\l"`
}
