package runfile

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
)

// disorder is a stream without any regularity, with checkpoints.
func disorder(t *testing.T, rng *rand.Rand, events int) (*efg.Stream, []efg.Def) {
	t.Helper()
	var defs efg.Definitions
	b := efg.NewBuilder(0, 4, &defs)
	for range events {
		words := []uint64{5<<24 | 1, uint64(rng.Intn(3)), 0, uint64(rng.Intn(40)), uint64(rng.Intn(1 << 30))}
		if err := b.Add(efg.Input{Words: words}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddCheckpoints(defs.List, uint64(events/30)); err != nil {
		t.Fatal(err)
	}
	return s, defs.List
}

// A stream without any regularity has long sequences. A file preserves them, and little of the
// file is read for a window.
func TestLongSequences(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	const events = 300_000
	s, defs := disorder(t, rng, events)
	p := &efg.Process{Size: 1, Defs: defs, Streams: []efg.Stream{*s}}
	data := encode(t, []*efg.Process{p}, Meta{})
	c := &countingReader{ReaderAt: bytes.NewReader(data)}
	r, err := NewRun(c, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.parts) < 5 {
		t.Fatalf("%d parts", len(r.parts))
	}
	got, err := r.Process(0)
	if err != nil {
		t.Fatal(err)
	}
	before := c.n
	w := got.Streams[0].WalkFrom(got.Defs, events/2)
	for range 100 {
		if !w.Next() {
			t.Fatal(w.Err())
		}
	}
	if c.n > len(data)/2 {
		t.Errorf("read %d bytes, then %d for a window, of %d", before, c.n-before, len(data))
	}
	if err := got.Streams[0].Verify(got.Defs); err != nil {
		t.Error(err)
	}
	if err := Validate(r); err != nil {
		t.Error(err)
	}
	if again := encode(t, []*efg.Process{got}, Meta{}); !bytes.Equal(again, data) {
		t.Error("what was read makes another file")
	}
	for i := range s.Nodes {
		for k := range s.Nodes[i].Attrs {
			skipParts(t, rng, s.Nodes[i].Attrs[k].Values, got.Streams[0].Nodes[i].Attrs[k].Values)
		}
	}
}

// skipParts compares a sequence in parts with one that is whole.
func skipParts(t *testing.T, rng *rand.Rand, whole, parts *seq.Seq) {
	if !whole.EqualValues(parts) {
		t.Fatal("other values")
	}
	for range 20 {
		a, b := whole.Iter(), parts.Iter()
		for {
			k := uint64(rng.Intn(int(whole.Len())))
			a.Skip(k)
			b.Skip(k)
			x, ok := a.Next()
			y, also := b.Next()
			if x != y || ok != also || a.Left() != b.Left() {
				t.Fatalf("after %d: %d, %v, %d left; in parts %d, %v, %d left", k, x, ok, a.Left(), y, also, b.Left())
			}
			if !ok {
				break
			}
		}
	}
}

// A file may contain a loop that could not be iterated to its end.
func TestEndlessLoopInAFile(t *testing.T) {
	const huge = 1 << 50
	loop := efg.Node{Words: event(1, 2), Edges: []efg.Edge{{To: 0, Weight: huge - 1, Count: huge - 1, Fixed: 1}}}
	data := encode(t, []*efg.Process{{Size: 1, Streams: []efg.Stream{{Events: huge, Nodes: []efg.Node{loop}}}}}, Meta{})
	if r := openBytes(t, data); r.Procs[0].Streams[0].Events != huge {
		t.Errorf("%d events", r.Procs[0].Streams[0].Events)
	}
}
