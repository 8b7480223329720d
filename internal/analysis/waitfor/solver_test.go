package waitfor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// fake is a job whose threads wait as given.
func fake(waits [][]waiting, ended []bool) *Verdict {
	v := &Verdict{waits: waits}
	for i := range waits {
		p := &efg.Process{Streams: make([]efg.Stream, len(waits[i]))}
		v.ranks = append(v.ranks, &Rank{Process: p, Number: i, Ended: ended[i], Threads: make([]Thread, len(waits[i]))})
	}
	return v
}

// naive determines by trying repeatedly which ranks can never continue.
func naive(waits [][]waiting, ended []bool) []bool {
	free := make([]bool, len(waits))
	can := func(w *waiting) bool {
		if w.unclear {
			return true
		}
		for _, x := range w.needs {
			met, all := x.unknown && !x.all, true
			for _, m := range x.ranks {
				ok := m >= len(waits) || free[m]
				met, all = met || ok, all && ok
			}
			if x.all && !all || !x.all && !met {
				return false
			}
		}
		return true
	}
	for changed := true; changed; {
		changed = false
		for i := range waits {
			if free[i] || ended[i] {
				continue
			}
			for t := range waits[i] {
				if can(&waits[i][t]) {
					free[i], changed = true, true
				}
			}
		}
	}
	stuck := make([]bool, len(waits))
	for i := range waits {
		stuck[i] = !free[i] && !ended[i]
	}
	return stuck
}

func randomWaits(rng *rand.Rand, n int) ([][]waiting, []bool) {
	var sets []*set
	for range 1 + rng.IntN(2*n) {
		s := &set{unknown: rng.IntN(20) == 0}
		for range 1 + rng.IntN(3) {
			s.ranks = append(s.ranks, rng.IntN(n+rng.IntN(2)))
		}
		slices.Sort(s.ranks)
		s.ranks = slices.Compact(s.ranks)
		sets = append(sets, s)
	}
	waits, ended := make([][]waiting, n), make([]bool, n)
	for i := range waits {
		ended[i] = rng.IntN(15) == 0
		for range 1 + rng.IntN(2)*rng.IntN(2) {
			w := waiting{unclear: rng.IntN(12) == 0}
			for range rng.IntN(4) {
				s := sets[rng.IntN(len(sets))]
				all := rng.IntN(2) == 0
				w.unclear = w.unclear || all && s.unknown
				w.needs = append(w.needs, need{set: s, all: all})
			}
			waits[i] = append(waits[i], w)
		}
	}
	return waits, ended
}

// The ranks that can never continue are those of the plain definition, on random jobs; each of
// them is in a cycle, waits forever, or waits for such ranks.
func TestRelease(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	some := 0
	for round := range 20000 {
		waits, ended := randomWaits(rng, 1+rng.IntN(9))
		v := fake(waits, ended)
		want := naive(waits, ended)
		if v.Stuck = v.release(); !slices.Equal(v.Stuck, want) {
			t.Fatalf("round %d: %v, want %v, of %+v", round, v.Stuck, want, waits)
		}
		v.explain()
		told := map[int]bool{}
		for _, list := range append(slices.Clone(v.Cycles), v.InVain, v.Behind) {
			for _, r := range list {
				told[r] = true
				if !want[r] {
					t.Fatalf("round %d: rank %d is told to be stuck", round, r)
				}
			}
		}
		for i, stuck := range want {
			if stuck {
				some++
				if !told[i] {
					t.Fatalf("round %d: nothing is told of rank %d", round, i)
				}
			}
		}
		checkCycles(t, v)
	}
	if some < 1000 {
		t.Errorf("only %d ranks were stuck", some)
	}
}

func checkCycles(t *testing.T, v *Verdict) {
	t.Helper()
	for _, ranks := range v.Cycles {
		cycle := v.Cycle(ranks)
		for k, r := range cycle {
			next, found := cycle[(k+1)%len(cycle)], false
			for _, w := range v.waits[r] {
				for _, x := range w.needs {
					found = found || slices.Contains(x.ranks, next)
				}
			}
			if !found {
				t.Fatalf("cycle %v of %v: %d does not need %d", cycle, ranks, r, next)
			}
		}
	}
}

// A ring of many ranks, and a barrier that one rank does not reach, are solved in a moment.
func TestManyRanks(t *testing.T) {
	const n = 131072
	waits, missing := make([][]waiting, n), &set{ranks: []int{n - 1}}
	for i := range waits {
		waits[i] = []waiting{{needs: []need{{set: missing, all: true}}}}
	}
	waits[n-1] = []waiting{{needs: []need{{set: &set{ranks: []int{5}}}}}}
	v := fake(waits, make([]bool, n))
	v.Stuck = v.release()
	v.explain()
	if len(v.Cycles) != 1 || !slices.Equal(v.Cycles[0], []int{5, n - 1}) || len(v.Behind) != n-2 {
		t.Errorf("%d cycles, %d behind", len(v.Cycles), len(v.Behind))
	}
	for i := range waits {
		waits[i] = []waiting{{needs: []need{{set: &set{ranks: []int{(i + 1) % n}}}}}}
	}
	v = fake(waits, make([]bool, n))
	v.Stuck = v.release()
	v.explain()
	if len(v.Cycles) != 1 || len(v.Cycles[0]) != n || len(v.Cycle(v.Cycles[0])) != n {
		t.Errorf("%d cycles", len(v.Cycles))
	}
}
