package simulate_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/simulate"
	"github.com/efg-tools/efg/internal/testing/groundtruth"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// whole is an export of all of a run, and what the user is told.
func whole(run *runfile.Run, what ...string) (job *export.Job, notes *[]string) {
	notes = &[]string{}
	job = &export.Job{Run: run, What: what, Note: func(line string) { *notes = append(*notes, line) }}
	job.Thread = -1
	for i := range run.Procs {
		job.Procs = append(job.Procs, i)
	}
	return job, notes
}

func write(run *runfile.Run, what ...string) (text string, notes []string, err error) {
	job, told := whole(run, what...)
	var b bytes.Buffer
	err = simulate.WriteGOAL(&b, job)
	return b.String(), *told, err
}

// firstJoined is the first tag of messages of collective calls.
const firstJoined = 3 << 29

// plain reports whether a tag is not one of collective calls.
func plain(tag int64) bool { return tag < firstJoined }

// cells are the messages of a schedule with such tags, by sender and receiver.
func (s *schedule) cells(plain func(tag int64) bool) map[[2]int]analysis.Cell {
	found := map[[2]int]analysis.Cell{}
	for rank, list := range s.ranks {
		for _, o := range list {
			if o.kind == "send" && plain(o.tag) {
				c := found[[2]int{rank, o.peer}]
				found[[2]int{rank, o.peer}] = analysis.Cell{Bytes: c.Bytes + o.size, Messages: c.Messages + 1}
			}
		}
	}
	return found
}

// recorded are the messages of a run.
func recorded(t *testing.T, run *runfile.Run) map[[2]int]analysis.Cell {
	t.Helper()
	m, err := analysis.NewMatrix(run, analysis.MatrixOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[[2]int]analysis.Cell{}
	if err := m.Each(func(e analysis.Entry) error {
		found[[2]int{e.From, e.To}] = e.Cell
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// computed is the computation of a rank.
func (s *schedule) computed(rank int) (ns uint64) {
	for _, o := range s.ranks[rank] {
		if o.kind == "calc" && o.cpu == 0 {
			ns += o.size
		}
	}
	return ns
}

// received is how many bytes a rank receives.
func (s *schedule) received(rank int) (bytes uint64) {
	for _, o := range s.ranks[rank] {
		if o.kind == "recv" {
			bytes += o.size
		}
	}
	return bytes
}

// program is a recorded program, and what cannot be simulated.
type program struct {
	testrun.Program
	refused string
	// waits: it does not rely on messages being buffered.
	waits bool
}

var programs = []program{
	{Program: testrun.Program{Source: "c/jacobi.c", Args: "20"}, waits: true},
	{Program: testrun.Program{Source: "c/persistent.c", Args: "5"}},
	{Program: testrun.Program{Source: "c/halo3d.c", Args: "6", MPI: "openmpi"}},
	{Program: testrun.Program{Source: "c/farm.c", Time: "trace"}},
	{Program: testrun.Program{Source: "c/selfsend.c", MPI: "mpich"}},
	{Program: testrun.Program{Source: "c/polling.c"}},
	{Program: testrun.Program{Source: "c/polls.c", Args: "20", MPI: "openmpi"}},
	{Program: testrun.Program{Source: "c/eager.c", MPI: "mpich"}},
	{Program: testrun.Program{Source: "c/coll.c", Args: "2", Time: "trace"}, waits: true},
	{Program: testrun.Program{Source: "c/icoll.c", MPI: "openmpi"}, waits: true},
	{Program: testrun.Program{Source: "c/pcoll.c", MPI: "mpich"}},
	{Program: testrun.Program{Source: "c/neigh.c"}, refused: ofUnknownNeighbours()},
	{Program: testrun.Program{Source: "c/intercoll.c"}},
	{Program: testrun.Program{Source: "c/comms.c", MPI: "openmpi"}},
	{Program: testrun.Program{Source: "c/inter.c", MPI: "mpich"}},
	{Program: testrun.Program{Source: "c/probes.c"}},
	{Program: testrun.Program{Source: "c/posted.c"}},
	{Program: testrun.Program{Source: "c/partitioned.c"}},
	{Program: testrun.Program{Source: "c/amr.c", MPI: "mpich"}},
	{Program: testrun.Program{Source: "c/shapes.c", MPI: "openmpi"}},
	{Program: testrun.Program{Source: "c/large.c", MPI: "mpich"}},
	{Program: testrun.Program{Source: "c/threads.c", Time: "trace", MPI: "openmpi"}},
	{Program: testrun.Program{Source: "fortran/halo_mpifh.f"}},
	{Program: testrun.Program{Source: "fortran/all_f08.f90", MPI: "openmpi"}},
	{Program: testrun.Program{Source: "fortran/coll_usempi.f90", MPI: "mpich"}, refused: "4 MPI_Put, 8 MPI_Win_fence"},
}

// ofUnknownNeighbours are the calls on a communicator whose neighbours no rank alone knows, that of
// MPI_Dist_graph_create.
func ofUnknownNeighbours() string {
	var list []string
	for _, prefix := range []string{"Ineighbor", "Neighbor"} {
		for _, name := range []string{"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"} {
			list = append(list, "12 MPI_"+prefix+"_"+name+" of unknown neighbours")
		}
	}
	return strings.Join(list, ", ")
}

// What recorded programs did is executed by our own simulator to the end, with the messages of the
// recorded matrix.
func TestPrograms(t *testing.T) {
	var list []testrun.Program
	for _, p := range programs {
		list = append(list, p.Program)
	}
	testrun.Record(t, list, func(t *testing.T, r *testrun.Recording) {
		p := &programs[r.Program]
		text, _, err := write(r.Run)
		if p.refused != "" {
			if want := p.refused + " cannot be simulated (--what supported leaves them out)"; !errors.Is(err, simulate.ErrUnsuitable) || err.Error() != want {
				t.Fatalf("%v, not %q", err, want)
			}
			var notes []string
			text, notes, err = write(r.Run, simulate.Supported)
			if len(notes) == 0 || notes[0] != "left out: "+p.refused {
				t.Errorf("%q", notes)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		checkSchedule(t, r.Run, text, p.waits)
	})
}

// LAMMPS, as Debian has it.
func TestLammps(t *testing.T) {
	benches, err := groundtruth.Benches(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	input, err := filepath.Abs("../../../testdata/real/in.melt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // it writes files
	for _, bench := range benches {
		if bench.Name != "openmpi" {
			continue
		}
		file := filepath.Join(t.TempDir(), "run.efg")
		result, err := bench.RecordedWith(t.Context(), []string{"--time", "trace"}, file, 4, "/usr/bin/lmp", "-in", input, "-log", "none")
		if err != nil || result.Status != 0 {
			t.Fatal(err, result.Status, result.Stderr)
		}
		run := testrun.Open(t, file)
		text, _, err := write(run)
		if err != nil {
			t.Fatal(err)
		}
		checkSchedule(t, run, text, false)
	}
}

// checkSchedule: all of a schedule, and of the traces of the same run, is executed, with the recorded
// messages; if the program waits for messages rather than rely on buffers, also without these.
func checkSchedule(t *testing.T, run *runfile.Run, text string, waits bool) {
	t.Helper()
	s := parse(t, text)
	took := s.execute(t, 1<<62)
	if waits {
		s.execute(t, 0)
	}
	for rank := range s.ranks {
		if ns := s.computed(rank); int64(ns) > took {
			t.Errorf("rank %d computes %d ns of %d", rank, ns, took)
		}
	}
	if found, want := s.cells(plain), recorded(t, run); !maps.Equal(found, want) {
		t.Errorf("%v\nnot %v", found, want)
	}
	checkTraces(t, run, s)
}

// Runs that a simulation would not get to the end of are refused, whatever is left out, as are parts of
// runs.
func TestRefused(t *testing.T) {
	tests := []struct {
		testrun.Program
		want string // part of the error
	}{
		{testrun.Program{Source: "c/fail.c", Args: "kill 50", Fails: true, MPI: "openmpi"}, "a recording that ends before MPI_Finalize cannot be simulated"},
		{testrun.Program{Source: "c/rma.c", MPI: "mpich"}, "MPI_Accumulate, "},
		{testrun.Program{Source: "c/errors.c", MPI: "openmpi"}, "failed MPI_Send cannot be simulated (--what supported leaves them out)"},
	}
	var programs []testrun.Program
	for _, c := range tests {
		programs = append(programs, c.Program)
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		if _, _, err := write(r.Run); !errors.Is(err, simulate.ErrUnsuitable) || !strings.Contains(err.Error(), tests[r.Program].want) {
			t.Errorf("%v, not %q", err, tests[r.Program].want)
		}
	})
	run := testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 4, Steps: 2, Seed: 1})
	for _, sel := range []export.Selection{{Procs: []int{0, 1}, Thread: -1}, {Procs: []int{0, 1, 2, 3}, Thread: -1, To: 9}} {
		if err := simulate.WriteGOAL(io.Discard, &export.Job{Run: run, Selection: sel}); !errors.Is(err, simulate.ErrUnsuitable) {
			t.Errorf("%+v: %v", sel, err)
		}
	}
	s := testrun.NewScript(t, 2)
	s.Rank(0).Call(1, 2, "MPI_Send", testrun.Args{"comm": "MPI_COMM_WORLD", "count": 1, "datatype": "MPI_INT", "dest": 1, "tag": 4})
	s.Rank(1).Call(1, 2, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_SELF"})
	_, _, err := write(s.Run())
	if want := "a run with messages that are not matched cannot be simulated: from rank 0 to rank 1 1 more are sent than received"; err == nil || err.Error() != want {
		t.Errorf("%v, not %q", err, want)
	}
}

// Of what a collective call is made comes from whom it must, whoever the root is.
func TestAlgorithms(t *testing.T) {
	data := testrun.Args{"comm": "MPI_COMM_WORLD", "count": 2, "datatype": "MPI_INT", "op": "MPI_SUM"}
	blocks := testrun.Args{"comm": "MPI_COMM_WORLD", "sendcount": 2, "sendtype": "MPI_INT", "recvcount": 2, "recvtype": "MPI_INT"}
	calls := []struct {
		name  string
		args  testrun.Args
		omit  []string
		heard func(rank, root, ranks int) []int // the ranks that a rank has something of at least
		exact bool
	}{
		{"MPI_Barrier", data, []string{"count", "datatype", "op"}, everyone, true},
		{"MPI_Bcast", data, []string{"op"}, theRoot, false},
		{"MPI_Reduce", data, nil, atTheRoot, false},
		{"MPI_Allreduce", data, nil, everyone, true},
		{"MPI_Scan", data, nil, lower, true},
		{"MPI_Allgather", blocks, nil, everyone, true},
		{"MPI_Alltoall", blocks, nil, everyone, true},
		{"MPI_Gather", blocks, nil, atTheRoot, true},
		{"MPI_Scatter", blocks, nil, theRoot, true},
	}
	for _, c := range calls {
		for ranks := 2; ranks <= 9; ranks++ {
			for root := range ranks {
				s := testrun.NewScript(t, ranks)
				s.Each(func(r *testrun.ScriptRank, rank int) {
					args := maps.Clone(c.args)
					for _, name := range c.omit {
						delete(args, name)
					}
					if strings.Contains("MPI_Bcast MPI_Reduce MPI_Gather MPI_Scatter", c.name) {
						args["root"] = root
					}
					r.Call(1, 2, c.name, args)
				})
				text, _, err := write(s.Run())
				if err != nil {
					t.Fatal(err)
				}
				x := parse(t, text)
				x.execute(t, 0)
				for rank := range ranks {
					found, want := x.knows(rank), c.heard(rank, root, ranks)
					missing := slices.ContainsFunc(want, func(i int) bool { return !slices.Contains(found, i) })
					if bytes := x.received(rank); strings.HasPrefix(c.name, "MPI_All") && c.name != "MPI_Allreduce" && bytes != uint64(8*(ranks-1)) {
						t.Errorf("%s of %d ranks: rank %d receives %d bytes", c.name, ranks, rank, bytes)
					}
					if missing || c.exact && len(found) != len(want) {
						t.Errorf("%s of %d ranks, root %d: rank %d has something of %d, want %d", c.name, ranks, root, rank, found, want)
					}
				}
			}
		}
	}
}

func everyone(_, _, ranks int) []int { return count(0, ranks) }
func lower(rank, _, _ int) []int     { return count(0, rank+1) }

func theRoot(rank, root, _ int) []int {
	if rank == root {
		return []int{rank}
	}
	return []int{rank, root}
}

func atTheRoot(rank, root, ranks int) []int {
	if rank == root {
		return count(0, ranks)
	}
	return []int{rank}
}

func count(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// What is done before a request is waited for does not wait for its message, what is done later does.
func TestRequests(t *testing.T) {
	data := testrun.Args{"comm": "MPI_COMM_WORLD", "count": 1, "datatype": "MPI_INT", "tag": 4}
	with := func(more testrun.Args) testrun.Args { return merged(data, more) }
	status := testrun.Args{"status.source": 0, "status.tag": 4, "status.bytes": 4}
	s := testrun.NewScript(t, 4)
	request := s.Rank(0).Call(1, 2, "MPI_Irecv", with(testrun.Args{"source": 1}))
	s.Rank(0).Call(3, 4, "MPI_Send", with(testrun.Args{"dest": 2}))
	s.Rank(0).Call(5, 2000, "MPI_Wait", testrun.Args{"request": request, "status.source": "EFG_AS_POSTED", "status.tag": "EFG_AS_POSTED", "status.bytes": "EFG_AS_POSTED"})
	s.Rank(0).Call(2001, 2002, "MPI_Send", with(testrun.Args{"dest": 3}))
	s.Rank(1).Call(0, 1, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_SELF"})
	s.Rank(1).Call(1001, 1002, "MPI_Send", with(testrun.Args{"dest": 0}))
	s.Rank(2).Call(1, 10, "MPI_Recv", with(merged(status, testrun.Args{"source": 0})))
	s.Rank(3).Call(1, 2010, "MPI_Recv", with(merged(status, testrun.Args{"source": 0})))
	run := s.Run()
	text, _, err := write(run)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	job, _ := whole(run)
	if err := simulate.WriteLiballprof(dir, job); err != nil {
		t.Fatal(err)
	}
	traces, _ := readTraces(t, dir, 4)
	for _, x := range []*schedule{parse(t, text), traces} {
		x.execute(t, 1<<62)
		if two, three := x.knows(2), x.knows(3); len(two) != 2 || len(three) != 3 {
			t.Errorf("rank 2 has something of %d, rank 3 of %d", two, three)
		}
	}
}

func merged(a, b testrun.Args) testrun.Args {
	c := maps.Clone(a)
	maps.Copy(c, b)
	return c
}

// Simulated runs of more ranks.
func TestSimulated(t *testing.T) {
	for _, name := range []string{"halo", "random"} {
		run := testrun.Simulated(t, sim.Config{Program: name, Ranks: 16, Steps: 10, Seed: 1})
		text, notes, err := write(run)
		if err != nil || len(notes) == 0 || !strings.HasPrefix(notes[len(notes)-1], "without computation") {
			t.Fatalf("%v, %q", err, notes)
		}
		s := parse(t, text)
		s.execute(t, 1<<62)
		if found, want := s.cells(plain), recorded(t, run); !maps.Equal(found, want) {
			t.Errorf("%s: %v\nnot %v", name, found, want)
		}
	}
}
