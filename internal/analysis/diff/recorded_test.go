package diff_test

import (
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// recordings are the programs of testdata that are recorded for the tests.
var recordings = []testrun.Program{
	{Source: "c/jacobi.c", Args: "40"}, {Source: "c/comms.c", MPI: "openmpi"}, {Source: "c/farm.c", MPI: "openmpi"}, {Source: "c/growing.c"},
	{Source: "c/persistent.c"}, {Source: "c/inter.c", MPI: "openmpi"}, {Source: "c/rma.c"}, {Source: "c/threads.c", MPI: "openmpi"},
	{Source: "c/io.c", Args: "2 DIR", MPI: "openmpi"}, {Source: "c/errors.c", MPI: "openmpi"}, {Source: "c/polling.c", MPI: "openmpi"}, {Source: "c/amr.c", MPI: "openmpi"},
	{Source: "c/neigh.c"}, {Source: "c/coll.c"}, {Source: "c/fail.c", Args: "kill", MPI: "openmpi", Fails: true}, {Source: "fortran/halo_mpifh.f", MPI: "openmpi"},
}

// Recorded programs: the sequences of each pair of ranks diverge where their expanded events
// do, and a run does not differ from itself.
func TestRecorded(t *testing.T) {
	testrun.Record(t, recordings, func(t *testing.T, r *testrun.Recording) { compareRanks(t, r.Run) })
}

func compareRanks(t *testing.T, run *runfile.Run) {
	o := overview(t, run)
	for i := range run.Procs {
		for k := range i {
			p := checkPair(t, run, k, i)
			if classOf(t, o, run.Procs[i].Rank) == classOf(t, o, run.Procs[k].Rank) && !p.Equal() {
				t.Errorf("ranks %d and %d are in one class, but differ: %+v", k, i, p.Items)
			}
		}
	}
	if r := runsOf(t, run, run); !r.Identical() || len(r.Changes) > 0 {
		t.Errorf("a run differs from itself: %+v", r.Changes)
	}
}
