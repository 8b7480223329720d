package match

import (
	"runtime"
	"testing"

	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

type nothing struct{}

func (nothing) Enter(*Call) {}
func (nothing) Exit(*Call)  {}

// BenchmarkWalk walks a halo exchange: Mevents/s is the figure.
func BenchmarkWalk(b *testing.B) {
	for _, ranks := range []int{64, 1024} {
		run := testrun.Traced(b, sim.Config{Program: "halo", Ranks: ranks, Steps: 64000 / ranks, Periodic: true, Seed: 1})
		b.Run(map[int]string{64: "64", 1024: "1024"}[ranks], func(b *testing.B) {
			events := uint64(0)
			for b.Loop() {
				b.StopTimer()
				trace, err := Open(run)
				if err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				b.StartTimer()
				if _, err := trace.Walk(b.Context(), nothing{}, nil); err != nil {
					b.Fatal(err)
				}
				events += trace.Events
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}
