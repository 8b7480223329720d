package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// programs are those of testdata that have no faults, or those that are listed.
var programs = []struct {
	source, args string
	ranks        int
	only         string // MPI library, if it needs a certain one
	faults       string
}{
	{source: "c/amr.c"}, {source: "c/attrs.c"}, {source: "c/coll.c"}, {source: "c/comms.c"}, {source: "c/eager.c"},
	{source: "c/errors.c"}, {source: "c/failing.c"}, {source: "c/farm.c"}, {source: "c/grequest.c"}, {source: "c/grid.c", args: "15 periodic"},
	{source: "c/grid.c", args: "25 null"}, {source: "c/growing.c"}, {source: "c/halo3d.c"}, {source: "c/icoll.c"},
	{source: "c/inter.c"}, {source: "c/intercoll.c"}, {source: "c/io.c", args: "2 DIR"}, {source: "c/jacobi.c", args: "40"},
	{source: "c/large.c"}, {source: "c/lists.c"}, {source: "c/longjmp.c"}, {source: "c/loops.c"}, {source: "c/neigh.c"},
	{source: "c/partitioned.c"}, {source: "c/pcoll.c"}, {source: "c/persistent.c"}, {source: "c/polling.c"}, {source: "c/polls.c"},
	{source: "c/ports.c", only: "openmpi"}, {source: "c/posted.c"}, {source: "c/probes.c"}, {source: "c/rma.c"},
	{source: "c/selfsend.c"}, {source: "c/selfsend.c", args: "vary"}, {source: "c/selfsend.c", args: "copy"},
	{source: "c/selfsend.c", args: "lost", faults: "lost message at MPI_Isend event 27 on 4"},
	{source: "c/sessions.c"}, {source: "c/shapes.c"}, {source: "c/spawn.c", ranks: 2}, {source: "c/threads.c"}, {source: "c/types.c"}, {source: "c/typesig.c"}, {source: "c/userops.c"},
	{source: "fortran/halo_mpifh.f"}, {source: "fortran/coll_usempi.f90", args: "DIR"}, {source: "fortran/all_f08.f90", args: "DIR"},
	// If the library has no ports, the program exits without freeing its communicator.
	{source: "c/ports.c", only: "mpich", faults: "object never freed at MPI_Comm_split event 1 on 4"},

	{source: "c/faults.c", args: "lost", faults: "lost message at MPI_Send event 2 on 1"},
	{source: "c/faults.c", args: "receive", faults: "receive never completed at MPI_Irecv event 1 on 4"},
	{source: "c/faults.c", args: "request", faults: "request never completed at MPI_Isend event 1 on 4"},
	{source: "c/faults.c", args: "persistent", faults: "persistent request never freed at MPI_Send_init event 1 on 4"},
	{source: "c/faults.c", args: "twice", faults: "persistent request misused at MPI_Start event 5 on 4"},
	{source: "c/faults.c", args: "types", faults: "message with different datatypes at MPI_Sendrecv event 1 on 4"},
	{source: "c/faults.c", args: "mixed", faults: "message with different datatypes at MPI_Send event 9 on 1"},
	{source: "c/typesig.c", args: "wrong", faults: "message with different datatypes at MPI_Send event 29 on 1; collective call with other data at MPI_Bcast event 30 on 1"},
	{source: "c/faults.c", args: "comm", faults: "object never freed at MPI_Comm_dup event 3 on 4"},
	{source: "c/faults.c", args: "type", faults: "object never freed at MPI_Type_contiguous event 3 on 4"},
	{source: "c/faults.c", args: "win", only: "openmpi", faults: "object never freed at MPI_Win_create event 1 on 4"},
	{source: "c/faults.c", args: "order", faults: "aborted; collective call out of order at MPI_Ibcast event 1 on 1"},
	{source: "c/faults.c", args: "root", faults: "aborted; collective call with another root at MPI_Ibcast event 1 on 1"},
	{source: "c/faults.c", args: "count", faults: "aborted; collective call with other data at MPI_Iallreduce event 1 on 1"},
	{source: "c/faults.c", args: "counts", faults: "collective call with other data at MPI_Alltoallv event 2 on 1"},
	{source: "c/faults.c", args: "gather", faults: "collective call with other data at MPI_Gatherv event 1 on 1"},
	{source: "c/faults.c", args: "finalize", faults: "no MPI_Finalize at MPI_Init event 0 on 4"},
	{source: "c/faults.c", args: "file", faults: "object never freed at MPI_File_open event 1 on 4"},
}

// TestPrograms records programs and finds their faults, and nothing else.
func TestPrograms(t *testing.T) {
	var list []testrun.Program
	for _, p := range programs {
		list = append(list, testrun.Program{Source: p.source, Args: p.args, Ranks: p.ranks, MPI: p.only, Fails: p.faults != ""})
	}
	testrun.Record(t, list, func(t *testing.T, r *testrun.Recording) { checkRecorded(t, r.Run, programs[r.Program].faults) })
}

func checkRecorded(t *testing.T, run *runfile.Run, want string) *Report {
	t.Helper()
	r, err := New(run)
	if err != nil {
		t.Fatal(err)
	}
	got := short(r)
	if !fits(got, want) {
		t.Errorf("found %q, want %q", got, want)
		for _, f := range r.Findings {
			t.Logf("%+v", f)
		}
	}
	agree(t, run)
	return r
}

// short is what tests compare of a report.
func short(r *Report) []string {
	var list []string
	for _, f := range r.Findings {
		if f.Remark != "" {
			continue
		}
		list = append(list, fmt.Sprintf("%s at %s event %d on %d", f.Kind, f.Op, f.Event, len(f.Ranks)))
	}
	return list
}

// fits compares findings with the expected ones, separated by semicolons. How many ranks end by
// themselves, or call MPI_Abort, before the launcher ends the others is nondeterministic.
func fits(got []string, want string) bool {
	if rest, ok := strings.CutPrefix(want, "aborted; "); ok {
		if len(got) == 0 || !strings.HasPrefix(got[0], string(Aborted)+" at MPI_Abort event ") {
			return false
		}
		got, want = got[1:], rest
	}
	text := strings.Join(got, "; ")
	if strings.HasPrefix(want, string(NoFinalize)) {
		text, want = text[:max(0, len(text)-1)], want[:len(want)-1]
	}
	return text == want
}
