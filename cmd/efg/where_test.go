package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/live"
)

var seconds = regexp.MustCompile(`\d+(\.\d+)? (ns|µs|ms|s)( to \d+(\.\d+)? (ns|µs|ms|s))?`)

// A job that hung and was ended shows where.
func TestWhere(t *testing.T) {
	m := mpis[1]
	program := compileMPI(t, m, filepath.Join("..", "..", "..", "testdata", "c", "stuck.c"))
	dir := t.TempDir()
	hangIn(t, dir, "mpiexec.mpich", "-n", "4", program, "pair")
	out, errOut, status := efgRun(t, nil, "where", dir)
	if status != statusHangs || errOut != "" {
		t.Fatalf("status %d, errors %q", status, errOut)
	}
	text := regexp.MustCompile(` +`).ReplaceAllString(seconds.ReplaceAllString(out, "TIME"), " ")
	for _, want := range []string{
		"job " + program + " pair\n",
		"ranks 4 of 4; none is running; last update ",
		"DEADLOCK ranks 0-1 wait for each other: 0 -> 1 -> 0\n",
		"behind ranks 2-3: wait for ranks that are blocked forever\n",
		"\n0-1 2 TIME MPI_Recv(source={0-1}, tag=7, comm=MPI_COMM_WORLD, ...) receive stuck.c:33 0-1\n",
		"\n2-3 2 TIME MPI_Barrier(comm=MPI_COMM_WORLD) hang stuck.c:49 0-1\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	out, _, _ = efgRun(t, nil, "where", dir, "--rank", "1,3")
	if n := strings.Count(out, "\n"); n != 9 || !strings.Contains(out, "   3       0     11 ") {
		t.Errorf("two ranks:\n%s", out)
	}
	out, _, _ = efgRun(t, nil, "where", dir, "--json")
	var c live.JobState
	if err := json.Unmarshal([]byte(out), &c); err != nil || c.Version != 1 || len(c.Threads) != 4 || c.Running || len(c.Deadlocks) != 1 {
		t.Errorf("%v: %s", err, out)
	}
	checkStoredWhere(t, dir, &c)
}

// checkStoredWhere demands that the run file of a directory's segments yields the same as
// these, and that it does not count the calls in progress as events.
func checkStoredWhere(t *testing.T, dir string, want *live.JobState) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.efg")
	paths, err := live.Segments(dir)
	if err != nil {
		t.Fatal(err)
	}
	if out, errOut, status := efgRun(t, nil, append([]string{"merge", "-o", file}, paths...)...); status != 0 {
		t.Fatalf("merge: status %d, %s%s", status, out, errOut)
	}
	out, errOut, _ := efgRun(t, nil, "where", file, "--json")
	var got live.JobState
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s%s", err, out, errOut)
	}
	for i := range got.Threads {
		// The run file does not store the thread's number, and its clock is the time of day.
		want.Threads[i].TID = 0
		got.Threads[i].Seconds, want.Threads[i].Seconds = nil, nil
	}
	if !reflect.DeepEqual(got.Threads, want.Threads) || !reflect.DeepEqual(got.Deadlocks, want.Deadlocks) || !slices.Equal(got.Behind, want.Behind) {
		t.Errorf("the run file tells\n%+v, the segments\n%+v", got, want)
	}
	for _, format := range []string{"jsonl", "text", "mtf"} {
		out, _, _ := efgRun(t, nil, "reconstruct", file, "--format", format)
		n := strings.Count(out, `"entered":{"op":"MPI_`) + strings.Count(out, " entered, not returned ")
		if calls := strings.Count(out, "\n") - n; n != len(got.Threads)*flagOf(format != "mtf") || calls < 44 {
			t.Errorf("%s: %d calls, and %d in progress", format, calls, n)
		}
	}
	if out, _, status := efgRun(t, nil, "reconstruct", file, "--verify"); status != 0 || !strings.HasSuffix(out, "all 44 events of 4 streams are as recorded\n") {
		t.Errorf("verify: status %d, %s", status, out)
	}
	out, _, status := efgRun(t, nil, "check", file)
	for _, text := range []string{
		"\ndeadlock\n  rank 0, event 11: MPI_Recv  receive stuck.c:33\n    ranks 0-1 wait for each other: rank 0 in MPI_Recv(count=1, datatype=MPI_INT, source=1, tag=7, comm=MPI_COMM_WORLD) at receive stuck.c:33 needs rank 1; rank 1 in MPI_Recv(",
		" needs rank 0; behind them ranks 2-3\n", "\nfound     1 fault\n", "\ncall never returned\n", ": MPI_Barrier  ", "    was in MPI_Recv(count=1, datatype=MPI_INT, source=1, tag=7, comm=MPI_COMM_WORLD) when the recording ended\n    2 times in total, on ranks 0-1\n"} {
		if status != statusHangs || !strings.Contains(out, text) {
			t.Errorf("check: status %d, no %q in %s", status, text, out)
		}
	}
	out, _, _ = efgRun(t, nil, "report", file)
	sentence := regexp.MustCompile(`- When the recording ended, ranks 0-1 were in MPI_Recv receive stuck.c:33 for (up to )?\d.*, waiting for\s+ranks 0-1\s+\(in\s+MPI_Recv\s+receive\s+stuck.c:33\)\.`)
	if !sentence.MatchString(strings.ReplaceAll(out, "\n  ", " ")) {
		t.Errorf("report: no sentence about the calls that had not returned in %s", out)
	}
	if out, _, _ := efgRun(t, nil, "info", file); strings.Count(out, "(incomplete); in progress: MPI_") != 4 || !strings.Contains(out, "events    44\n") {
		t.Errorf("info: %s", out)
	}
}

// Only the end of the last session counts like MPI_Finalize.
func TestSessionsEnd(t *testing.T) {
	program := compileMPI(t, mpis[1], filepath.Join("..", "..", "..", "testdata", "c", "sessions.c"))
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		ranks     int // the first to leave ends the others
		args, end string
	}{{2, "2", "finalized"}, {1, "2 leave", "exit without MPI_Finalize"}} {
		line := []string{"run", "-o", "s.efg", "--", "timeout", "600", "mpiexec.mpich", "-n", strconv.Itoa(c.ranks), program}
		if out, errOut, _ := efgRun(t, nil, append(line, strings.Fields(c.args)...)...); !strings.Contains(out, "sessions: ok 2\n") {
			t.Fatalf("%s: %s%s", c.args, out, errOut)
		}
		out, errOut, _ := efgRun(t, nil, "info", "s.efg", "--all", "--json")
		if n := strings.Count(out, `"end": "`+c.end+`"`); n != c.ranks {
			t.Errorf("%s: %d processes end as %q: %s%s", c.args, n, c.end, out, errOut)
		}
	}
}

func flagOf(v bool) int {
	if v {
		return 1
	}
	return 0
}

func TestWhereMistakes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.efg")
	writeFile(t, file, "x")
	finished := filepath.Join(dir, "finished.efg")
	if err := runfile.WriteRun(finished, []*efg.Process{{Size: 1, Streams: []efg.Stream{{End: efg.EndFinalized}}}}, runfile.Meta{}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	for _, c := range []struct {
		args []string
		err  string
	}{
		{[]string{"where", dir}, "efg: " + dir + ": no segments (.seg) in it\n"},
		{[]string{"where", dir + "/absent"}, "efg: " + dir + "/absent: no such file or directory\n"},
		{[]string{"where", file}, "efg: " + file + ": not an efg run file\n"},
		{[]string{"where", finished}, "efg: " + finished + ": no rank was in a call when the run ended\n"},
		{[]string{"where", "--rank", "x", dir}, "efg: --rank x: want ranks and ranges of ranks, as in 0-3,7\n"},
		{[]string{"where", dir, dir}, "efg: efg where: accepts at most 1 arg(s), received 2\n"},
	} {
		out, errOut, status := efgRun(t, nil, c.args...)
		if out != "" || errOut != c.err || status != 2 {
			t.Errorf("%q: status %d, output %q, errors %q", c.args, status, out, errOut)
		}
	}
	writeFile(t, filepath.Join(dir, "h.1.0.seg"), "no segment")
	_, errOut, status := efgRun(t, nil, "where", dir)
	if want := "efg: " + dir + ": no segment can be read: "; !strings.HasPrefix(errOut, want) || status != 2 || strings.Count(errOut, "\n") != 1 {
		t.Errorf("status %d, errors %q", status, errOut)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
