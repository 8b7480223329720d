package waits

import (
	"math/rand/v2"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// BenchmarkReport finds the waits of a halo exchange in which ranks compute for random times.
func BenchmarkReport(b *testing.B) {
	c := sim.Config{Program: "halo", Ranks: 64, Steps: 1000, Periodic: true, Seed: 1}
	random := rand.New(rand.NewPCG(1, 2))
	run, err := c.Run(func(p *efg.Process) error {
		return sim.GiveTimes(p, func() uint64 { return 0 }, func() uint64 { return 200 + random.Uint64N(200) })
	})
	if err != nil {
		b.Fatal(err)
	}
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	events := uint64(0)
	for b.Loop() {
		r, err := New(run, procs)
		if err != nil {
			b.Fatal(err)
		}
		events += r.Matched.Calls
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
