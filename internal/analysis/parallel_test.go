package analysis

import (
	"slices"
	"testing"

	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// Two goroutines never need the same block of times of a large run, or one of them would wait.
func TestPortions(t *testing.T) {
	run := testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 1000, Steps: 3, Seed: 5, Stats: true})
	all := make([]int, len(run.Procs))
	for i := range all {
		all[i] = i
	}
	list := portions(run, all, 4)
	if got := slices.Concat(list...); !slices.Equal(got, all) {
		t.Errorf("portions of %d processes have %d of them", len(all), len(got))
	}
	of := map[int]int{} // by block, its portion
	for n, portion := range list {
		for _, i := range portion {
			block := run.TimesBlock(i)
			if first, ok := of[block]; block < 0 || ok && first != n {
				t.Fatalf("process %d: block %d of portions %d and %d", i, block, first, n)
			}
			of[block] = n
		}
	}
	if few := portions(run, all[:8], 2); len(few) != 8 {
		t.Errorf("8 processes for 2 goroutines are in %d portions, not one each", len(few))
	}
}
