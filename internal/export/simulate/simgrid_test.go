package simulate

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// writeActions writes a run for SimGrid, and returns the directory and what the user is told.
func writeActions(t *testing.T, run *runfile.Run, what ...string) (dir string, notes []string, err error) {
	t.Helper()
	dir = t.TempDir()
	job := &export.Job{Run: run, What: what, Note: func(line string) { notes = append(notes, line) }}
	job.Thread = -1
	for i := range run.Procs {
		job.Procs = append(job.Procs, i)
	}
	if err = WriteSimGrid(dir, job); err == nil && !OwnsSimGrid(dir) {
		t.Error("the directory is not taken for traces")
	}
	return dir, notes, err
}

var (
	simulated = regexp.MustCompile(`Simulation time ([0-9.]+)`)
	performed = regexp.MustCompile(`(?m)VERBOSE\] (\d+ .*) ([0-9.e+-]+)$`)
)

// replay replays traces with SimGrid. It must perform all actions, and take as long as the longest
// computation of a rank at least. SimGrid does not fail if ranks wait forever.
func replay(t *testing.T, dir string, ranks int) {
	t.Helper()
	platform, err := filepath.Abs("testdata/platform.xml")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("smpirun", "-np", strconv.Itoa(ranks), "-platform", platform, "-hostfile", hosts(t),
		"--cfg=smpi/tmpdir:"+t.TempDir(), "--log=smpi_replay.thres:verbose", "-replay", SimGridList)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	out := string(text)
	found := simulated.FindStringSubmatch(out)
	if err != nil || found == nil || strings.Contains(out, "talling") || strings.Contains(out, "eadlock") {
		t.Fatalf("%v: %.3000s", err, out)
	}
	seconds, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	actions := 0
	for rank := range ranks {
		text, err := os.ReadFile(filepath.Join(dir, actionsName(rank)))
		if err != nil {
			t.Fatal(err)
		}
		computed := 0.0
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if f[1] == "compute" {
				ns, err := strconv.ParseFloat(f[2], 64)
				if err != nil {
					t.Fatal(err)
				}
				computed += ns / 1e9
			}
			if f[1] != "init" && f[1] != "finalize" {
				actions++
			}
		}
		if seconds < computed*(1-1e-6)-1e-6 {
			t.Errorf("the simulation took %v s, rank %d computes %v s", seconds, rank, computed)
		}
	}
	if n := len(performed.FindAllString(out, -1)); n != actions {
		t.Errorf("%d of %d actions were performed: %.2000s", n, actions, out)
	}
}

// hosts is a file with the names of the platform's hosts.
func hosts(t *testing.T) string {
	var b strings.Builder
	for i := range 16 {
		b.WriteString("host" + strconv.Itoa(i) + "\n")
	}
	name := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// SimGrid performs all that recorded programs did, or we say which calls it cannot.
func TestSimGrid(t *testing.T) {
	tests := []struct {
		testrun.Program
		refused string // the calls that cannot be simulated; "": none
	}{
		{Program: testrun.Program{Source: "c/jacobi.c", Args: "20"}},
		{Program: testrun.Program{Source: "c/persistent.c", Args: "5"}},
		{Program: testrun.Program{Source: "c/halo3d.c", Args: "6", MPI: "openmpi"}},
		{Program: testrun.Program{Source: "c/farm.c", Time: "trace"}},
		{Program: testrun.Program{Source: "c/selfsend.c", MPI: "mpich"}},
		{Program: testrun.Program{Source: "c/polls.c", MPI: "openmpi"}},
		{Program: testrun.Program{Source: "c/eager.c", MPI: "mpich"}},
		{Program: testrun.Program{Source: "c/coll.c", Args: "2", Time: "trace"}},
		{Program: testrun.Program{Source: "c/comms.c", MPI: "openmpi"}},
		{Program: testrun.Program{Source: "c/inter.c", MPI: "mpich"}},
		{Program: testrun.Program{Source: "c/probes.c", MPI: "openmpi"}},
		{Program: testrun.Program{Source: "c/icoll.c", MPI: "openmpi"}},
		{Program: testrun.Program{Source: "c/pcoll.c", MPI: "mpich"}},
		{Program: testrun.Program{Source: "c/intercoll.c", MPI: "openmpi"}},
		{Program: testrun.Program{Source: "c/partitioned.c", MPI: "mpich"}},
		{Program: testrun.Program{Source: "fortran/halo_mpifh.f", MPI: "openmpi"}},
		{Program: testrun.Program{Source: "fortran/coll_usempi.f90", MPI: "mpich"}, refused: "4 MPI_Put, 8 MPI_Win_fence"},
	}
	var programs []testrun.Program
	for _, c := range tests {
		programs = append(programs, c.Program)
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		refused := tests[r.Program].refused
		dir, _, err := writeActions(t, r.Run)
		if refused != "" {
			if want := refused + " cannot be simulated (--what supported leaves them out)"; !errors.Is(err, ErrUnsuitable) || err.Error() != want {
				t.Fatalf("%v, not %q", err, want)
			}
			var notes []string
			if dir, notes, err = writeActions(t, r.Run, Supported); len(notes) == 0 || notes[0] != "left out: "+refused {
				t.Errorf("%q", notes)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		replay(t, dir, len(r.Run.Procs))
	})
}

// Runs that a replay would not get to the end of are refused, whatever is left out.
func TestSimGridRefuses(t *testing.T) {
	tests := []struct {
		testrun.Program
		want string // part of the error
	}{
		{testrun.Program{Source: "c/fail.c", Args: "kill 50", Fails: true, MPI: "openmpi"}, "a recording that ends before MPI_Finalize cannot be simulated"},
		{testrun.Program{Source: "c/posted.c", MPI: "mpich"}, "rank 0: a process with several threads that call MPI cannot be simulated"},
	}
	var programs []testrun.Program
	for _, c := range tests {
		programs = append(programs, c.Program)
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		if _, _, err := writeActions(t, r.Run, Supported); !errors.Is(err, ErrUnsuitable) || !strings.Contains(err.Error(), tests[r.Program].want) {
			t.Errorf("%v, not %q", err, tests[r.Program].want)
		}
	})
}

// A part of a run is refused, as are messages and collective calls without the other side.
func TestSimGridParts(t *testing.T) {
	run := testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 4, Steps: 2, Seed: 1})
	for _, sel := range []export.Selection{{Procs: []int{0, 1}, Thread: -1}, {Procs: []int{0, 1, 2, 3}, Thread: -1, To: 9}} {
		if err := WriteSimGrid(t.TempDir(), &export.Job{Run: run, Selection: sel}); !errors.Is(err, ErrUnsuitable) {
			t.Errorf("%+v: %v", sel, err)
		}
	}
	for want, x := range map[string]*exporter{
		"a run with messages that are not matched cannot be simulated: from rank 0 to rank 1 2 more are sent than received": {job: &export.Job{}, open: map[pair]balance{{0, 1}: {messages: 2}}},
		"a run with messages that are not matched cannot be simulated: from rank 3 to rank 1 1 more are received than sent": {job: &export.Job{}, open: map[pair]balance{{3, 1}: {messages: -1}}},
		"a run whose ranks disagree on collective calls cannot be simulated: rank 1 makes 3, rank 0 2":                      {job: &export.Job{}, named: []uint64{2, 3}},
	} {
		if err := x.check(); err == nil || err.Error() != want {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

// Sizes that SimGrid's counts cannot hold are in larger elements, or refused.
func TestSimGridElements(t *testing.T) {
	for _, c := range []struct {
		bytes    []uint64
		counts   []int64
		datatype int64
		ok       bool
	}{
		{[]uint64{0, 1<<31 - 1}, []int64{0, 1<<31 - 1}, byteType, true},
		{[]uint64{9, 1 << 31}, []int64{2, 1 << 28}, doubleType, true},
		{[]uint64{8 * (1<<31 - 1)}, []int64{1<<31 - 1}, doubleType, true},
		{[]uint64{8*(1<<31-1) + 1}, nil, 0, false},
		{[]uint64{math.MaxUint64}, nil, 0, false},
	} {
		counts, datatype, ok := elements(c.bytes...)
		if !slices.Equal(counts, c.counts) || datatype != c.datatype || ok != c.ok {
			t.Errorf("%d: %d, %d, %v", c.bytes, counts, datatype, ok)
		}
	}
}

// Runs without times have no computation, but the same messages.
func TestSimGridSimulated(t *testing.T) {
	for _, program := range []string{"halo", "random"} {
		run := testrun.Simulated(t, sim.Config{Program: program, Ranks: 8, Steps: 10, Seed: 1})
		dir, notes, err := writeActions(t, run)
		if err != nil || len(notes) == 0 || !strings.HasPrefix(notes[len(notes)-1], "without computation") {
			t.Fatalf("%v, %q", err, notes)
		}
		replay(t, dir, 8)
	}
}
