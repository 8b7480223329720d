package graph

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/efg-tools/efg/internal/draw/layered"
)

// nested is a graph of loops 1 (nodes 1 to 5), 1.1 (2, 3) and 1.2 (4, 5) between nodes 0 and 6.
func nested() *Graph {
	g := &Graph{inner: []int{-1, 0, 1, 1, 2, 2, -1}}
	for i, op := range []string{"MPI_Init", "MPI_Barrier", "MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Wait", "MPI_Finalize"} {
		n := Node{Number: i, Op: op, Site: strings.Repeat("x", 60) + " solver.f90:7", Args: slices.Repeat([]string{"count=1"}, 9), Loop: g.inner[i]}
		n.Calls = uint64(i + 1)
		g.Nodes = append(g.Nodes, n)
	}
	for _, e := range [][3]int{{0, 1, 1}, {1, 2, 10}, {2, 3, 1234567}, {3, 2, 30}, {3, 4, 10}, {4, 5, 50}, {5, 4, 40}, {5, 1, 9}, {5, 6, 1}} {
		g.Edges = append(g.Edges, Edge{From: e[0], To: e[1], Weight: uint64(e[2])})
	}
	for _, number := range []string{"1", "1.1", "1.2"} {
		l := Loop{Number: number}
		l.Depth, l.Parent, l.Header = 1+strings.Count(number, "."), -1, 1
		if l.Depth > 1 {
			l.Parent, l.Header = 0, 2*len(g.Loops)
		}
		g.Loops = append(g.Loops, l)
	}
	return g
}

func names(g *Graph) string {
	var list []string
	for i := range g.Nodes {
		list = append(list, g.Name(i))
	}
	return strings.Join(list, " ")
}

// A loop that is not open is one node, whatever is open in it.
func TestCollapseExcept(t *testing.T) {
	for open, want := range map[string]string{
		"": "n0 loop1 n6", "1.1": "n0 loop1 n6", "1": "n0 n1 loop1.1 loop1.2 n6", "1,1.2": "n0 n1 loop1.1 n4 n5 n6", "1,1.1,1.2": "n0 n1 n2 n3 n4 n5 n6",
	} {
		set := map[string]bool{}
		for number := range strings.SplitSeq(open, ",") {
			set[number] = true
		}
		g := nested().CollapseExcept(set)
		if got := names(g); got != want || g.Start() != "n0" {
			t.Errorf("open %q: nodes %q, want %q; start %q", open, got, want, g.Start())
		}
		calls := uint64(0)
		for i := range g.Nodes {
			calls += g.Nodes[i].Calls
		}
		if calls != 28 {
			t.Errorf("open %q: %d calls, want 28", open, calls)
		}
	}
}

// Boxes hold their lines and do not overlap; edges begin and end at their boxes, and labels are in the picture.
func TestLayout(t *testing.T) {
	g := nested()
	for _, opt := range []LayoutOptions{{}, {Arguments: true, Room: 80}} {
		l, err := g.Layout(opt)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range l.Nodes {
			testBox(t, &n, opt)
			for _, m := range l.Nodes[:i] {
				if math.Abs(n.X-m.X) < (n.Width+m.Width)/2 && math.Abs(n.Y-m.Y) < (n.Height+m.Height)/2 {
					t.Errorf("%+v: boxes %+v and %+v overlap", opt, n, m)
				}
			}
			if n.X-n.Width/2 < 0 || n.X+n.Width/2 > l.Width || n.Y-n.Height/2 < 0 || n.Y+n.Height/2 > l.Height {
				t.Errorf("%+v: box %+v is not in %g × %g", opt, n, l.Width, l.Height)
			}
		}
		for i, e := range l.Edges {
			first, last := e.Points[0], e.Points[len(e.Points)-1]
			if len(e.Points)%3 != 1 || !at(&l.Nodes[g.Edges[i].From], first) || !at(&l.Nodes[g.Edges[i].To], last) {
				t.Errorf("%+v: edge %+v leads from %v to %v", opt, g.Edges[i], first, last)
			}
			if e.Label.X < 0 || e.Label.X > l.Width || e.Label.Y < 0 || e.Label.Y > l.Height {
				t.Errorf("%+v: label of edge %d at %v", opt, i, e.Label)
			}
		}
	}
}

func testBox(t *testing.T, n *NodeBox, opt LayoutOptions) {
	t.Helper()
	longest := opt.Room
	for _, l := range n.Lines {
		longest = max(longest, utf8.RuneCountInString(l))
		if utf8.RuneCountInString(l) > maxLine || strings.Contains(l, "…") && len(l) > 3 && !strings.HasSuffix(l, "solver.f90:7") {
			t.Errorf("%+v: a line %q", opt, l)
		}
	}
	lines, arguments := len(n.Lines), 0
	for _, l := range n.Lines {
		if l == "count=1" {
			arguments++
		}
	}
	if opt.Room > 0 {
		lines++
	}
	if n.Width < float64(longest)*charWidth || n.Height < float64(lines)*lineHeight || (arguments == maxArguments) != opt.Arguments {
		t.Errorf("%+v: %d lines of up to %d characters with %d arguments in %g × %g", opt, lines, longest, arguments, n.Width, n.Height)
	}
}

// at reports whether a point is at the edge of a box.
func at(n *NodeBox, p layered.Point) bool {
	dx, dy := math.Abs(p.X-n.X)-n.Width/2, math.Abs(p.Y-n.Y)-n.Height/2
	return math.Abs(max(dx, dy)) < 0.01
}

func TestLayoutTooLarge(t *testing.T) {
	g := &Graph{Nodes: make([]Node, MaxLaidOut), Edges: []Edge{{From: 0, To: 1}}}
	if _, err := g.Layout(LayoutOptions{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want %v", err, ErrTooLarge)
	}
}
