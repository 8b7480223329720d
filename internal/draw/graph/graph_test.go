package graph_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/draw/graph"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

var programs = []sim.Config{
	{Program: "halo", Ranks: 8, Steps: 57, Stats: true, Null: true}, {Program: "farm", Ranks: 4, Steps: 30},
	{Program: "mesh", Ranks: 4, Steps: 40, Stats: true}, {Program: "random", Ranks: 3, Steps: 80},
}

// walk lists the nodes of a stream's events.
func walk(t *testing.T, run *runfile.Run, proc int) []int {
	t.Helper()
	p, err := run.Process(proc)
	if err != nil {
		t.Fatal(err)
	}
	var nodes []int
	w := p.Streams[0].Walk(p.Defs)
	for w.Next() {
		nodes = append(nodes, w.Node())
	}
	if w.Err() != nil {
		t.Fatal(w.Err())
	}
	return nodes
}

func each(t *testing.T, f func(t *testing.T, run *runfile.Run, proc int, g *graph.Graph)) {
	for _, c := range programs {
		run := testrun.Simulated(t, c)
		for i := range run.Procs {
			t.Run(fmt.Sprintf("%s/%d", c.Program, i), func(t *testing.T) {
				g, err := graph.Build(run, i, 0)
				if err != nil {
					t.Fatal(err)
				}
				f(t, run, i, g)
			})
		}
	}
}

// sequence is the part of the JSON form that determines the order of the events.
type sequence struct {
	Schema, Start string
	Events        int
	Nodes         []struct {
		ID    string
		Calls uint64
	}
	Edges []struct {
		From, To string
		Weight   uint64
		Runs     []struct{ First, Last, Stride, Count uint64 }
	}
	Loops []struct{ Nodes []string }
}

// run is a branch run.
type run struct {
	number, count uint64
	to            string
}

// follow walks the graph as its numbers say.
func (d *sequence) follow() []string {
	next := map[string][]run{}
	for _, e := range d.Edges {
		if e.Runs == nil {
			next[e.From] = append(next[e.From], run{1, e.Weight, e.To})
		}
		for _, r := range e.Runs {
			for n := r.First; n <= r.Last; n += max(r.Stride, 1) {
				next[e.From] = append(next[e.From], run{n, r.Count, e.To})
			}
		}
	}
	for _, list := range next {
		slices.SortFunc(list, func(x, y run) int { return int(x.number) - int(y.number) })
	}
	var events []string
	for at := d.Start; ; {
		events = append(events, at)
		list := next[at]
		if len(list) == 0 {
			return events
		}
		r := &list[0]
		if r.count--; r.count == 0 {
			next[at] = list[1:]
		}
		at = r.to
	}
}

// The JSON form determines the sequence of the events.
func TestJSONHoldsTheSequence(t *testing.T) {
	each(t, func(t *testing.T, run *runfile.Run, proc int, g *graph.Graph) {
		var b bytes.Buffer
		if err := jsondoc.Write(&b, jsondoc.NewGraph("x", g)); err != nil {
			t.Fatal(err)
		}
		var d sequence
		if err := json.Unmarshal(b.Bytes(), &d); err != nil || d.Schema != "efg-graph/1" {
			t.Fatal(err)
		}
		var want []string
		for _, v := range walk(t, run, proc) {
			want = append(want, fmt.Sprint("n", v))
		}
		if got := d.follow(); !slices.Equal(got, want) || d.Events != len(want) {
			t.Errorf("%d of %d events: %v, want %v", d.Events, len(want), got, want)
		}
	})
}

// Collapsed graphs equal those that collapsing the list of events yields.
func TestCollapse(t *testing.T) {
	each(t, func(t *testing.T, run *runfile.Run, proc int, g *graph.Graph) {
		events := walk(t, run, proc)
		for depth := 1; depth < 4; depth++ {
			c := g.Collapse(depth)
			name := func(v int) string {
				for i := range g.Loops {
					if l := &g.Loops[i]; l.Depth == depth && slices.Contains(l.Nodes, v) {
						return "loop" + l.Number
					}
				}
				return fmt.Sprint("n", v)
			}
			calls, steps := map[string]uint64{}, map[string]uint64{}
			before := ""
			for _, v := range events {
				n := name(v)
				calls[n]++
				if before != "" && (before != n || n[0] == 'n') {
					steps[before+" "+n]++
				}
				before = n
			}
			for i := range c.Nodes {
				if c.Nodes[i].Calls != calls[c.Name(i)] {
					t.Errorf("%s has %d calls, want %d", c.Name(i), c.Nodes[i].Calls, calls[c.Name(i)])
				}
			}
			for _, e := range c.Edges {
				key := c.Name(e.From) + " " + c.Name(e.To)
				if e.Weight != steps[key] {
					t.Errorf("%s: %d steps, want %d", key, e.Weight, steps[key])
				}
				delete(steps, key)
			}
			if len(c.Nodes) != len(calls) || len(steps) > 0 {
				t.Errorf("%d nodes, want %d; steps that lack: %v", len(c.Nodes), len(calls), steps)
			}
		}
	})
}

// declared is a key of GraphML, datum an attribute by its key.
type (
	declared struct {
		ID   string `xml:"id,attr"`
		For  string `xml:"for,attr"`
		Name string `xml:"attr.name,attr"`
		Type string `xml:"attr.type,attr"`
	}
	datum struct {
		Key  string `xml:"key,attr"`
		Text string `xml:",chardata"`
	}
)

// readGraphML reads a document as other programs do: attributes by declared keys.
func readGraphML(t *testing.T, data []byte) (nodes map[string]map[string]string, edges []map[string]string) {
	t.Helper()
	var doc struct {
		XMLName xml.Name   `xml:"http://graphml.graphdrawing.org/xmlns graphml"`
		Keys    []declared `xml:"key"`
		Graph   struct {
			Default string  `xml:"edgedefault,attr"`
			Data    []datum `xml:"data"`
			Nodes   []struct {
				ID   string  `xml:"id,attr"`
				Data []datum `xml:"data"`
			} `xml:"node"`
			Edges []struct {
				Source string  `xml:"source,attr"`
				Target string  `xml:"target,attr"`
				Data   []datum `xml:"data"`
			} `xml:"edge"`
		} `xml:"graph"`
	}
	if err := xml.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	read := func(on string, list []datum) map[string]string {
		out := map[string]string{}
		for _, d := range list {
			i := slices.IndexFunc(doc.Keys, func(k declared) bool { return k.ID == d.Key && k.For == on })
			if i < 0 {
				t.Fatalf("%s has %s, which is not declared", on, d.Key)
			}
			if kind := doc.Keys[i].Type; kind == "long" || kind == "int" {
				if _, err := strconv.ParseInt(d.Text, 10, 64); err != nil {
					t.Errorf("%s of %s: %v", d.Key, on, err)
				}
			}
			out[doc.Keys[i].Name] = d.Text
		}
		return out
	}
	read("graph", doc.Graph.Data)
	nodes = map[string]map[string]string{}
	for _, n := range doc.Graph.Nodes {
		if nodes[n.ID] != nil {
			t.Errorf("node %s is there twice", n.ID)
		}
		nodes[n.ID] = read("node", n.Data)
	}
	for _, e := range doc.Graph.Edges {
		if nodes[e.Source] == nil || nodes[e.Target] == nil {
			t.Errorf("an edge from %s to %s", e.Source, e.Target)
		}
		m := read("edge", e.Data)
		m["source"], m["target"] = e.Source, e.Target
		edges = append(edges, m)
	}
	return nodes, edges
}

func TestGraphML(t *testing.T) {
	each(t, func(t *testing.T, _ *runfile.Run, _ int, g *graph.Graph) {
		for _, g := range []*graph.Graph{g, g.Collapse(1), g.Collapse(2)} {
			var b bytes.Buffer
			if err := g.GraphML(&b); err != nil {
				t.Fatal(err)
			}
			nodes, edges := readGraphML(t, b.Bytes())
			if len(nodes) != len(g.Nodes) || len(edges) != len(g.Edges) {
				t.Errorf("%d nodes and %d edges, want %d and %d", len(nodes), len(edges), len(g.Nodes), len(g.Edges))
			}
			for i := range g.Nodes {
				n, m := &g.Nodes[i], nodes[g.Name(i)]
				if m["op"] != n.Op || m["site"] != n.Site || m["calls"] != fmt.Sprint(n.Calls) || m["sent"] != fmt.Sprint(n.Sent) ||
					m["args"] != strings.Join(n.Args, "\n") || g.Timed && m["time"] != fmt.Sprint(n.Time.Sum) {
					t.Errorf("%s: %v, want %+v", g.Name(i), m, n)
				}
			}
			for i := range g.Edges {
				if edges[i]["weight"] != fmt.Sprint(g.Edges[i].Weight) || strings.Count(edges[i]["runs"], ";") != max(0, len(g.Edges[i].Runs)-1) {
					t.Errorf("edge %d: %v, want %+v", i, edges[i], g.Edges[i])
				}
			}
		}
	})
}

// Texts that contain syntax of XML and DOT.
func TestQuoting(t *testing.T) {
	g := &graph.Graph{Nodes: []graph.Node{{Op: `MPI_<&>"\`, Args: []string{"a\x01b\n]]>"}, Site: "x.c:1", Loop: -1}}}
	var b bytes.Buffer
	if err := g.GraphML(&b); err != nil {
		t.Fatal(err)
	}
	nodes, _ := readGraphML(t, b.Bytes())
	if got := nodes["n0"]["op"]; got != g.Nodes[0].Op {
		t.Errorf("%q", got)
	}
	b.Reset()
	if err := g.DOT(&b, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `n0 [label="MPI_<&>\"\\\la`) {
		t.Errorf("%s", b.String())
	}
}

var dotEdge = regexp.MustCompile(`(?m)^\t("?[a-z][a-z0-9.]*"?) -> ("?[a-z][a-z0-9.]*"?) \[label="([0-9,]+)"\];$`)

// The edges of DOT sum to the weights; colours are those of the legend.
func TestDOT(t *testing.T) {
	each(t, func(t *testing.T, _ *runfile.Run, _ int, g *graph.Graph) {
		for _, g := range []*graph.Graph{g, g.Collapse(1), g.Collapse(2)} {
			for _, m := range graph.Measures() {
				var b bytes.Buffer
				if err := g.DOT(&b, &m); err != nil {
					t.Fatal(err)
				}
				text := b.String()
				if strings.Count(text, "{") != 2 || strings.Count(text, "fillcolor") != len(g.Nodes)+6 || !strings.Contains(text, "cluster_legend") {
					t.Errorf("%s", text)
				}
				weights := map[string]uint64{}
				for _, f := range dotEdge.FindAllStringSubmatch(text, -1) {
					weights[strings.Trim(f[1], `"`)+" "+strings.Trim(f[2], `"`)] += steps(f[3])
				}
				for _, e := range g.Edges {
					if key := g.Name(e.From) + " " + g.Name(e.To); weights[key] != e.Weight {
						t.Errorf("%s: %d, want %d", key, weights[key], e.Weight)
					}
				}
			}
		}
	})
}

// steps is how many steps the label of an edge stands for.
func steps(label string) uint64 {
	var n []uint64
	for _, s := range strings.Split(label, ",") {
		v, _ := strconv.ParseUint(s, 10, 64)
		n = append(n, v)
	}
	switch len(n) {
	case 1:
		return n[0]
	case 2:
		return n[1]
	}
	return ((n[1]-n[0])/n[2] + 1) * n[3]
}
