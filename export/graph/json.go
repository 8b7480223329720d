package graph

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/efg-tools/efg/analysis"
)

// The JSON form is documented in docs/graph.md. Times are in nanoseconds.
type graphJSON struct {
	Schema string     `json:"schema"`
	File   string     `json:"file"`
	Rank   int        `json:"rank"`
	Thread uint32     `json:"thread"`
	Events uint64     `json:"events"`
	Timed  bool       `json:"timed"`
	Start  string     `json:"start,omitempty"`
	Nodes  []nodeJSON `json:"nodes"`
	Edges  []edgeJSON `json:"edges"`
	Loops  []loopJSON `json:"loops"`
}

type nodeJSON struct {
	ID       string    `json:"id"`
	Op       string    `json:"op"`
	Args     []string  `json:"args"`
	Site     string    `json:"site"`
	Words    []string  `json:"words,omitempty"`
	Mask     string    `json:"mask,omitempty"`
	Loop     string    `json:"loop,omitempty"`
	Collapse bool      `json:"collapsed,omitempty"`
	Calls    uint64    `json:"calls"`
	Polls    uint64    `json:"polls,omitempty"`
	Errors   uint64    `json:"errors"`
	Sent     uint64    `json:"sent"`
	Received uint64    `json:"received"`
	Read     uint64    `json:"read"`
	Written  uint64    `json:"written"`
	Messages uint64    `json:"messages"`
	Receives uint64    `json:"receives"`
	Unknown  uint64    `json:"unknown"`
	Time     *timeJSON `json:"time,omitempty"`
	Gap      *timeJSON `json:"gap,omitempty"`
}

type timeJSON struct {
	Count uint64 `json:"count"`
	Sum   uint64 `json:"sum"`
	Min   uint64 `json:"min"`
	Max   uint64 `json:"max"`
}

type edgeJSON struct {
	From   string    `json:"from"`
	To     string    `json:"to"`
	Weight uint64    `json:"weight"`
	Runs   []runJSON `json:"runs,omitempty"`
}

type runJSON struct {
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Stride uint64 `json:"stride"`
	Count  uint64 `json:"count"`
}

type loopJSON struct {
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

// JSON writes everything as one object; file is what it says of where the graph
// comes from.
func (g *Graph) JSON(w io.Writer, file string) error {
	j := graphJSON{
		Schema: "efg-graph/1", File: file, Rank: g.Rank, Thread: g.Thread, Events: g.Events, Timed: g.Timed,
		Nodes: make([]nodeJSON, len(g.Nodes)), Edges: make([]edgeJSON, len(g.Edges)), Loops: make([]loopJSON, len(g.Loops)),
	}
	if g.start >= 0 {
		j.Start = g.Name(g.start)
	}
	for i := range g.Nodes {
		j.Nodes[i] = g.nodeAsJSON(i)
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		j.Edges[i] = edgeJSON{From: g.Name(e.From), To: g.Name(e.To), Weight: e.Weight}
		for _, r := range e.Runs {
			j.Edges[i].Runs = append(j.Edges[i].Runs, runJSON{r.First, r.Last, r.Stride, r.Count})
		}
	}
	for i := range g.Loops {
		l := &g.Loops[i]
		j.Loops[i] = loopJSON{
			Number: l.Number, Depth: l.Depth, Header: fmt.Sprint("n", l.Header), Headers: names(l.Headers), Entrances: names(l.Entrances), Irreducible: l.Irreducible,
			Nodes: names(l.Nodes), Entries: l.Entries, Iterations: l.Iterations, Least: l.Least, Most: l.Most,
		}
	}
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(&j); err != nil {
		return err
	}
	return b.Flush()
}

func names(nodes []int) []string {
	list := make([]string, len(nodes))
	for i, v := range nodes {
		list[i] = fmt.Sprint("n", v)
	}
	return list
}

func (g *Graph) nodeAsJSON(i int) nodeJSON {
	n := &g.Nodes[i]
	j := nodeJSON{
		ID: g.Name(i), Op: n.Op, Args: n.Args, Site: n.Site, Collapse: n.Collapsed, Calls: n.Calls, Polls: n.Polls, Errors: n.Errors,
		Sent: n.Sent, Received: n.Received, Read: n.Read, Written: n.Written, Messages: n.Messages, Receives: n.Receives,
		Unknown: n.Unknown, Time: timeAsJSON(&n.Time), Gap: timeAsJSON(&n.Gap),
	}
	if n.Args == nil {
		j.Args = []string{}
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

func timeAsJSON(t *analysis.Times) *timeJSON {
	if t.Count == 0 {
		return nil
	}
	return &timeJSON{t.Count, t.Sum, t.Min, t.Max}
}
