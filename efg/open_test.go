package efg

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/efg-tools/efg/signature"
)

// snapshot is what a reader of a running process reads first.
type snapshot struct {
	events, hash uint64
	last         int
	want         *Stream
}

// randomInput is an event of a program with loops, branches and values that are
// demoted.
func randomInput(r *rand.Rand, i int) Input {
	k := uint64(r.IntN(3))
	if i/40%3 == 0 {
		k = uint64(i % 4)
	}
	words := []uint64{5<<24 | 0xfff0 + k, 7 * k, 0, 2, k}
	if k == 2 {
		words[3] = uint64(r.IntN(1 + i/50))
	}
	return Input{Words: words}
}

// A stream whose recorder continued while it was read consists of the events at the beginning
// of the read.
func TestCloseAhead(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		b := NewBuilder(0, 6, &Definitions{})
		var snapshots []snapshot
		var events []Input
		for i := range 600 {
			e := randomInput(r, i)
			if err := b.Add(e); err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
			want, err := b.Stream()
			if err != nil {
				t.Fatal(err)
			}
			snapshots = append(snapshots, snapshot{b.events, b.hash, b.cur, want})
		}
		for _, s := range snapshots {
			checkAhead(t, b, s, events)
		}
	}
}

func checkAhead(t *testing.T, b *Builder, s snapshot, events []Input) {
	t.Helper()
	o := OpenStream{Events: s.events, Hash: s.hash, Last: uint32(s.last), Ahead: true}
	for _, n := range b.nodes {
		open := n.open()
		open.Stats = &Stats{Count: 1}
		o.Nodes = append(o.Nodes, open)
	}
	got, err := o.Close()
	if err != nil {
		t.Fatalf("%d events: %v", s.events, err)
	}
	w := got.Walk(nil)
	for i := range s.events {
		if !w.Next() || !slices.Equal(w.Words(), events[i].Words) {
			t.Fatalf("event %d of %d: %x, want %x", i, s.events, w.Words(), events[i].Words)
		}
	}
	if err := got.Verify(nil); err != nil {
		t.Fatal(err)
	}
	if len(got.Nodes) != len(s.want.Nodes) {
		t.Fatalf("%d events: %d nodes, want %d", s.events, len(got.Nodes), len(s.want.Nodes))
	}
	for i := range got.Nodes {
		g, w := &got.Nodes[i], &s.want.Nodes[i]
		if !slices.Equal(g.Edges, w.Edges) || g.Runs.Len() != w.Runs.Len() || g.Counts.Len() != w.Counts.Len() {
			t.Fatalf("%d events: node %d: %+v, want %+v", s.events, i, g, w)
		}
	}
}

// randomBuilder has 100 random events.
func randomBuilder(t *testing.T, seed uint64) *Builder {
	t.Helper()
	b := NewBuilder(0, 6, &Definitions{})
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range 100 {
		if err := b.Add(randomInput(r, i)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// A reader that has too little information says so.
func TestCloseAheadOfNothing(t *testing.T) {
	b := randomBuilder(t, 1)
	o := OpenStream{Events: b.events, Hash: b.hash, Last: uint32(b.cur), Ahead: true}
	for _, n := range b.nodes {
		open := n.open()
		if open.Runs != nil {
			open.Runs = open.Runs.Prefix(1)
		}
		o.Nodes = append(o.Nodes, open)
	}
	if s, err := o.Close(); err == nil {
		t.Errorf("%d events without branch runs", s.Events)
	}
}

// A stream that had only counted polls when it was pinned has none of the events that were
// recorded while it was read. If none can have been, such steps are an error.
func TestCloseAheadOfPolls(t *testing.T) {
	b := randomBuilder(t, 2)
	pinned := func(ahead bool) *OpenStream {
		polls := OpenNode{Words: []uint64{uint64(signature.Header(3<<24 | 0xfff0).AsCounted()), 7, 0}, Cur: -1, Run: 9}
		o := &OpenStream{Ahead: ahead, Nodes: []OpenNode{polls}}
		for _, n := range b.nodes {
			open := n.open()
			for i := range open.Edges {
				open.Edges[i].To++
			}
			o.Nodes = append(o.Nodes, open)
		}
		return o
	}
	if s, err := pinned(false).Close(); !errors.Is(err, ErrGraph) {
		t.Errorf("steps, but no events: %v, %v", s, err)
	}
	s, err := pinned(true).Close()
	if err != nil {
		t.Fatal(err)
	}
	if node, err := CheckStream(s); err != nil || len(s.Nodes) != 1 || s.Nodes[0].Counted != 9 {
		t.Errorf("%d nodes, node %d: %v, want the 9 polls", len(s.Nodes), node, err)
	}
}
