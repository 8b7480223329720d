package runfile

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// Processes of one machine share a clock, the median of what they found; without traced times a
// file stores none.
func TestClocksOfMachines(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for _, trace := range []bool{true, false} {
		var procs []*efg.Process
		for rank, mono := range []int64{5000, 5010, 4990, 90_000, 90_100, 0} {
			s, defs := randomStream(t, rng, 100)
			if trace {
				traced(t, rng, s, defs)
			}
			p := &efg.Process{Rank: rank, Size: 6, Mono: mono, Host: "a", Start: 7000, Defs: defs, Streams: []efg.Stream{*s}}
			if rank > 2 {
				p.Host = "b"
			}
			procs = append(procs, p)
		}
		data := encode(t, procs, Meta{Time: "trace", Started: 1000})
		r, err := NewRun(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []int64{4000, 4000, 4000, 89_000, 89_000, 89_000} {
			p, err := r.Process(i)
			if err != nil {
				t.Fatal(err)
			}
			if !trace {
				want = 0
			}
			if p.Clock != want {
				t.Errorf("rank %d: clock %d, want %d", i, p.Clock, want)
			}
		}
	}
}

// The process that began first read a later time of day than the others of its machine would
// have: its calls are still not before the beginning of the run.
func TestNothingBeforeTheRun(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	var procs []*efg.Process
	for rank, mono := range []int64{90_500, 90_000, 89_900} {
		s, defs := randomStream(t, rng, 100)
		traced(t, rng, s, defs)
		procs = append(procs, &efg.Process{Rank: rank, Size: 3, Mono: mono, Host: "a", Start: 100_000 + int64(rank), Defs: defs, Streams: []efg.Stream{*s}})
	}
	data := encode(t, procs, Meta{Time: "trace", Started: 100_000})
	r, err := NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Process(0)
	if err != nil {
		t.Fatal(err)
	}
	if began := p.Start - p.Mono + p.Clock; began != 0 {
		t.Errorf("the first process began %d ns after the run", began)
	}
}
