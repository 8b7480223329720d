package analysis_test

import (
	"runtime"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/check"
	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// inUse is the size of the heap in bytes, without what is no longer used.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The index of a run takes little memory per rank: a million ranks must fit.
func TestIndexMemory(t *testing.T) {
	const ranks, most = 8192, 160
	file := testrun.SimulatedFile(t, sim.Config{Program: "halo", Ranks: ranks, Steps: 2, Seed: 5})
	before := inUse()
	run := testrun.Decode(t, file)
	per := (inUse() - before) / ranks
	if t.Logf("%d bytes per rank", per); per > most {
		t.Errorf("%d bytes per rank, at most %d", per, most)
	}
	runtime.KeepAlive(run)
	runtime.KeepAlive(file)
}

// What analyses keep of each rank while they read a run is bounded, also if no two ranks are
// alike.
func TestMemoryPerRank(t *testing.T) {
	const ranks = 2048
	halo := testrun.Simulated(t, sim.Config{Program: "halo", Ranks: ranks, Steps: 2, Seed: 5})
	random := testrun.Simulated(t, sim.Config{Program: "random", Ranks: ranks, Steps: 24, Seed: 5})
	all := make([]int, ranks)
	for i := range all {
		all[i] = i
	}
	report := func(run *runfile.Run, progress func(done uint64)) error {
		_, err := analysis.NewReport(run, all, progress)
		return err
	}
	matrix := func(run *runfile.Run, progress func(done uint64)) error {
		_, err := analysis.NewMatrix(run, analysis.MatrixOptions{}, progress)
		return err
	}
	checks := func(run *runfile.Run, progress func(done uint64)) error {
		_, err := check.New(run, func(what string, done, _ uint64) {
			if what == "ranks" {
				progress(done)
			}
		})
		return err
	}
	diffs := func(run *runfile.Run, progress func(done uint64)) error {
		_, err := diff.NewOverview(run, all, progress)
		return err
	}
	for _, c := range []struct {
		name    string
		run     *runfile.Run
		compute func(run *runfile.Run, progress func(done uint64)) error
		most    int64 // bytes per rank
	}{
		{"report, halo", halo, report, 450}, {"report, random", random, report, 2500},
		{"matrix, halo", halo, matrix, 700}, {"matrix, random", random, matrix, 400},
		{"check, halo", halo, checks, 700}, {"check, random", random, checks, 800},
		{"diff, random", random, diffs, 3600},
	} {
		var during int64
		err := c.compute(c.run, func(done uint64) {
			if done == ranks {
				during = inUse()
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		per := (during - inUse()) / ranks
		if t.Logf("%s: %d bytes per rank", c.name, per); per > c.most {
			t.Errorf("%s: %d bytes per rank, at most %d", c.name, per, c.most)
		}
	}
	runtime.KeepAlive(halo)
	runtime.KeepAlive(random)
}
