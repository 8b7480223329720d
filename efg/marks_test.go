package efg

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"
)

// randomStream builds a stream of events with loops, branches, attributes and
// vectors.
func randomStream(t *testing.T, rng *rand.Rand, events int) (*Stream, []Def) {
	var defs Definitions
	b := NewBuilder(0, 3, &defs)
	pattern := nested(rng, events)
	for i, v := range pattern {
		words := []uint64{5<<24 | 1, v % 3, 0, v, uint64(i) % (1 + v*v)}
		if v == 4 {
			words[4] = uint64(rng.Intn(1000))
		}
		if err := b.Add(Input{Words: words}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	return s, defs.List
}

// A walk from a mark shows what a walk from the start shows.
func TestWalkFromMarks(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	marked := 0
	for round := range 100 {
		s, defs := randomStream(t, rng, 200+rng.Intn(3000))
		var err error
		if s.Marks, err = marksOf(s, defs, uint64(20+rng.Intn(200))); err != nil {
			t.Fatal(err)
		}
		if s.Marks != nil {
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
		t.Errorf("only %d streams have marks", marked)
	}
}

// Marks come back from a file, and are checked.
func TestMarksInAFile(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	var procs []*Process
	for rank := range 6 {
		s, defs := randomStream(t, rng, 4000)
		var err error
		if s.Marks, err = marksOf(s, defs, 100); err != nil || s.Marks == nil {
			t.Fatal(s.Marks, err)
		}
		if rank == 4 {
			s.Marks = nil
		}
		procs = append(procs, &Process{Rank: rank, Size: 6, Defs: defs, Streams: []Stream{*s}})
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
		if (s.Marks == nil) != (p.Streams[0].Marks == nil) {
			t.Fatalf("rank %d: marks: %v", i, s.Marks != nil)
		}
		if err := s.Verify(got.Defs); err != nil {
			t.Error(err)
		}
		if w := s.WalkFrom(got.Defs, 3000); !w.Next() || w.Seq() < 1000 && s.Marks != nil {
			t.Errorf("rank %d: begins at event %d: %v", i, w.Seq(), w.Err())
		}
		if s.Marks == nil {
			continue
		}
		s.Marks.Last = s.Marks.Events
		if err := s.Verify(got.Defs); err == nil {
			t.Error("wrong marks are not noticed")
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
