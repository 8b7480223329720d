package jsondoc

import (
	"fmt"

	"github.com/efg-tools/efg/internal/draw/graph"
)

// Graph is the event flow graph of a thread; docs/graph.md describes it. Times are in
// nanoseconds.
type Graph struct {
	Schema string      `json:"schema"`
	File   string      `json:"file"`
	Rank   int         `json:"rank"`
	Thread uint32      `json:"thread"`
	Events uint64      `json:"events"`
	Timed  bool        `json:"timed"`
	Start  string      `json:"start,omitempty"`
	Nodes  []GraphNode `json:"nodes"`
	Edges  []GraphEdge `json:"edges"`
	Loops  []GraphLoop `json:"loops"`
}

type GraphNode struct {
	ID       string   `json:"id"`
	Op       string   `json:"op"`
	Args     []string `json:"args"`
	Site     string   `json:"site"`
	Words    []string `json:"words,omitempty"`
	Mask     string   `json:"mask,omitempty"`
	Loop     string   `json:"loop,omitempty"`
	Collapse bool     `json:"collapsed,omitempty"`
	Polls    uint64   `json:"polls,omitempty"`
	Counts
	Time *Interval `json:"time,omitempty"`
	Gap  *Interval `json:"gap,omitempty"`
	// Shared: min, max and bins are those of all nodes that differ from this one in their call paths alone.
	Shared bool `json:"shared,omitempty"`
}

type GraphEdge struct {
	From   string      `json:"from"`
	To     string      `json:"to"`
	Weight uint64      `json:"weight"`
	Runs   []BranchRun `json:"runs,omitempty"`
}

// BranchRun are branch runs whose sequence numbers form an arithmetic progression.
type BranchRun struct {
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Stride uint64 `json:"stride"`
	Count  uint64 `json:"count"`
}

type GraphLoop struct {
	Number      string   `json:"number"`
	Depth       int      `json:"depth"`
	Header      string   `json:"header"`
	Headers     []string `json:"headers"`
	Entrances   []string `json:"entrances"`
	Irreducible bool     `json:"irreducible"`
	Nodes       []string `json:"nodes"`
	Entries     uint64   `json:"entries"`
	Iterations  uint64   `json:"iterations"`
	Least       uint64   `json:"least"`
	Most        uint64   `json:"most"`
}

// NewGraph returns the document of a graph from a file.
func NewGraph(file string, g *graph.Graph) *Graph {
	j := &Graph{
		Schema: "efg-graph/1", File: file, Rank: g.Rank, Thread: g.Thread, Events: g.Events, Timed: g.Timed, Start: g.Start(),
		Nodes: make([]GraphNode, len(g.Nodes)), Edges: make([]GraphEdge, len(g.Edges)), Loops: make([]GraphLoop, len(g.Loops)),
	}
	for i := range g.Nodes {
		j.Nodes[i] = asGraphNode(g, i)
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		j.Edges[i] = GraphEdge{From: g.Name(e.From), To: g.Name(e.To), Weight: e.Weight}
		for _, r := range e.Runs {
			j.Edges[i].Runs = append(j.Edges[i].Runs, BranchRun{r.First, r.Last, r.Stride, r.Count})
		}
	}
	for i := range g.Loops {
		l := &g.Loops[i]
		j.Loops[i] = GraphLoop{
			Number: l.Number, Depth: l.Depth, Header: fmt.Sprint("n", l.Header), Headers: nodeNames(l.Headers), Entrances: nodeNames(l.Entrances),
			Irreducible: l.Irreducible, Nodes: nodeNames(l.Nodes), Entries: l.Entries, Iterations: l.Iterations, Least: l.Least, Most: l.Most,
		}
	}
	return j
}

// nodeNames are the names of nodes of a graph without collapsed loops.
func nodeNames(nodes []int) []string {
	list := make([]string, len(nodes))
	for i, v := range nodes {
		list[i] = fmt.Sprint("n", v)
	}
	return list
}

func asGraphNode(g *graph.Graph, i int) GraphNode {
	n := &g.Nodes[i]
	j := GraphNode{
		ID: g.Name(i), Op: n.Op, Args: append([]string{}, n.Args...), Site: n.Site, Collapse: n.Collapsed, Polls: n.Polls,
		Counts: asCounts(&n.Row), Time: asInterval(&n.Time), Gap: asInterval(&n.Gap), Shared: n.Shared,
	}
	for _, w := range n.Words {
		j.Words = append(j.Words, fmt.Sprintf("%016x", w))
	}
	if n.Mask != 0 {
		j.Mask = fmt.Sprintf("%x", n.Mask)
	}
	if n.Loop >= 0 {
		j.Loop = g.Loops[n.Loop].Number
	}
	return j
}
