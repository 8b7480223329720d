package hook_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// command runs a program and returns its standard output; the MPIs may run as
// root and with more processes than cores.
func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("timeout", append([]string{"300"}, args...)...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"OMPI_MCA_rmaps_base_oversubscribe=1")
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errOut.String())
	}
	return out.String()
}

// buildEfg builds the command.
func buildEfg(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "efg")
	command(t, ".", "go", "build", "-o", file, "../cmd/efg")
	return file
}

var notCompared = regexp.MustCompile(`"rank":\d+,"thread":0,|,"site":"[^"]*"`)

// A Fortran program is recorded identically through all three interfaces and with both MPIs,
// down to the last argument: indexes and logicals, sentinels, strings, handles.
func TestFortranInterfaces(t *testing.T) {
	efg := buildEfg(t)
	source, err := filepath.Abs("testdata/fortran/calls.F90")
	if err != nil {
		t.Fatal(err)
	}
	for _, mpi := range []string{"openmpi", "mpich"} {
		for _, api := range []string{"MPIF", "MPI", "F08"} {
			t.Run(mpi+"/"+api, func(t *testing.T) {
				dir := t.TempDir()
				command(t, dir, "mpifort."+mpi, "-O0", "-w", "-ffree-line-length-none", "-fallow-argument-mismatch",
					"-D"+api, "-D"+strings.ToUpper(mpi), "-o", "calls", source)
				out := command(t, dir, efg, "run", "--time", "stats", "-o", "calls.efg", "--", "mpiexec."+mpi, "-n", "2", "./calls")
				if out != "calls: ok\n" {
					t.Errorf("the program printed %q", out)
				}
				command(t, dir, efg, "reconstruct", "--verify", "calls.efg")
				for rank := range 2 {
					got := command(t, dir, efg, "reconstruct", "--format", "jsonl", "--rank", fmt.Sprint(rank), "calls.efg")
					compareEvents(t, notCompared.ReplaceAllString(got, ""), fmt.Sprintf("testdata/fortran/calls.%d.jsonl", rank))
				}
			})
		}
	}
}

// compareEvents reports the first event that differs from the golden file's.
func compareEvents(t *testing.T, got, golden string) {
	t.Helper()
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(text), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("%s:%d:\n got  %s\n want %s", golden, i+1, g[i], w[i])
			return
		}
	}
	if len(g) != len(w) {
		t.Errorf("%s: %d events, want %d", golden, len(g)-1, len(w)-1)
	}
}
