package hook_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var pidOfRank = regexp.MustCompile(`PID \d+`)

// outcome is what a command prints, and its exit status.
func outcome(t *testing.T, dir string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command("timeout", append([]string{"300"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var out bytes.Buffer
	cmd.Stdout = &out
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return pidOfRank.ReplaceAllString(out.String(), "PID"), cmd.ProcessState.ExitCode()
}

// A program that passes invalid handles, or handles that the recorder cannot know, behaves as
// it does unrecorded; so does one whose callbacks return values that are not error codes.
func TestHandles(t *testing.T) {
	efg := buildEfg(t)
	source, err := filepath.Abs("testdata/handles/handles.c")
	if err != nil {
		t.Fatal(err)
	}
	// Freed handles are left out where the outcome is random: Open MPI uses pointers as
	// handles, and MPICH reads a group again.
	handles := map[string][][]string{
		"openmpi": {{"null"}, {"unseen"}, {"shared"}, {"result"}},
		"mpich":   {{"null"}, {"freed", "t"}, {"freed", "c"}, {"unseen"}, {"shared"}, {"result"}},
	}
	for mpi, kinds := range handles {
		dir := t.TempDir()
		command(t, dir, "mpicc."+mpi, "-g", "-o", "handles", source)
		for _, kind := range kinds {
			run := append([]string{"mpiexec." + mpi, "-n", "1", "./handles"}, kind...)
			want, status := outcome(t, dir, run...)
			got, recorded := outcome(t, dir, append([]string{efg, "run", "-o", kind[0] + ".efg", "--"}, run...)...)
			if got != want || recorded != status {
				t.Errorf("%s, %v: exit status %d, unrecorded %d\n got  %s\n want %s", mpi, kind, recorded, status, got, want)
			}
		}
	}
}
