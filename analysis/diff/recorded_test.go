package diff_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/groundtruth"
)

// recordings are the programs of testdata that are recorded for the tests, with their
// arguments and the number of ranks, and whether with MPICH too.
var recordings = []struct {
	source, args string
	ranks        int
	both         bool
}{
	{"c/jacobi.c", "40", 4, true}, {"c/comms.c", "", 4, false}, {"c/farm.c", "", 4, false}, {"c/growing.c", "", 4, true},
	{"c/persistent.c", "", 4, true}, {"c/inter.c", "", 4, false}, {"c/rma.c", "", 4, true}, {"c/threads.c", "", 4, false},
	{"c/io.c", "2 DIR", 4, false}, {"c/errors.c", "", 4, false}, {"c/polling.c", "", 4, false}, {"c/amr.c", "", 4, false},
	{"c/neigh.c", "", 4, true}, {"c/coll.c", "", 4, true}, {"c/fail.c", "kill", 4, false}, {"fortran/halo_mpifh.f", "", 4, false},
}

// Recorded programs: the sequences of each pair of ranks part where their expanded
// events do, and a run does not differ from itself.
func TestRecorded(t *testing.T) {
	benches, err := groundtruth.Benches(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, bench := range benches {
		for _, r := range recordings {
			if bench.Name != "openmpi" && !r.both {
				continue
			}
			t.Run(bench.Name+"/"+filepath.Base(r.source), func(t *testing.T) {
				program, err := bench.Build(t.Context(), r.source)
				if err != nil {
					t.Fatal(err)
				}
				own := t.TempDir()
				file := filepath.Join(own, "run.efg")
				line := append([]string{program}, strings.Fields(strings.ReplaceAll(r.args, "DIR", own))...)
				res, err := bench.Recorded(t.Context(), file, r.ranks, line...)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := os.Stat(file); err != nil {
					t.Fatalf("%v\n%s", err, res.Stderr)
				}
				compareRanks(t, file)
			})
		}
	}
}

func compareRanks(t *testing.T, file string) {
	run, err := efg.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	o := overview(t, run)
	for i := range run.Procs {
		for k := range i {
			p := checkPair(t, run, k, i)
			if classOf(t, o, run.Procs[i].Rank) == classOf(t, o, run.Procs[k].Rank) && !p.Equal() {
				t.Errorf("ranks %d and %d are in one class, but differ: %+v", k, i, p.Items)
			}
		}
	}
	again, err := efg.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if r := runsOf(t, run, again); !r.Identical() || len(r.Changes) > 0 {
		t.Errorf("a run differs from itself: %+v", r.Changes)
	}
}
