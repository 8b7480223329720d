package replay_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

// parts are the parts of races.c.
var parts = strings.Fields("blocking half waitany testany waitsome testsome ignored test testall getstatus probe iprobe mprobe improbe persistent persistall cancelled sendrecv tested")

// replays is how often each recording is replayed: EFG_SOAK_REPLAYS times.
func replays(t *testing.T) int {
	text := os.Getenv("EFG_SOAK_REPLAYS")
	if text == "" {
		return 10
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("EFG_SOAK_REPLAYS=%s: want a number", text)
	}
	return n
}

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
		t.Run(b.Name+"/fortran", func(t *testing.T) { repeats(t, b, 4, replays(t), []string{fortran}) })
		for _, ranks := range []int{2, 4, 8} {
			t.Run(fmt.Sprintf("%s/%d", b.Name, ranks), func(t *testing.T) {
				line := append([]string{program}, parts...)
				if b.Name == "mpich" { // Open MPI 4 has no partitioned communication
					line = append(line, "arrived")
				}
				repeats(t, b, ranks, replays(t), line)
			})
		}
	}
}

// repeats records a program and replays it so many times, the last time with the same events.
func repeats(t *testing.T, b *groundtruth.Bench, ranks, times int, line []string) {
	t.Helper()
	first, again := printsSame(t, b, ranks, times, line)
	same(t, b, first, again)
}

// printsSame records a program and replays it so many times. It returns the first and the last recording.
func printsSame(t *testing.T, b *groundtruth.Bench, ranks, times int, line []string) (first, again string) {
	t.Helper()
	dir := t.TempDir()
	first, again = filepath.Join(dir, "first.efg"), filepath.Join(dir, "again.efg")
	r, err := b.Recorded(t.Context(), first, ranks, line...)
	if err != nil || r.Status != 0 {
		t.Fatalf("status %d: %v\n%s", r.Status, err, r.Stderr)
	}
	if ranks > 2 {
		races(t, b, ranks, line, r.Stdout)
	}
	for i := range times {
		got, err := b.RecordedWith(t.Context(), []string{"--replay", first}, again, ranks, line...)
		if err != nil || got.Status != 0 {
			t.Fatalf("replay %d: status %d: %v\n%s", i, got.Status, err, got.Stderr)
		}
		if sorted(got.Stdout) != sorted(r.Stdout) {
			t.Fatalf("replay %d:\n%s\nwant\n%s\n%s", i, got.Stdout, r.Stdout, got.Stderr)
		}
		if !strings.Contains(got.Stderr, " calls as recorded, ") || strings.Contains(got.Stderr, "recorded was") || strings.Contains(got.Stderr, "did not make") || strings.Contains(got.Stderr, "goes on free") {
			t.Fatalf("replay %d: %s", i, got.Stderr)
		}
	}
	return first, again
}

// sorted sorts lines: those of different processes come in any order.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
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
