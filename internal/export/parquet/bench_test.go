package parquet

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
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

// processorTime is the processor time that the process has taken, ns.
func processorTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// size is the size of a directory's files.
func size(b *testing.B, dir string) (bytes int64) {
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		bytes += info.Size()
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return bytes
}

// Rows of the table of events in a second of processor time, and how many times larger JSON Lines
// are.
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
			text := 0
			testrun.EachEvent(b, c.run, func(_ *reconstruct.Process, e *reconstruct.Event) { text += len(e.AppendJSON(nil)) })
			dir, begin := "", processorTime(b)
			for b.Loop() {
				dir = b.TempDir()
				if err := Write(dir, whole(c.run, "events")); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(events(c.run))*float64(b.N)/float64(processorTime(b)-begin)*1e3, "Mrows/cpu-s")
			b.ReportMetric(float64(text)/float64(size(b, dir)), "x")
		})
	}
}
