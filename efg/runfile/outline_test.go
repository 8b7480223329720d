package runfile_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// The outline of a run agrees with its streams; for other files it is the error of opening it
// as a run.
func TestOutline(t *testing.T) {
	for _, c := range []sim.Config{{Program: "halo", Ranks: 27, Steps: 5, Seed: 1}, {Program: "random", Ranks: 8, Steps: 9, Seed: 2, Signatures: 20}} {
		files, err := c.WriteNodes(t.TempDir(), 1)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		run, err := runfile.NewRun(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		want := runfile.Outline{Processes: uint64(len(run.Procs))}
		for i := range run.Procs {
			for _, s := range run.Procs[i].Streams {
				want.Streams++
				want.Graph = max(want.Graph, s.Nodes+s.Edges)
			}
		}
		o, err := runfile.ReadOutline(bytes.NewReader(data), int64(len(data)))
		if err != nil || o.Processes != want.Processes || o.Streams != want.Streams || o.Graph < want.Graph {
			t.Errorf("%s: %+v, want %+v; %v", filepath.Base(files[0]), o, want, err)
		}
		for n := range len(data) {
			_, want := runfile.NewRun(bytes.NewReader(data[:n]), int64(n))
			if _, err := runfile.ReadOutline(bytes.NewReader(data[:n]), int64(n)); err == nil || err.Error() != want.Error() {
				t.Fatalf("%d bytes: %v, want %v", n, err, want)
			}
		}
	}
	if n := (&runfile.Outline{Streams: 1 << 40, Graph: 1 << 40}).Most(); n != math.MaxUint64 {
		t.Errorf("%d", n)
	}
}
