package sim

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/efg-tools/efg/internal/testing/groundtruth"
	"github.com/efg-tools/efg/reconstruct"
)

var site = regexp.MustCompile(`,"site":"[^"]*"`)

// The simulated halo exchange equals a recording of the real one, grid.c, in all words except
// callsites. (A receive from MPI_PROC_NULL has another status with MPICH 4.0: source 0, tag 0.
// The simulation follows the standard.)
func TestHaloIsTheRealOne(t *testing.T) {
	root, err := groundtruth.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	efgPath := filepath.Join(dir, "efg")
	cmd := exec.Command("go", "build", "-o", efgPath, "./cmd/efg")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, mpi := range groundtruth.Installed() {
		b, err := groundtruth.NewBench(t.Context(), mpi, root, dir, efgPath)
		if err != nil {
			t.Fatal(err)
		}
		program, err := b.Build(t.Context(), "c/grid.c")
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			border string
			Config
		}{
			{"periodic", Config{Program: "halo", Ranks: 4, Steps: 21, Periodic: true}},
			{"null", Config{Program: "halo", Ranks: 8, Steps: 12, Null: true}},
			{"open", Config{Program: "halo", Ranks: 6, Steps: 10}},
		} {
			if x.Null && mpi.Name == "mpich" {
				continue
			}
			file := filepath.Join(dir, mpi.Name+x.border+".efg")
			r, err := b.RecordedWith(t.Context(), []string{"--time", "stats"}, file, x.Ranks, program, strconv.Itoa(x.Steps), x.border)
			if err != nil || r.Status != 0 {
				t.Fatalf("%s, %s: status %d: %v\n%s", mpi.Name, x.border, r.Status, err, r.Stderr)
			}
			out, err := exec.Command(efgPath, "reconstruct", file, "--format", "jsonl").Output()
			if err != nil {
				t.Fatal(err)
			}
			compareLines(t, mpi.Name+", "+x.border, site.ReplaceAll(out, nil), site.ReplaceAll(lines(t, x.Config), nil))
		}
	}
}

// lines are the simulated events of all ranks.
func lines(t *testing.T, c Config) []byte {
	var out []byte
	for p, err := range c.All(1) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range reconstruct.NewProcess(p, reconstruct.NewNames(p.Defs, nil)).Events(0, reconstruct.Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			out = e.AppendJSON(out)
		}
	}
	return out
}

func compareLines(t *testing.T, what string, got, want []byte) {
	t.Helper()
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(g), len(w)) {
		if !bytes.Equal(g[i], w[i]) {
			t.Fatalf("%s: line %d\nrecorded  %s\nsimulated %s", what, i, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Fatalf("%s: %d lines recorded, %d simulated", what, len(g), len(w))
	}
}
