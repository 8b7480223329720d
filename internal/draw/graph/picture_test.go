package graph_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/loops"
	"github.com/efg-tools/efg/internal/draw/graph"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// elements counts the elements of an XML document, and lists ids.
func elements(t *testing.T, data []byte) (count map[string]int, ids map[string]bool) {
	t.Helper()
	count, ids = map[string]int{}, map[string]bool{}
	dec := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return count, ids
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
			for _, a := range e.Attr {
				if a.Name.Local == "id" {
					ids[a.Value] = true
				}
			}
		}
	}
}

// Pictures contain each node, and each edge with its label and arrow, and are the same each
// time.
func TestPictures(t *testing.T) {
	measures := graph.Measures()
	each(t, func(t *testing.T, _ *runfile.Run, proc int, g *graph.Graph) {
		if proc > 1 {
			return
		}
		for depth := range 3 {
			g := g
			if depth > 0 {
				g = g.Collapse(depth)
			}
			m := &measures[depth]
			var b, again bytes.Buffer
			if err := errors.Join(g.SVG(&b, m), g.SVG(&again, m)); err != nil {
				if errors.Is(err, graph.ErrTooLarge) && len(g.Nodes) > 100 {
					continue
				}
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), again.Bytes()) {
				t.Error("another picture the second time")
			}
			count, ids := elements(t, b.Bytes())
			if count["path"] != len(g.Edges) || count["polygon"] != len(g.Edges) || len(ids) != len(g.Nodes) {
				t.Errorf("%v, %d nodes; want %d nodes, %d edges", count, len(ids), len(g.Nodes), len(g.Edges))
			}
			for i := range g.Nodes {
				if !ids[g.Name(i)] {
					t.Errorf("no %s", g.Name(i))
				}
			}
			if depth != 1 || proc > 0 {
				continue
			}
			b.Reset()
			if err := g.PNG(&b, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := png.Decode(&b); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A node that takes all the time has the darkest colour, in its box and in the
// legend.
func TestPictureColours(t *testing.T) {
	g := &graph.Graph{Timed: true, Nodes: []graph.Node{{Op: "MPI_A", Loop: -1}, {Op: "MPI_B", Number: 1, Loop: -1}}, Edges: []graph.Edge{{From: 0, To: 1, Weight: 1}}}
	g.Nodes[0].Time.Count, g.Nodes[0].Time.Sum = 1, 100
	m := graph.Measures()[0]
	var b bytes.Buffer
	if err := g.SVG(&b, &m); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), `fill="#a63603"`); n != 2 {
		t.Errorf("%d boxes of the darkest colour, want 2: %s", n, b.String())
	}
	b.Reset()
	if err := g.PNG(&b, &m); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	dark := map[int]bool{} // y
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if color.RGBAModel.Convert(img.At(x, y)) == (color.RGBA{0xa6, 0x36, 0x03, 255}) {
				dark[y] = true
			}
		}
	}
	if len(dark) < 60 || len(dark) > 160 {
		t.Errorf("%d rows have the darkest colour", len(dark))
	}
}

// chain is the graph of a long program: a loop around everything, and branches.
func chain(nodes int) *graph.Graph {
	g := &graph.Graph{}
	for i := range nodes {
		g.Nodes = append(g.Nodes, graph.Node{Number: i, Op: fmt.Sprint("MPI_", i), Args: []string{"count=10", "dest=3", "tag=5"}, Site: "x.c:1", Loop: -1})
		g.Edges = append(g.Edges, graph.Edge{From: i, To: (i + 1) % nodes, Weight: 10})
		if i%7 == 3 && i+5 < nodes {
			g.Edges = append(g.Edges, graph.Edge{From: i, To: i + 5, Weight: 1})
		}
		if i%11 == 10 {
			g.Edges = append(g.Edges, graph.Edge{From: i, To: i - 10, Weight: 1})
		}
	}
	g.Loops = []graph.Loop{{Number: "1", Loop: loops.Loop{Depth: 1}}}
	return g
}

// Large graphs are drawn as SVG; a PNG with too many pixels is rejected.
func TestLargePicture(t *testing.T) {
	g := chain(2000)
	if err := g.SVG(io.Discard, nil); err != nil {
		t.Error(err)
	}
	if err := g.PNG(io.Discard, nil); !errors.Is(err, graph.ErrTooLarge) || !strings.Contains(err.Error(), "SVG") {
		t.Errorf("%v", err)
	}
}

func BenchmarkPicture(b *testing.B) {
	for _, c := range []struct {
		name  string
		nodes int
		write func(*graph.Graph, io.Writer, *graph.Measure) error
	}{{"svg", 2000, (*graph.Graph).SVG}, {"png", 200, (*graph.Graph).PNG}} {
		g := chain(c.nodes)
		b.Run(fmt.Sprint(c.name, "/", c.nodes), func(b *testing.B) {
			for b.Loop() {
				if err := c.write(g, io.Discard, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A graph that is too wide to be read, cannot be drawn, or would be too large a PNG is drawn
// with its outermost loops collapsed; a readable one is drawn as it is.
func TestReadable(t *testing.T) {
	const drawing, pixels = false, true
	for _, c := range []struct {
		sim       sim.Config
		collapsed map[bool]bool // by whether it is drawn as pixels
	}{
		{sim.Config{Program: "halo", Ranks: 27, Steps: 50, Seed: 1}, map[bool]bool{drawing: false, pixels: false}},
		{sim.Config{Program: "mesh", Ranks: 64, Steps: 500, Seed: 1}, map[bool]bool{drawing: false, pixels: true}},
		{sim.Config{Program: "random", Ranks: 16, Steps: 1000, Seed: 1}, map[bool]bool{drawing: true, pixels: true}},
	} {
		g, err := graph.Build(testrun.Simulated(t, c.sim), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for pixels, want := range c.collapsed {
			p, depth, err := g.Readable(nil, pixels)
			if err != nil || (depth > 0) != want {
				t.Errorf("%s, pixels %v: %v, depth %d, want collapsed %v", c.sim.Program, pixels, err, depth, want)
				continue
			}
			nodes := len(g.Nodes)
			if depth > 0 {
				nodes = len(g.Collapse(depth).Nodes)
			}
			if p.Nodes() != nodes {
				t.Errorf("%s, pixels %v, depth %d: %d nodes, want %d", c.sim.Program, pixels, depth, p.Nodes(), nodes)
			}
		}
	}
	// Without loops nothing can be collapsed.
	g := chain(2000)
	if _, depth, err := g.Readable(nil, false); err != nil || depth > 0 {
		t.Errorf("a long program: depth %d, %v", depth, err)
	}
	dense := &graph.Graph{}
	for i := range 600 {
		dense.Nodes = append(dense.Nodes, graph.Node{Number: i, Op: "MPI_Send", Loop: -1})
		for k := i + 1; k < 600; k++ {
			dense.Edges = append(dense.Edges, graph.Edge{From: i, To: k, Weight: 1})
		}
	}
	if _, _, err := dense.Readable(nil, false); !errors.Is(err, graph.ErrTooLarge) {
		t.Errorf("a dense graph without loops: %v", err)
	}
}
