package runfile

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// randomStream builds a stream of events with loops, branches, attributes and arrays.
func randomStream(t *testing.T, rng *rand.Rand, events int) (*efg.Stream, []efg.Def) {
	var defs efg.Definitions
	b := efg.NewBuilder(0, 3, &defs)
	pattern := nested(rng, events)
	for i, v := range pattern {
		words := []uint64{5<<24 | 1, v % 3, 0, v, uint64(i) % (1 + v*v)}
		if v == 4 {
			words[4] = uint64(rng.Intn(1000))
		}
		if err := b.Add(efg.Input{Words: words}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	return s, defs.List
}

// A walk from a checkpoint yields what a walk from the start yields.
func TestWalkFromCheckpoints(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	marked := 0
	for round := range 100 {
		s, defs := randomStream(t, rng, 200+rng.Intn(3000))
		var err error
		if s.Checkpoints, err = efg.MakeCheckpoints(s, defs, uint64(20+rng.Intn(200))); err != nil {
			t.Fatal(err)
		}
		if s.Checkpoints != nil {
			marked++
		}
		var all [][]uint64
		for w := s.Walk(defs); w.Next(); {
			all = append(all, slices.Clone(w.Words()))
		}
		for range 20 {
			from := uint64(rng.Intn(len(all)))
			w := s.WalkFrom(defs, from)
			if !w.Next() {
				t.Fatalf("round %d: %v", round, w.Err())
			}
			if w.Seq() > from {
				t.Fatalf("round %d: from %d: begins at %d", round, from, w.Seq())
			}
			for ok := true; ok; ok = w.Next() {
				if !slices.Equal(w.Words(), all[w.Seq()]) {
					t.Fatalf("round %d: from %d: event %d is %x, not %x", round, from, w.Seq(), w.Words(), all[w.Seq()])
				}
			}
			if w.Err() != nil || w.Seq() != uint64(len(all)-1) {
				t.Fatalf("round %d: from %d: ends at %d of %d: %v", round, from, w.Seq(), len(all), w.Err())
			}
		}
	}
	if marked < 50 {
		t.Errorf("only %d streams have checkpoints", marked)
	}
}

// Checkpoints are preserved by a file, and are checked.
func TestCheckpointsInAFile(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	var procs []*efg.Process
	for rank := range 6 {
		s, defs := randomStream(t, rng, 4000)
		var err error
		if s.Checkpoints, err = efg.MakeCheckpoints(s, defs, 100); err != nil || s.Checkpoints == nil {
			t.Fatal(s.Checkpoints, err)
		}
		if rank == 4 {
			s.Checkpoints = nil
		}
		procs = append(procs, &efg.Process{Rank: rank, Size: 6, Defs: defs, Streams: []efg.Stream{*s}})
	}
	data := encode(t, procs, Meta{})
	r, err := NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(r); err != nil {
		t.Error(err)
	}
	for i, p := range procs {
		got, err := r.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		s := &got.Streams[0]
		if (s.Checkpoints == nil) != (p.Streams[0].Checkpoints == nil) {
			t.Fatalf("rank %d: checkpoints: %v", i, s.Checkpoints != nil)
		}
		if err := s.Verify(got.Defs); err != nil {
			t.Error(err)
		}
		if w := s.WalkFrom(got.Defs, 3000); !w.Next() || w.Seq() < 1000 && s.Checkpoints != nil {
			t.Errorf("rank %d: begins at event %d: %v", i, w.Seq(), w.Err())
		}
		if s.Checkpoints == nil {
			continue
		}
		s.Checkpoints.Last = s.Checkpoints.Events
		if err := s.Verify(got.Defs); err == nil {
			t.Error("wrong checkpoints are not noticed")
		}
	}
	if again := encode(t, procs, Meta{}); !bytes.Equal(again, data) {
		t.Error("the same processes make another file")
	}
}

// nested returns sequences with repeats at all levels.
func nested(rng *rand.Rand, n int) []uint64 {
	var out []uint64
	var loop func(depth int)
	loop = func(depth int) {
		body := 1 + rng.Intn(4)
		times := 1 + rng.Intn(30)
		vals := make([]uint64, body)
		for i := range vals {
			vals[i] = uint64(rng.Intn(5))
		}
		for range times {
			for i := range body {
				if depth > 0 && i == 0 {
					loop(depth - 1)
				}
				out = append(out, vals[i])
			}
			if len(out) > n {
				return
			}
		}
	}
	for len(out) < n {
		start := len(out)
		loop(rng.Intn(3))
		for k := len(out) - start; k > 0 && len(out) < n && rng.Intn(2) == 0; k-- { // again
			out = append(out, out[len(out)-k])
		}
	}
	return out[:n]
}
