package clocks

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/match"
)

// randomClock is one that a machine might have, or worse: with steps.
func randomClock(r *rand.Rand) clock {
	offset := r.Int64N(5_000_000_000) - 900_000_000
	switch r.IntN(4) {
	case 0:
		return wrong(r.Int64N(3_000), 0) // hardly off
	case 1:
		return wrong(offset, 200*r.Float64()-100)
	case 2:
		rates := make([]float64, 2+r.IntN(4))
		for i := range rates {
			rates[i] = 200*r.Float64() - 100
		}
		return disciplined(offset, 1_000_000+r.Int64N(20_000_000), rates...)
	}
	when, step := r.Int64N(20_000_000), r.Int64N(10_000_000)
	return func(ns int64) int64 {
		if ns < when {
			return ns + offset
		}
		return ns + offset + step
	}
}

// randomProgram does anything, on any machines; of that nothing is left to chance but by the
// seed.
func randomProgram(t testing.TB, seed uint64, length int) *program {
	r := rand.New(rand.NewPCG(seed, 1))
	clocks := make([]clock, 2+r.IntN(4))
	for i := range clocks {
		clocks[i] = randomClock(r)
	}
	p := newProgram(t, seed, len(clocks)+r.IntN(6), clocks...)
	p.shortest, p.spread = r.Int64N(3), r.Int64N(30)
	for range length {
		p.anything()
	}
	if r.IntN(3) == 0 {
		p.Rank(r.IntN(len(p.now))).Kill()
	}
	return p
}

// checkRandom demands, of a random program, that nothing is over before its cause has begun, that no
// time runs backwards and no interval is negative, that the order is the same the second time, and
// that the raw times come back.
func checkRandom(t testing.TB, seed uint64, length int) {
	run := randomProgram(t, seed, length).Run()
	raw := startsOf(t, run)
	first := corrected(t, run)
	times := startsOf(t, run)
	again := corrected(t, run)
	if len(again.Ranks) != len(first.Ranks) || again.Aligned != first.Aligned || again.Raw != first.Raw {
		t.Errorf("seed %d: %+v, then %+v", seed, *first, *again)
	}
	for rank, list := range startsOf(t, run) {
		for i := range list {
			if list[i] != times[rank][i] {
				t.Fatalf("seed %d: rank %d, event %d: %d, then %d", seed, rank, i, times[rank][i], list[i])
			}
		}
	}
	applyEncoded(t, run, again)
	for rank, list := range startsOf(t, run) {
		if !slices.Equal(list, times[rank]) {
			t.Fatalf("seed %d: rank %d has other times by the encoded correction", seed, rank)
		}
	}
	run.Correct(nil, nil)
	for rank, list := range startsOf(t, run) {
		for i := range list {
			if list[i] != raw[rank][i] {
				t.Fatalf("seed %d: rank %d, event %d: %d, before %d", seed, rank, i, list[i], raw[rank][i])
			}
		}
	}
}

// applyEncoded corrects a run of several machines by what a report says once it was encoded, and by
// nothing that is cut off.
func applyEncoded(t testing.TB, run *runfile.Run, r *Report) {
	t.Helper()
	if !Needed(run) {
		return
	}
	var b bytes.Buffer
	if err := r.Encode(&b); err != nil {
		t.Fatal(err)
	}
	said, err := Decode(b.Bytes())
	want := *r
	if want.lines, want.warps = nil, nil; err != nil || !reflect.DeepEqual(said, &want) {
		t.Errorf("the report is %+v once it was encoded, before %+v; %v", said, want, err)
	}
	run.Correct(nil, nil)
	for n := 0; n < b.Len(); n += 1 + b.Len()/50 {
		if err := Apply(run, b.Bytes()[:n]); err == nil {
			t.Errorf("%d of %d bytes were applied", n, b.Len())
		}
	}
	if err := Apply(run, b.Bytes()); err != nil {
		t.Fatal(err)
	}
}

func TestRandom(t *testing.T) {
	for seed := range uint64(25) {
		checkRandom(t, seed, 400)
	}
}

func FuzzCorrect(f *testing.F) {
	f.Add(uint64(1), uint16(50))
	f.Fuzz(func(t *testing.T, seed uint64, length uint16) { checkRandom(t, seed, int(length%500)) })
}

// Messages and collective calls of a random program tell where its ranks were: between two ranks of
// aligned machines times are wrong by no more than what the lines of both claim, and the shifts.
func TestRandomTruth(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		clocks := []clock{exact, wrong(r.Int64N(4_000_000_000), 100*r.Float64()-50), wrong(-r.Int64N(900_000_000), 100*r.Float64()-50)}
		p := newProgram(t, seed, 6, clocks...)
		p.shortest, p.spread = 1, 10
		truth := newProgram(t, seed, 6, exact, exact, exact)
		truth.shortest, truth.spread = 1, 10
		for range 3000 {
			p.anything()
			truth.anything()
		}
		run := p.Run()
		report := corrected(t, run)
		bound := int64(2)
		for _, m := range report.Machines[1:] {
			if !m.Aligned || len(m.Windows) != 1 {
				t.Fatalf("seed %d: %+v", seed, m)
			}
			bound = max(bound, m.Windows[0].Error+2)
		}
		for _, s := range report.Ranks {
			bound += s.Longest
		}
		if bound > 15_000 {
			t.Errorf("seed %d: a bound of %d ns", seed, bound)
		}
		want, moved := startsOf(t, truth.Run()), int64(0)
		for rank, list := range startsOf(t, run) {
			for i, at := range list {
				if rank == 0 && i == 0 {
					moved = at - want[rank][i] // the run may begin at another time
				}
				if off := at - want[rank][i] - moved; max(off, -off) > bound {
					t.Fatalf("seed %d: rank %d, event %d is off by %d ns, the bound is %d; %+v", seed, rank, i, off, bound, report.Ranks)
				}
			}
		}
	}
}

// What is wanted is not taken for granted: raw times of random programs contradict.
func TestRandomContradicts(t *testing.T) {
	contradicting := 0
	for seed := range uint64(20) {
		x := &observer{}
		trace, err := match.Open(randomProgram(t, seed, 200).Run())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trace.Walk(t.Context(), x, nil); err != nil {
			t.Fatal(err)
		}
		if x.contradictions > 0 {
			contradicting++
		}
	}
	if contradicting < 10 {
		t.Errorf("only %d of 20 random programs have times that contradict", contradicting)
	}
}
