package efg

import (
	"bytes"
	"math/rand"
	"testing"
)

// Processes of one machine share a clock, the median of what they found; without
// traced times a file keeps none.
func TestClocksOfMachines(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for _, trace := range []bool{true, false} {
		var procs []*Process
		for rank, mono := range []int64{5000, 5010, 4990, 90_000, 90_100, 0} {
			s, defs := randomStream(t, rng, 100)
			if trace {
				traced(t, rng, s, defs)
			}
			p := &Process{Rank: rank, Size: 6, Mono: mono, Host: "a", Start: 7000, Defs: defs, Streams: []Stream{*s}}
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
