package clocks

import (
	"testing"

	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// BenchmarkCorrect corrects a halo exchange on 8 machines, which takes two walks: Mevents/s is the
// figure, to be compared with BenchmarkWalk of package match.
func BenchmarkCorrect(b *testing.B) {
	run := testrun.Traced(b, sim.Config{Program: "halo", Ranks: 512, Steps: 125, Periodic: true, Seed: 1})
	b.ReportAllocs()
	events := uint64(0)
	for b.Loop() {
		r, err := Correct(b.Context(), run, nil)
		if err != nil {
			b.Fatal(err)
		}
		events += r.Matched.Calls
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
