package otf2

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// BenchmarkWrite writes a halo exchange: Mrecords/s is the figure.
func BenchmarkWrite(b *testing.B) {
	run := testrun.Traced(b, sim.Config{Program: "halo", Ranks: 64, Steps: 1000, Periodic: true, Seed: 1})
	sel := export.Selection{Thread: -1}
	for i := range run.Procs {
		sel.Procs = append(sel.Procs, i)
	}
	size := int64(0)
	for b.Loop() {
		dir := b.TempDir()
		if err := Write(dir, &export.Job{Run: run, Selection: sel}); err != nil {
			b.Fatal(err)
		}
		size = 0
		files, err := filepath.Glob(filepath.Join(dir, Name, "*.evt"))
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range files {
			if st, err := os.Stat(f); err == nil {
				size += st.Size()
			}
		}
		b.SetBytes(size)
	}
}
