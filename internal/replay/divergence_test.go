package replay_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

// replayed records a program and replays it once with flags, as another program if again is not nil.
func replayed(t *testing.T, b *groundtruth.Bench, flags, line, again []string) (first, second groundtruth.Result) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "first.efg")
	first, err := b.Recorded(t.Context(), file, 4, line...)
	if err != nil {
		t.Fatalf("%v\n%s", err, first.Stderr)
	}
	if again == nil {
		again = line
	}
	second, err = b.RecordedWith(t.Context(), append([]string{"--replay", file}, flags...), filepath.Join(dir, "again.efg"), 4, again...)
	if err != nil {
		t.Fatalf("%v\n%s", err, second.Stderr)
	}
	return first, second
}

// eachBench runs a test with each MPI and races.c.
func eachBench(t *testing.T, test func(t *testing.T, b *groundtruth.Bench, program string)) {
	benches, err := groundtruth.Benches(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range benches {
		program, err := b.Build(t.Context(), "c/races.c")
		if err != nil {
			t.Fatal(err)
		}
		t.Run(b.Name, func(t *testing.T) { test(t, b, program) })
	}
}

var divergence = regexp.MustCompile(`(?m)^efg: replay: rank 0, thread 0, call \d+: recorded was MPI_Irecv at races.c:\d+, the program calls MPI_Recv at races.*$`)

// A program that makes another call than was recorded is reported once, with both calls, and goes on.
func TestDivergence(t *testing.T) {
	eachBench(t, func(t *testing.T, b *groundtruth.Bench, program string) {
		line, other := []string{program, "half", "waitany"}, []string{program, "half", "blocking"}
		first, free := replayed(t, b, []string{"--force"}, line, other)
		lines := divergence.FindAllString(free.Stderr, -1)
		if free.Status != 0 || len(lines) != 1 || !strings.HasSuffix(lines[0], "; the run goes on free") {
			t.Errorf("free: status %d\n%s", free.Status, free.Stderr)
		}
		if want, _, _ := strings.Cut(first.Stdout, "\n"); !strings.HasPrefix(free.Stdout, want+"\nblocking ") {
			t.Errorf("free: %s, want first %s", free.Stdout, want)
		}
		_, aborted := replayed(t, b, []string{"--force", "--on-divergence", "abort"}, line, other)
		lines = divergence.FindAllString(aborted.Stderr, -1)
		if aborted.Status == 0 || len(lines) != 1 || !strings.HasSuffix(lines[0], "; aborted") || strings.Contains(aborted.Stdout, "blocking") {
			t.Errorf("abort: status %d\n%s", aborted.Status, aborted.Stderr)
		}
	})
}

var argument = regexp.MustCompile(`(?m)^efg: replay: rank \d, thread 0, call 1: recorded was another count of MPI_Bcast at races.c:\d+: 1, now 2$`)

// A process that passes another argument is reported, and goes on following.
func TestArgument(t *testing.T) {
	eachBench(t, func(t *testing.T, b *groundtruth.Bench, program string) {
		dir := t.TempDir()
		file, line := filepath.Join(dir, "first.efg"), []string{program, "bcast", "blocking"}
		first, err := b.Recorded(t.Context(), file, 4, line...)
		if err != nil || first.Status != 0 {
			t.Fatalf("status %d: %v\n%s", first.Status, err, first.Stderr)
		}
		t.Setenv("RACES_COUNT", "2")
		r, err := b.RecordedWith(t.Context(), []string{"--replay", file}, filepath.Join(dir, "again.efg"), 4, line...)
		if err != nil || r.Status != 0 || r.Stdout != first.Stdout || len(argument.FindAllString(r.Stderr, -1)) != 4 {
			t.Errorf("status %d: %v\n%s\nwant\n%s\n%s", r.Status, err, r.Stdout, first.Stdout, r.Stderr)
		}
	})
}

// Another command is refused.
func TestRefusal(t *testing.T) {
	eachBench(t, func(t *testing.T, b *groundtruth.Bench, program string) {
		_, r := replayed(t, b, nil, []string{program, "half"}, []string{program, "blocking"})
		if r.Status != 2 || !strings.Contains(r.Stderr, "was recorded of another command") || strings.Count(r.Stderr, "\n") != 1 {
			t.Errorf("status %d\n%s", r.Status, r.Stderr)
		}
	})
}

// A run in which a process was killed is followed up to its last call.
func TestKilled(t *testing.T) {
	eachBench(t, func(t *testing.T, b *groundtruth.Bench, program string) {
		printed := regexp.MustCompile(`(?m)^(half|dies) [0-9a-f]{16}$`)
		for range (replays(t) + 1) / 2 {
			first, second := replayed(t, b, nil, []string{program, "half", "dies"}, nil)
			want, got := printed.FindAllString(first.Stdout, -1), printed.FindAllString(second.Stdout, -1)
			if len(want) != 2 || strings.Join(got, " ") != strings.Join(want, " ") || strings.Contains(second.Stderr, "goes on free") {
				t.Errorf("%q, want %q\n%s", got, want, second.Stderr)
			}
		}
	})
}

// A killed program that lives on in the replay goes on free.
func TestBeyondEnd(t *testing.T) {
	eachBench(t, func(t *testing.T, b *groundtruth.Bench, program string) {
		dir := t.TempDir()
		file := filepath.Join(dir, "first.efg")
		first, err := b.Recorded(t.Context(), file, 4, program, "dies")
		if err != nil || first.Status == 0 {
			t.Fatalf("status %d: %v\n%s", first.Status, err, first.Stderr)
		}
		t.Setenv("RACES_LIVE", "1")
		r, err := b.RecordedWith(t.Context(), []string{"--replay", file}, filepath.Join(dir, "again.efg"), 4, program, "dies")
		want, _, _ := strings.Cut(first.Stdout, "\n")
		if err != nil || r.Status != 0 || !strings.HasPrefix(r.Stdout, want+"\n") || strings.Contains(r.Stderr, "goes on free") {
			t.Errorf("status %d: %v\n%s\nwant %s\n%s", r.Status, err, r.Stdout, want, r.Stderr)
		}
	})
}

// Where polls that found nothing were only counted, all else is as recorded.
func TestTotals(t *testing.T) {
	eachBench(t, func(t *testing.T, b *groundtruth.Bench, program string) {
		dir := t.TempDir()
		file := filepath.Join(dir, "first.efg")
		line := []string{program, "blocking", "polls"}
		first, err := b.RecordedWith(t.Context(), []string{"--polls", "totals"}, file, 4, line...)
		if err != nil || first.Status != 0 {
			t.Fatalf("status %d: %v\n%s", first.Status, err, first.Stderr)
		}
		for range 5 {
			r, err := b.RecordedWith(t.Context(), []string{"--replay", file}, filepath.Join(dir, "again.efg"), 4, line...)
			if err != nil || r.Status != 0 || r.Stdout != first.Stdout {
				t.Fatalf("status %d: %v\n%s\nwant\n%s\n%s", r.Status, err, r.Stdout, first.Stdout, r.Stderr)
			}
		}
	})
}

// Each of two threads receives what it received, and receives that another thread completes get the messages that
// they got.
func TestThreads(t *testing.T) {
	eachBench(t, func(t *testing.T, b *groundtruth.Bench, program string) {
		repeats(t, b, 4, replays(t), []string{program, "threads", "handover"})
	})
}

// Programs that use only sessions are followed, too: the launcher says which rank they have.
func TestSessions(t *testing.T) {
	eachBench(t, func(t *testing.T, b *groundtruth.Bench, _ string) {
		program, err := b.Build(t.Context(), "c/session_race.c")
		if err != nil {
			t.Fatal(err)
		}
		repeats(t, b, 4, 3, []string{program})
	})
}

// Programs that a script starts one after the other, and those that a program starts, go as they went.
func TestWorlds(t *testing.T) {
	eachBench(t, func(t *testing.T, b *groundtruth.Bench, program string) {
		launch := strings.Join(b.Launch, " ")
		script := *b
		script.Launch = []string{"sh", "-c", fmt.Sprintf(`%[1]s "$1" %[2]s waitsome && %[1]s "$1" %[2]s iprobe`, launch, program), "sh"}
		repeats(t, &script, 3, 2, nil)
		if b.Name == "openmpi" { // MPICH over UCX cannot start programs
			spawns, err := b.Build(t.Context(), "c/spawnraces.c")
			if err != nil {
				t.Fatal(err)
			}
			printsSame(t, b, 3, 2, []string{spawns})
		}
	})
}

var waited = regexp.MustCompile(`(?m)^efg: replay: rank 0, thread 0, call \d+: has waited for 10 s for what was recorded of MPI_(\w+)`)

// A process that waits for what was recorded says so after 10 s, once.
func TestPatience(t *testing.T) {
	eachBench(t, func(t *testing.T, b *groundtruth.Bench, program string) {
		dir := t.TempDir()
		file := filepath.Join(dir, "first.efg")
		first, err := b.Recorded(t.Context(), file, 4, program, "waitany")
		if err != nil || first.Status != 0 {
			t.Fatalf("status %d: %v\n%s", first.Status, err, first.Stderr)
		}
		t.Setenv("RACES_LATE", "13")
		r, err := b.RecordedWith(t.Context(), []string{"--replay", file}, filepath.Join(dir, "again.efg"), 4, program, "waitany")
		lines := waited.FindAllString(r.Stderr, -1)
		if err != nil || r.Status != 0 || r.Stdout != first.Stdout || len(lines) != 1 {
			t.Errorf("status %d: %v\n%s\nwant\n%s\n%s", r.Status, err, r.Stdout, first.Stdout, r.Stderr)
		}
	})
}

var stopped = regexp.MustCompile(`^efg: replay: rank 0 is stopped: process (\d+);`)

// With --on-divergence stop the process waits for a debugger, and goes on free when it is continued.
func TestStop(t *testing.T) {
	eachBench(t, func(t *testing.T, b *groundtruth.Bench, program string) {
		dir := t.TempDir()
		file := filepath.Join(dir, "first.efg")
		if r, err := b.Recorded(t.Context(), file, 4, program, "half", "waitany"); err != nil || r.Status != 0 {
			t.Fatalf("status %d: %v\n%s", r.Status, err, r.Stderr)
		}
		line := append([]string{"run", "--replay", file, "--force", "--on-divergence", "stop", "-o", filepath.Join(dir, "again.efg"), "--"}, b.Launch...)
		cmd := exec.CommandContext(t.Context(), b.Efg, append(line, "4", program, "half", "blocking")...)
		cmd.Env = append(os.Environ(), b.Env...)
		errOut, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		found := false
		for lines := bufio.NewScanner(errOut); lines.Scan(); {
			m := stopped.FindStringSubmatch(lines.Text())
			if m == nil {
				continue
			}
			found = true
			pid, _ := strconv.Atoi(m[1])
			for state := []byte("R"); !bytes.Contains(state, []byte(") T ")); { // it stops after it says so
				if state, err = os.ReadFile("/proc/" + m[1] + "/stat"); err != nil {
					t.Fatal(err)
				}
			}
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Wait(); err != nil || !found {
			t.Errorf("stopped: %t, %v", found, err)
		}
	})
}
