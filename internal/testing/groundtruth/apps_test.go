package groundtruth

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// app is a test program and how to run it.
type app struct {
	source string
	args   []string
	ranks  int // 0 means 4
	only   string
	dies   bool     // ends with an error on purpose; output of the launcher may vary
	varies bool     // output holds times, or what depends on the order of messages
	inputs []string // files that the program needs in its working directory
}

var apps = []app{
	{source: "c/jacobi.c", args: []string{"40"}},
	{source: "c/halo3d.c"},
	{source: "c/mesh.c"},
	{source: "c/blocklu.c"},
	{source: "c/chaos.c", args: []string{"7", "60", "open"}, ranks: 5, varies: true},
	{source: "c/planewave.c"},
	{source: "c/grid.c", args: []string{"15", "periodic"}},
	{source: "c/grid.c", args: []string{"25", "null"}},
	{source: "c/grid.c", args: []string{"30", "open", "1", "2", "2"}},
	{source: "c/lists.c"},
	{source: "c/farm.c"},
	{source: "c/polling.c"},
	{source: "c/polls.c"},
	{source: "c/loops.c"},
	{source: "c/nest.c"},
	{source: "c/persistent.c"},
	{source: "c/eager.c"},
	{source: "c/posted.c"},
	{source: "c/coll.c"},
	{source: "c/icoll.c"},
	{source: "c/neigh.c"},
	{source: "c/pcoll.c"},
	{source: "c/intercoll.c"},
	{source: "c/rma.c"},
	{source: "c/io.c", args: []string{"2", "DIR"}},
	{source: "c/types.c"},
	{source: "c/comms.c"},
	{source: "c/inter.c"},
	{source: "c/probes.c"},
	{source: "c/threads.c"},
	{source: "c/growing.c"},
	{source: "c/amr.c"},
	{source: "c/spawn.c", ranks: 2},
	{source: "c/ports.c"},
	{source: "c/sessions.c"},
	{source: "c/partitioned.c"},
	{source: "c/large.c"},
	{source: "c/errors.c"},
	{source: "c/fatal.c", dies: true},
	{source: "c/grequest.c"},
	{source: "c/attrs.c"},
	{source: "c/userops.c"},
	{source: "c/regions.c"},
	{source: "c/regions.c", args: []string{"kill"}, dies: true},
	{source: "c/mpi1.c"},
	{source: "c/bottom.c"},
	{source: "c/longjmp.c"},
	{source: "cxx/leaves.cc"},
	{source: "c/callbacks.c"},
	{source: "c/callbacks.c", ranks: 1},
	{source: "c/callbacks.c", args: []string{"kill"}, dies: true},
	{source: "c/fail.c", args: []string{"kill"}, dies: true},
	{source: "c/fail.c", args: []string{"any", "5000"}, dies: true},
	{source: "c/fail.c", args: []string{"exit"}, dies: true},
	{source: "c/fail.c", args: []string{"_exit"}, dies: true},
	{source: "c/fail.c", args: []string{"abort"}, dies: true},
	{source: "c/fail.c", args: []string{"segv"}, dies: true},
	{source: "c/fail.c", args: []string{"fork"}},
	{source: "fortran/halo_mpifh.f"},
	{source: "fortran/coll_usempi.f90", args: []string{"DIR"}},
	{source: "fortran/all_f08.f90", args: []string{"DIR"}},
	{source: "python/ring.py", only: "openmpi"},
	{source: "fortran/nested_mpifh.f"},
	{source: "fortran/nested_f08.f90"},
	{source: "python/nested.py", only: "openmpi"},
}

var (
	benches []*Bench
	efgPath string
)

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "efg-groundtruth-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	root, err := Root()
	if err == nil {
		efgPath = filepath.Join(dir, "efg")
		_, err = command(ctx, root, "go", "build", "-o", efgPath, "./cmd/efg")
	}
	for _, mpi := range Installed() {
		var b *Bench
		if err == nil {
			b, err = NewBench(ctx, mpi, root, dir, efgPath)
			benches = append(benches, b)
		}
	}
	if err == nil {
		_, err = command(ctx, root, efgPath, "hook", "path")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// TestPrograms runs every program alone, under efg, and under efg with the logger preloaded
// before it: the output stays the same, and the sequences are equal.
func TestPrograms(t *testing.T) {
	for _, b := range benches {
		for _, a := range apps {
			if a.only != "" && a.only != b.Name {
				continue
			}
			t.Run(b.Name+"/"+a.name(), func(t *testing.T) { checkProgram(t, b, a) })
		}
	}
}

// TestWithoutQueries checks that efg records everything but local queries if
// they are not asked for.
func TestWithoutQueries(t *testing.T) {
	for _, b := range benches {
		for _, source := range []string{"c/comms.c", "c/types.c", "c/attrs.c", "c/io.c", "c/coll.c", "c/probes.c", "c/rma.c"} {
			t.Run(b.Name+"/"+filepath.Base(source), func(t *testing.T) {
				program, err := b.Build(t.Context(), source)
				if err != nil {
					t.Fatal(err)
				}
				dir := t.TempDir()
				file := filepath.Join(dir, "run.efg")
				r, err := b.BothBrief(t.Context(), file, dir, 4, program, "2", dir)
				if err != nil || r.Status != 0 {
					t.Fatalf("status %d: %v\n%s", r.Status, err, r.Stderr)
				}
				c, err := b.Check(t.Context(), file, dir, false)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range c.Differences {
					t.Error(d)
				}
				t.Logf("%d events equal", c.Events)
			})
		}
	}
}

func (a app) name() string {
	n := filepath.Base(a.source)
	if a.dies || len(a.args) > 0 {
		n += "-" + a.args0()
	}
	return n
}

func (a app) args0() string {
	if len(a.args) > 0 {
		return a.args[0]
	}
	return ""
}

func (a app) command(program, dir string) []string {
	line := []string{program}
	if filepath.Ext(program) == ".py" {
		line = []string{"/usr/bin/python3", program}
	}
	if a.inputs != nil {
		line = []string{"sh", "-c", `cd "$0" && exec "$@"`, dir, program}
	}
	for _, arg := range a.args {
		if arg == "DIR" {
			arg = dir
		}
		line = append(line, arg)
	}
	return line
}

func checkProgram(t *testing.T, b *Bench, a app) {
	ctx := t.Context()
	program := a.source
	if !filepath.IsAbs(program) {
		var err error
		if program, err = b.Build(ctx, a.source); err != nil {
			t.Fatal(err)
		}
	}
	ranks := a.ranks
	if ranks == 0 {
		ranks = 4
	}
	dir := t.TempDir()
	if err := b.CopyInputs(dir, a.inputs); err != nil {
		t.Fatal(err)
	}
	line := a.command(program, dir)
	plain, err := b.Plain(ctx, ranks, line...)
	if err != nil {
		t.Fatal(err)
	}
	if !a.dies && plain.Status != 0 {
		t.Fatalf("ends with %d\n%s", plain.Status, plain.Stderr)
	}
	recorded, err := b.Recorded(ctx, filepath.Join(dir, "alone.efg"), ranks, line...)
	a.same(t, "under efg", plain, recorded, err)
	if err := b.Proven(ctx, filepath.Join(dir, "alone.efg")); err != nil {
		t.Error(err)
	}
	logs := filepath.Join(dir, "logs")
	if err := os.Mkdir(logs, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "both.efg")
	both, err := b.Both(ctx, file, logs, ranks, line...)
	a.same(t, "under efg and the logger", plain, both, err)
	c, err := b.Check(ctx, file, logs, true)
	keep(t, dir, b.Name+"-"+a.name())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.Differences {
		t.Error(d)
	}
	if c.Events == 0 {
		t.Error("no events")
	}
	if a.args0() == "kill" && c.Entered == 0 {
		t.Error("no rank was in a call when the job was killed")
	}
	t.Logf("%d events equal, %d calls in progress", c.Events, c.Entered)
}

func (a app) same(t *testing.T, how string, want, got Result, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", how, err)
	}
	// which of several dying ranks a launcher reports is nondeterministic
	if got.Status != want.Status && (!a.dies || got.Status == 0 || want.Status == 0) {
		t.Fatalf("%s: exit status %d, should be %d\n%s", how, got.Status, want.Status, got.Stderr)
	}
	if got.Stdout != want.Stdout && !a.dies && !a.varies {
		t.Errorf("%s: output %q, should be %q", how, got.Stdout, want.Stdout)
	}
}

// keep copies a failed test's files to the directory that EFG_KEEP names.
func keep(t *testing.T, dir, name string) {
	to := os.Getenv("EFG_KEEP")
	if to == "" {
		return
	}
	if err := exec.Command("cp", "-r", dir, filepath.Join(to, name)).Run(); err != nil {
		t.Log(err)
	}
}
