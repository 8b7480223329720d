package seq

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// tally counts tuples, those of JoinRuns with their multiplicities.
func tally(t *testing.T, seqs []*Seq) (counts map[[3]uint64]uint64, steps int) {
	t.Helper()
	counts = map[[3]uint64]uint64{}
	z := JoinRuns(seqs...)
	for v, times, ok := z.Next(); ok; v, times, ok = z.Next() {
		var key [3]uint64
		copy(key[:], v)
		counts[key] += times
		steps++
	}
	if z.Err() != nil {
		t.Fatal(z.Err())
	}
	return counts, steps
}

func expanded(t *testing.T, seqs []*Seq) map[[3]uint64]uint64 {
	t.Helper()
	var lists [][]uint64
	for _, s := range seqs {
		lists = append(lists, expand(t, s))
	}
	counts := map[[3]uint64]uint64{}
	for i := range lists[0] {
		var key [3]uint64
		for k := range lists {
			key[k] = lists[k][i]
		}
		counts[key]++
	}
	return counts
}

// JoinRuns yields what the sequences contain, for random nested repeats, and for prefixes that
// end inside one.
func TestJoinCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 400 {
		n := 3000
		var seqs []*Seq
		for range 1 + round%3 {
			seqs = append(seqs, fold(randomRepeats(r, n), r.IntN(2) == 0).Prefix(uint64(n-r.IntN(2)*round)))
		}
		short := slices.MinFunc(seqs, func(a, b *Seq) int { return int(a.Len()) - int(b.Len()) }).Len()
		for i := range seqs {
			seqs[i] = seqs[i].Prefix(short)
		}
		got, _ := tally(t, seqs)
		if want := expanded(t, seqs); !maps.Equal(got, want) {
			t.Fatalf("round %d: %d sequences: %v, want %v", round, len(seqs), got, want)
		}
	}
}

// randomRepeats makes n values of repeated random patterns and ramps.
func randomRepeats(r *rand.Rand, n int) []uint64 {
	var out []uint64
	for len(out) < n {
		pattern := make([]uint64, 1+r.IntN(12))
		for i := range pattern {
			pattern[i] = r.Uint64N(5)
		}
		step := r.Uint64N(2)
		for range 1 + r.IntN(120) {
			for i := range pattern {
				out = append(out, pattern[i])
				pattern[i] += step
			}
		}
	}
	return out[:n]
}

// The work is proportional to the periods, not to the values.
func TestJoinFolds(t *testing.T) {
	seqs := []*Seq{fold(repeat(500000, 1, 2, 3), false), fold(repeat(750000, 7, 8), false), fold(repeat(1500000, 9), false)}
	counts, steps := tally(t, seqs)
	if len(counts) != 6 || counts[[3]uint64{1, 7, 9}] != 250000 || steps > 5000 {
		t.Errorf("%d steps: %v", steps, counts)
	}
}

func BenchmarkJoin(b *testing.B) {
	ramp := make([]uint64, 1<<20)
	for i := range ramp {
		ramp[i] = uint64(i)
	}
	s := fold(ramp, true)
	for b.Loop() {
		z := JoinRuns(s)
		for _, _, ok := z.Next(); ok; _, _, ok = z.Next() {
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ramp)), "ns/value")
}

// Tuples are at the positions that JoinRuns reports, including those after a period that was
// iterated once.
func TestJoinPositions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	skipped := 0
	for range 200 {
		a, b := fold(randomRepeats(r, 2000), r.IntN(2) == 0), fold(randomRepeats(r, 2000), false)
		x, y := expand(t, a), expand(t, b)
		next := uint64(0)
		z := JoinRuns(a, b)
		for v, _, ok := z.Next(); ok; v, _, ok = z.Next() {
			at := z.Position()
			if at < next || x[at] != v[0] || y[at] != v[1] {
				t.Fatalf("position %d after %d: %v, want %d and %d", at, next, v, x[at], y[at])
			}
			skipped += int(at - next)
			next = at + 1
		}
	}
	if skipped == 0 {
		t.Error("nothing was skipped")
	}
}
