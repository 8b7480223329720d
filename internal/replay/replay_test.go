package replay_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

// parts are the parts of races.c.
var parts = strings.Fields("blocking half waitany testany waitsome testsome ignored test testall getstatus probe iprobe mprobe improbe persistent persistall cancelled sendrecv tested")

// replays is how often each recording is replayed.
const replays = 10

// Programs whose output depends on message races print the same in each replay.
func TestRaces(t *testing.T) {
	benches, err := groundtruth.Benches(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range benches {
		program, err := b.Build(t.Context(), "c/races.c")
		if err != nil {
			t.Fatal(err)
		}
		fortran, err := b.Build(t.Context(), "fortran/races.f90")
		if err != nil {
			t.Fatal(err)
		}
		t.Run(b.Name+"/fortran", func(t *testing.T) { repeats(t, b, 4, []string{fortran}) })
		for _, ranks := range []int{2, 4, 8} {
			t.Run(fmt.Sprintf("%s/%d", b.Name, ranks), func(t *testing.T) {
				line := append([]string{program}, parts...)
				if b.Name == "mpich" { // Open MPI 4 has no partitioned communication
					line = append(line, "arrived")
				}
				repeats(t, b, ranks, line)
			})
		}
	}
}

// repeats records a program and replays it.
func repeats(t *testing.T, b *groundtruth.Bench, ranks int, line []string) {
	t.Helper()
	dir := t.TempDir()
	first := filepath.Join(dir, "first.efg")
	r, err := b.Recorded(t.Context(), first, ranks, line...)
	if err != nil || r.Status != 0 {
		t.Fatalf("status %d: %v\n%s", r.Status, err, r.Stderr)
	}
	if ranks > 2 {
		races(t, b, ranks, line, r.Stdout)
	}
	for i := range replays {
		again := filepath.Join(dir, "again.efg")
		got, err := b.RecordedWith(t.Context(), []string{"--replay", first}, again, ranks, line...)
		if err != nil || got.Status != 0 {
			t.Fatalf("replay %d: status %d: %v\n%s", i, got.Status, err, got.Stderr)
		}
		if got.Stdout != r.Stdout {
			t.Fatalf("replay %d:\n%s\nwant\n%s\n%s", i, got.Stdout, r.Stdout, got.Stderr)
		}
		if !strings.Contains(got.Stderr, " calls as recorded, ") || strings.Contains(got.Stderr, "recorded was") || strings.Contains(got.Stderr, "did not make") {
			t.Fatalf("replay %d: %s", i, got.Stderr)
		}
		if i == 0 {
			same(t, b, first, again)
		}
	}
}

// races checks that free runs print other lines than the recorded one: each of them.
func races(t *testing.T, b *groundtruth.Bench, ranks int, line []string, recorded string) {
	t.Helper()
	constant := strings.Split(strings.TrimSpace(recorded), "\n")
	for i := 0; i < 20 && len(constant) > 0; i++ {
		r, err := b.Plain(t.Context(), ranks, line...)
		if err != nil || r.Status != 0 {
			t.Fatalf("status %d: %v\n%s", r.Status, err, r.Stderr)
		}
		var left []string
		for _, l := range constant {
			if strings.Contains(r.Stdout, l) {
				left = append(left, l)
			}
		}
		constant = left
	}
	if len(constant) > 0 {
		t.Errorf("free runs print the same: %s", constant)
	}
}

// same checks that two runs are equal.
func same(t *testing.T, b *groundtruth.Bench, first, second string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), b.Efg, "diff", first, second, "--ignore", "time").CombinedOutput(); err != nil {
		t.Fatalf("efg diff: %v\n%s", err, out)
	}
}
