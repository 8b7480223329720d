package layered

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// random is a graph similar to those of programs: a long path with loops, branches, and edges
// from nodes to themselves.
func random(r *rand.Rand, n int) ([]Box, []Edge) {
	var boxes []Box
	var edges []Edge
	label := func() Box { return Box{10 + 60*r.Float64(), 12} }
	for i := range n {
		boxes = append(boxes, Box{40 + 200*r.Float64(), 20 + 100*r.Float64()})
		if i > 0 {
			edges = append(edges, Edge{max(0, i-1-r.IntN(3)), i, label()})
		}
		if r.IntN(3) == 0 {
			edges = append(edges, Edge{i, max(0, i-r.IntN(20)), label()})
		}
	}
	return boxes, edges
}

// Boxes and labels do not overlap and are on the page, and edges begin and end at their boxes.
func TestLayout(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		boxes, edges := random(r, 1+r.IntN(60))
		l, err := New(boxes, edges)
		if err != nil {
			t.Fatal(err)
		}
		checkLayout(t, boxes, edges, l)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func checkLayout(t *testing.T, boxes []Box, edges []Edge, l *Layout) {
	t.Helper()
	type area struct {
		name       string
		x, y, w, h float64
	}
	var areas []area
	for i, b := range boxes {
		areas = append(areas, area{fmt.Sprint("box ", i), l.Boxes[i].X, l.Boxes[i].Y, b.Width, b.Height})
	}
	for i, e := range edges {
		areas = append(areas, area{fmt.Sprint("label ", i), l.Edges[i].Label.X, l.Edges[i].Label.Y, e.Label.Width, e.Label.Height})
		checkRoute(t, boxes, i, &edges[i], l)
	}
	for i, a := range areas {
		if a.x-a.w/2 < 0 || a.y-a.h/2 < 0 || a.x+a.w/2 > l.Width || a.y+a.h/2 > l.Height {
			t.Errorf("%s is not on the page of %g by %g: %+v", a.name, l.Width, l.Height, a)
		}
		for _, b := range areas[:i] {
			if math.Abs(a.x-b.x) < (a.w+b.w)/2-1e-6 && math.Abs(a.y-b.y) < (a.h+b.h)/2-1e-6 {
				t.Errorf("%s and %s are in the same place: %+v %+v", a.name, b.name, a, b)
			}
		}
	}
}

// checkRoute checks that an edge touches its boxes, and no others in whose layers it is
// vertical.
func checkRoute(t *testing.T, boxes []Box, i int, e *Edge, l *Layout) {
	t.Helper()
	p := l.Edges[i].Points
	if len(p)%3 != 1 || len(p) < 4 {
		t.Fatalf("edge %d has %d points", i, len(p))
	}
	at := func(p Point, box int) bool {
		c, b := l.Boxes[box], boxes[box]
		return math.Abs(p.X-c.X) <= b.Width/2+1e-6 && math.Abs(p.Y-c.Y) <= b.Height/2+1e-6
	}
	if !at(p[0], e.From) || !at(p[len(p)-1], e.To) {
		t.Errorf("edge %d from %d to %d goes from %v to %v", i, e.From, e.To, p[0], p[len(p)-1])
	}
	if back := l.Boxes[e.From].Y >= l.Boxes[e.To].Y; back != l.Edges[i].Back {
		t.Errorf("edge %d goes back: %v", i, !back)
	}
	for k := 3; k < len(p)-1; k += 3 {
		for b := range boxes {
			if at(p[k], b) {
				t.Errorf("edge %d crosses box %d at %v", i, b, p[k])
			}
		}
	}
}

// A chain is straight; the two arms of a branch are side by side.
func TestSimple(t *testing.T) {
	box, label := Box{60, 30}, Box{20, 12}
	l, err := New([]Box{box, box, box}, []Edge{{0, 1, label}, {1, 2, label}})
	if err != nil || l.Boxes[0].X != l.Boxes[2].X || !(l.Boxes[0].Y < l.Boxes[1].Y && l.Boxes[1].Y < l.Boxes[2].Y) || len(l.Edges[0].Points) != 4 {
		t.Errorf("%v: %+v", err, l)
	}
	l, err = New([]Box{box, box, box, box}, []Edge{{0, 1, label}, {0, 2, label}, {1, 3, label}, {2, 3, label}})
	if err != nil || l.Boxes[1].Y != l.Boxes[2].Y || math.Abs(l.Boxes[1].X+l.Boxes[2].X-2*l.Boxes[0].X) > 1 {
		t.Errorf("%v: %+v", err, l.Boxes)
	}
	if l, err = New(nil, nil); err != nil || l.Height != 0 && l.Height != 2*margin {
		t.Errorf("%v: %+v", err, l)
	}
}

// A graph that would take forever is rejected at once.
func TestTooLarge(t *testing.T) {
	boxes := make([]Box, 3000)
	var edges []Edge
	for i := range boxes {
		edges = append(edges, Edge{From: i, To: (i + 1) % len(boxes)}, Edge{From: i, To: (i * 7919) % len(boxes)})
	}
	if _, err := New(boxes, edges); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

func BenchmarkLayout(b *testing.B) {
	for _, n := range []int{100, 2000} {
		boxes, edges := random(rand.New(rand.NewPCG(1, 1)), n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := New(boxes, edges); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
