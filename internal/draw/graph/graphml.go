package graph

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// mlKey is a declared attribute of GraphML.
type mlKey struct {
	id, on, name, kind string
	value              func(g *Graph, i int) (text string, ok bool)
}

func number(of func(n *Node) uint64) func(g *Graph, i int) (string, bool) {
	return func(g *Graph, i int) (string, bool) { return fmt.Sprint(of(&g.Nodes[i])), true }
}

// timed is a number that exists only if the node has times.
func timed(of func(n *Node) uint64) func(g *Graph, i int) (string, bool) {
	return func(g *Graph, i int) (string, bool) { return fmt.Sprint(of(&g.Nodes[i])), g.Nodes[i].Time.Count > 0 }
}

func text(of func(g *Graph, n *Node) string) func(g *Graph, i int) (string, bool) {
	return func(g *Graph, i int) (string, bool) {
		s := of(g, &g.Nodes[i])
		return s, s != ""
	}
}

// mlKeys are the attributes, in the order in which they are written.
var mlKeys = []mlKey{
	{"rank", "graph", "rank", "int", func(g *Graph, _ int) (string, bool) { return fmt.Sprint(g.Rank), true }},
	{"thread", "graph", "thread", "int", func(g *Graph, _ int) (string, bool) { return fmt.Sprint(g.Thread), true }},
	{"events", "graph", "events", "long", func(g *Graph, _ int) (string, bool) { return fmt.Sprint(g.Events), true }},
	{"start", "graph", "start", "string", func(g *Graph, _ int) (string, bool) {
		if g.start < 0 {
			return "", false
		}
		return g.Name(g.start), true
	}},
	{"label", "node", "label", "string", func(g *Graph, i int) (string, bool) { return g.label(i), true }},
	{"op", "node", "op", "string", text(func(_ *Graph, n *Node) string { return n.Op })},
	{"args", "node", "args", "string", text(func(_ *Graph, n *Node) string { return strings.Join(n.Args, "\n") })},
	{"site", "node", "site", "string", text(func(_ *Graph, n *Node) string { return n.Site })},
	{"words", "node", "words", "string", text(func(_ *Graph, n *Node) string { return hexWords(n.Words) })},
	{"mask", "node", "mask", "string", text(func(_ *Graph, n *Node) string { return fmt.Sprintf("%x", n.Mask) })},
	{"loop", "node", "loop", "string", text(func(g *Graph, n *Node) string {
		if n.Loop < 0 {
			return ""
		}
		return g.Loops[n.Loop].Number
	})},
	{"iterations", "node", "iterations", "long", func(g *Graph, i int) (string, bool) {
		n := &g.Nodes[i]
		if !n.Collapsed {
			return "", false
		}
		return fmt.Sprint(g.Loops[n.Loop].Iterations), true
	}},
	{"calls", "node", "calls", "long", number(func(n *Node) uint64 { return n.Calls })},
	{"polls", "node", "polls", "long", number(func(n *Node) uint64 { return n.Polls })},
	{"errors", "node", "errors", "long", number(func(n *Node) uint64 { return n.Errors })},
	{"sent", "node", "sent", "long", number(func(n *Node) uint64 { return n.Sent })},
	{"received", "node", "received", "long", number(func(n *Node) uint64 { return n.Received })},
	{"read", "node", "read", "long", number(func(n *Node) uint64 { return n.Read })},
	{"written", "node", "written", "long", number(func(n *Node) uint64 { return n.Written })},
	{"messages", "node", "messages", "long", number(func(n *Node) uint64 { return n.Messages })},
	{"receives", "node", "receives", "long", number(func(n *Node) uint64 { return n.Receives })},
	{"unknown", "node", "unknown", "long", number(func(n *Node) uint64 { return n.Unknown })},
	{"time", "node", "time", "long", timed(func(n *Node) uint64 { return n.Time.Sum })},
	{"time_min", "node", "time_min", "long", timed(func(n *Node) uint64 { return n.Time.Min })},
	{"time_max", "node", "time_max", "long", timed(func(n *Node) uint64 { return n.Time.Max })},
	{"gap", "node", "gap", "long", timed(func(n *Node) uint64 { return n.Gap.Sum })},
	{"gap_min", "node", "gap_min", "long", timed(func(n *Node) uint64 { return n.Gap.Min })},
	{"gap_max", "node", "gap_max", "long", timed(func(n *Node) uint64 { return n.Gap.Max })},
	{"shared", "node", "shared", "boolean", func(g *Graph, i int) (string, bool) { return "true", g.Nodes[i].Shared }},
	{"weight", "edge", "weight", "long", func(g *Graph, i int) (string, bool) { return fmt.Sprint(g.Edges[i].Weight), true }},
	{"runs", "edge", "runs", "string", func(g *Graph, i int) (string, bool) {
		var list []string
		for _, r := range g.Edges[i].Runs {
			list = append(list, r.String())
		}
		return strings.Join(list, ";"), list != nil
	}},
}

func hexWords(words []uint64) string {
	var list []string
	for _, w := range words {
		list = append(list, fmt.Sprintf("%016x", w))
	}
	return strings.Join(list, " ")
}

const mlHead = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
         xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
         xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
`

// GraphML writes all data of nodes and edges as declared attributes.
func (g *Graph) GraphML(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString(mlHead)
	for _, k := range mlKeys {
		fmt.Fprintf(b, "  <key id=\"%s\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>\n", k.id, k.on, k.name, k.kind)
	}
	fmt.Fprintf(b, "  <graph id=\"g\" edgedefault=\"directed\">\n")
	g.mlData(b, "    ", "graph", 0)
	for i := range g.Nodes {
		fmt.Fprintf(b, "    <node id=\"%s\">\n", g.Name(i))
		g.mlData(b, "      ", "node", i)
		fmt.Fprintf(b, "    </node>\n")
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		fmt.Fprintf(b, "    <edge id=\"e%d\" source=\"%s\" target=\"%s\">\n", i, g.Name(e.From), g.Name(e.To))
		g.mlData(b, "      ", "edge", i)
		fmt.Fprintf(b, "    </edge>\n")
	}
	fmt.Fprintf(b, "  </graph>\n</graphml>\n")
	return b.Flush()
}

// mlData writes the attributes of the graph, a node or an edge.
func (g *Graph) mlData(b *bufio.Writer, indent, on string, i int) {
	for _, k := range mlKeys {
		if k.on != on {
			continue
		}
		if value, ok := k.value(g, i); ok {
			fmt.Fprintf(b, "%s<data key=\"%s\">", indent, k.id)
			xml.EscapeText(b, []byte(value)) // errors are kept in b
			fmt.Fprintf(b, "</data>\n")
		}
	}
}
