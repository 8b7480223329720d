package parquet

import (
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// whole is an export of all of a run.
func whole(run *runfile.Run, what ...string) *export.Job {
	job := &export.Job{Run: run, What: what, Selection: export.Selection{Thread: -1}}
	for i := range run.Procs {
		job.Procs = append(job.Procs, i)
	}
	return job
}

func events(run *runfile.Run) (n uint64) {
	for i := range run.Procs {
		for k := range run.Procs[i].Streams {
			n += run.Procs[i].Streams[k].Events
		}
	}
	return n
}

// Rows of the table of events in a second of one core.
func BenchmarkEvents(b *testing.B) {
	for _, c := range []struct {
		name string
		run  *runfile.Run
	}{
		{"halo", testrun.Traced(b, sim.Config{Program: "halo", Ranks: 8, Steps: 10000})},
		{"mesh", testrun.Traced(b, sim.Config{Program: "mesh", Ranks: 8, Steps: 2000})},
		{"untimed", testrun.Simulated(b, sim.Config{Program: "halo", Ranks: 8, Steps: 10000})},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := Write(b.TempDir(), whole(c.run, "events")); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(events(c.run))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
