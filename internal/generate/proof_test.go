package generate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/generate"
	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

// proven are the programs whose generated program has the same events, recorded again. The list
// may only grow.
var proven = []string{
	"c/jacobi.c 40", "c/halo3d.c", "c/blocklu.c", "c/planewave.c", "c/grid.c 15 periodic", "c/grid.c 25 null", "c/grid.c 30 open 1 2 2",
	"c/lists.c", "c/loops.c", "c/nest.c", "c/coll.c", "c/icoll.c", "c/neigh.c", "c/pcoll.c", "c/intercoll.c", "c/io.c 2 DIR", "c/comms.c",
	"c/inter.c", "c/growing.c", "c/sessions.c", "c/large.c", "c/userops.c", "c/longjmp.c", "c/types.c", "c/rows.c 2 2",
	"c/rma.c 1", "c/dynamic.c", "c/ports.c", "c/threads.c 6", "c/counted.c", "c/paths.c", "c/teams.c DIR",
	"c/teams.c DIR serialized", "fortran/omp_team.f90", "c/regions.c",
}

// starting are those that start others, on 2 ranks.
var starting = []string{"c/worlds.c DIR"}

// forced are those that depend on outcomes which MPI leaves open: these are forced as recorded.
var forced = []string{
	"c/farm.c", "c/mesh.c", "c/amr.c 8", "fortran/coll_usempi.f90", "fortran/halo_mpifh.f", "fortran/all_f08.f90", "c/persistent.c", "c/probes.c",
	"c/polls.c", "c/polling.c", "c/errors.c", "c/grequest.c", "c/shapes.c", "c/texts.c", "c/selfsend.c", "c/pingpong.c", "c/barriers.c", "c/attrs.c", "c/eager.c",
	"c/races.c blocking half waitany waitsome ignored test testany testsome testall getstatus probe iprobe mprobe improbe persistent cancelled sendrecv tested", "c/posted.c 3",
	"c/races.c threads handover",
}

func TestProof(t *testing.T) {
	benches, err := groundtruth.Benches(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range benches {
		for _, line := range proven {
			t.Run(b.Name+"/"+strings.ReplaceAll(filepath.Base(line), " ", "-"), func(t *testing.T) { prove(t, b, strings.Fields(line), 4, false) })
		}
		for _, line := range starting {
			t.Run(b.Name+"/"+filepath.Base(strings.Fields(line)[0]), func(t *testing.T) { prove(t, b, strings.Fields(line), 2, false) })
		}
		for _, line := range forced {
			name, _, _ := strings.Cut(filepath.Base(line), " ")
			t.Run(b.Name+"/forced/"+name, func(t *testing.T) { prove(t, b, strings.Fields(line), 4, true) })
		}
	}
}

// installed are programs of Debian packages, which were not written for this project.
var installed = []struct {
	name, command string
	inputs        []string // in testdata/real, or of packages
	only          string   // the MPI library that the package uses
	ranks         int
	forced        bool
}{
	{name: "lammps", command: "lmp -in in.melt -log none", inputs: []string{"in.melt"}, only: "openmpi", ranks: 4},
	{name: "hpcc", command: "hpcc", inputs: []string{"hpccinf.txt"}, only: "openmpi", ranks: 4, forced: true},
	{name: "quantum-espresso", command: "pw.x -in si.in", only: "openmpi", ranks: 4, inputs: []string{"si.in", groundtruth.SiliconPotential}},
	{name: "scalapack", command: "/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests/xdlu", inputs: []string{"LU.dat"}, only: "openmpi", ranks: 4},
	{name: "scalapack", command: "/usr/lib/x86_64-linux-gnu/scalapack/mpich-tests/xdlu", inputs: []string{"LU.dat"}, only: "mpich", ranks: 4},
	{name: "netpipe", command: "NPmpich2 -u 4096 -n 20", only: "mpich", ranks: 2},
}

func TestInstalledPrograms(t *testing.T) {
	benches, err := groundtruth.Benches(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range benches {
		for _, a := range installed {
			if a.only != b.Name {
				continue
			}
			t.Run(b.Name+"/"+a.name, func(t *testing.T) {
				line := strings.Fields(a.command)
				program, err := exec.LookPath(line[0])
				if err != nil {
					t.Fatal(err)
				}
				dir := t.TempDir()
				if err := b.CopyInputs(dir, a.inputs); err != nil {
					t.Fatal(err)
				}
				line = append([]string{"sh", "-c", `cd "$0" && exec "$@"`, dir, program}, line[1:]...)
				proveCommand(t, b, dir, line, a.ranks, a.forced)
			})
		}
	}
}

// prove generates the program of a run of a program of testdata and compares the two; forced: its outcomes are
// those of the run.
func prove(t *testing.T, b *groundtruth.Bench, line []string, ranks int, forced bool) {
	program, err := b.Build(t.Context(), line[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := append([]string{program}, line[1:]...)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "DIR", dir)
	}
	app := proveCommand(t, b, dir, args, ranks, forced)
	if text, err := os.ReadFile(filepath.Join(app, "main.c")); line[0] == "c/jacobi.c" && (err != nil || strings.Count(string(text), "\n") > 150) {
		t.Errorf("the program has %d lines: %v", strings.Count(string(text), "\n"), err)
	}
}

// proveCommand is prove for any command, with files in dir. It returns the directory of the program.
func proveCommand(t *testing.T, b *groundtruth.Bench, dir string, args []string, ranks int, forced bool) string {
	file := filepath.Join(dir, "run.efg")
	first, _ := record(t, b, nil, file, ranks, args...)
	app := filepath.Join(dir, "app")
	if err := os.Mkdir(app, 0o755); err != nil {
		t.Fatal(err)
	}
	header, err := os.ReadFile("../../hook/include/efg.h")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := generate.Write(app, first, &generate.Options{ComputeWith: generate.Spin, Source: "run.efg", Header: header}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(app, "main.c")); err != nil || advancing.Match(text) {
		t.Errorf("a poll takes another argument each time that it is repeated: %v", err)
	}
	compile(t, b, app)
	t.Setenv("EFG_SCRATCH", filepath.Join(dir, "scratch"))
	var flags []string
	if forced {
		flags = []string{"--replay", file, "--generated"}
	}
	again, _ := record(t, b, flags, filepath.Join(dir, "again.efg"), ranks, filepath.Join(app, "app"))
	s, err := diff.NewSequences(first, again, false, func(uint64) {})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Equal() {
		t.Errorf("%+v", s.First)
	}
	return app
}

var advancing = regexp.MustCompile(`(?m)^ *do\n.*next\(`)

// compile builds a generated program, without warnings.
func compile(t *testing.T, b *groundtruth.Bench, app string) {
	t.Helper()
	// Open MPI declares MPI_UNWEIGHTED as an array of no elements: gcc warns of each program that passes it.
	out, err := exec.CommandContext(t.Context(), "make", "-s", "-C", app, "CC="+b.CC, "CFLAGS=-O1 -Wall -Wextra -Wpedantic -Werror -Wno-stringop-overread").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// record records a program and returns its run and what it printed.
func record(t *testing.T, b *groundtruth.Bench, flags []string, file string, ranks int, args ...string) (*runfile.Run, string) {
	t.Helper()
	r, err := b.RecordedWith(t.Context(), flags, file, ranks, args...)
	if err != nil || r.Status != 0 {
		t.Fatalf("status %d: %v\n%s", r.Status, err, r.Stderr)
	}
	run, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Close() })
	return run, r.Stdout
}

// What cannot be the same in another process is refused, with the reason.
func TestRefused(t *testing.T) {
	benches, err := groundtruth.Benches(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range benches {
		for line, want := range map[string]string{
			"c/bottom.c":        "rank 0: MPI_Bcast: MPI_BOTTOM with a datatype of addresses",
			"c/dynamic.c 0 two": "MPI_Win_attach: several pieces of memory are attached to a window at the same time",
		} {
			t.Run(b.Name+"/"+strings.ReplaceAll(filepath.Base(line), " ", "-"), func(t *testing.T) {
				scale(t, b, filepath.Join(t.TempDir(), "app"), line, 2, nil, want)
			})
		}
	}
	t.Run("threads", func(t *testing.T) { refusedWithoutTimes(t, benches[len(benches)-1]) })
}

// Without times, the order in which threads make calls in turn is unknown.
func refusedWithoutTimes(t *testing.T, b *groundtruth.Bench) {
	dir := t.TempDir()
	for mode, want := range map[string]string{
		"multiple":   "without times it is unknown in which order",
		"serialized": "threads take turns to call MPI",
	} {
		run, _ := record(t, b, []string{"--time", "stats"}, filepath.Join(dir, mode+".efg"), 2, append(command(t, b, "c/teams.c"), dir, mode)...)
		if _, err := generate.Write(dir, run, &generate.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", mode, err, want)
		}
	}
}

// Displacements in dynamic windows are addresses, which are compared by how far they are apart.
func TestDisplacements(t *testing.T) {
	benches, err := groundtruth.Benches(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, dir := benches[len(benches)-1], t.TempDir()
	runs := map[string]*runfile.Run{}
	for name, shift := range map[string]string{"first": "0", "again": "0", "moved": "1"} {
		runs[name], _ = record(t, b, nil, filepath.Join(dir, name+".efg"), 4, command(t, b, "c/dynamic.c "+shift)...)
	}
	for name, want := range map[string]string{"again": "", "moved": "argument target_disp"} {
		s, err := diff.NewSequences(runs["first"], runs[name], true, func(uint64) {})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && !s.Equal() || want != "" && (s.Equal() || s.First[0].What != want) {
			t.Errorf("%s: %+v", name, s.First)
		}
	}
}
