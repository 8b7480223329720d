package main

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/live"
)

// Runs that a daemon has recorded are listed, and can be opened by name.
func TestDaemonAndRuns(t *testing.T) {
	m := mpis[1]
	program := compileMPI(t, m, filepath.Join("..", "..", "..", "testdata", "c", "stuck.c"))
	store, spool := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "spool")
	t.Setenv("EFG_STORE", store)
	t.Setenv("EFG_SPOOL", spool)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		opt := &daemonOptions{quiet: time.Second}
		opt.time, opt.polls, opt.http.address = "stats", "exact", "127.0.0.1:0"
		done <- runDaemon(ctx, opt, io.Discard)
	}()
	t.Cleanup(func() { stop(); <-done })
	front, errOut, status := efgRun(t, nil, "hook", "path")
	if status != 0 || !strings.HasSuffix(front, "/libefg.so\n") {
		t.Fatalf("%s%s", front, errOut)
	}
	wait := func(ok func() bool) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				out, errOut, _ := efgRun(t, nil, "runs")
				t.Fatalf("it does not come to this: %s%s", out, errOut)
			}
		}
	}
	runs := func() string { out, _, _ := efgRun(t, nil, "runs"); return out }
	wait(func() bool { _, err := os.Stat(filepath.Join(spool, "hook")); return err == nil })
	cmd := exec.Command("timeout", "600", "mpiexec.mpich", "-n", "2", program, "recv")
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+strings.TrimSpace(front))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait(func() bool { return strings.Contains(runs(), "  running, 2 of 2 processes  stuck recv\n") })
	wait(func() bool {
		out, _, status := efgRun(t, nil, "where")
		return status == 3 && strings.Contains(out, "DEADLOCK  ranks 0-1 wait for each other: 0 -> 1 -> 0\n")
	})
	if out, errOut, _ := efgRun(t, nil, "where", "last"); !strings.Contains(out, "; running\n") {
		t.Errorf("the last run is not the one that is running: %s%s", out, errOut)
	}
	if out, errOut, _ := efgRun(t, nil, "open", "last"); !strings.Contains(out, "/?token=") || !strings.HasSuffix(out, "-stuck\n") {
		t.Errorf("address of the running job: %s%s", out, errOut)
	}
	askRunning(t, spool)
	hung := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if out, errOut, status := efgRun(t, nil, "runs", "--wait", "5m"); status != 0 || !strings.Contains(out, "  deadlock, incomplete  stuck recv\n") {
		t.Errorf("the job is not waited for: %d, %s%s", status, out, errOut)
	}
	for _, args := range [][]string{{"info", "last"}, {"report", "last"}, {"where", "last"}, {"reconstruct", "last", "--verify"}} {
		want := map[bool]int{true: 3}[args[0] == "where"] // it is a deadlock
		if out, errOut, status := efgRun(t, nil, args...); status != want || out == "" {
			t.Errorf("%v: status %d, %s%s", args, status, out, errOut)
		}
	}
	out, _, _ := efgRun(t, nil, "runs", "--json", "--last", "1")
	var l jsondoc.RunList
	if err := json.Unmarshal([]byte(out), &l); err != nil || len(l.Runs) != 1 || !l.Runs[0].Where || !l.Daemon || l.Runs[0].Ranks != 2 || len(l.Jobs) != 0 {
		t.Errorf("%v: %s", err, out)
	}
	if len(l.Runs) == 1 && l.Runs[0].Ended.Before(hung) {
		t.Errorf("it ended at %s, before it was stopped, at %s", l.Runs[0].Ended, hung)
	}
	inCalls(t, hung)
	if len(l.Runs) == 1 {
		askStored(t, spool, l.Runs[0].Name)
		askOpened(t, l.Runs[0].Name)
	}
	if _, errOut, status := efgRun(t, nil, "open", "norun"); status != 2 || errOut != "efg: norun: no such run\n" {
		t.Errorf("status %d, %s", status, errOut)
	}
	if _, errOut, status := efgRun(t, nil, "info", "norun"); status != 2 || errOut != "efg: norun: no such file or directory\n" {
		t.Errorf("status %d, %s", status, errOut)
	}
}

// inCalls checks that the report of the last run attributes the time to the calls in which its
// two ranks hung.
func inCalls(t *testing.T, hung time.Time) {
	t.Helper()
	out, _, _ := efgRun(t, nil, "report", "last", "--json")
	var report jsondoc.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	at, _, _ := efgRun(t, nil, "where", "last", "--json")
	var c live.JobState
	if err := json.Unmarshal([]byte(at), &c); err != nil {
		t.Fatal(err)
	}
	var ns float64
	for _, x := range c.Threads {
		if x.Seconds != nil {
			ns += *x.Seconds * 1e9
		}
	}
	if x := report.InProgress; x == nil || x.Calls != 2 || math.Abs(float64(x.Time)-ns) > 1e6 || c.At.Before(hung) {
		t.Errorf("calls in progress: %+v; the job state has %.0f ns, at %s", x, ns, c.At)
	}
}

// askOpened opens the page of a run at the address that efg open prints, and passes it to a
// fake browser.
func askOpened(t *testing.T, name string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$1\" >" + dir + "/opened\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	out, errOut, status := efgRun(t, nil, "open", name[:len(name)-1], "--browser")
	address, run, ok := strings.Cut(strings.TrimSpace(out), "#/runs/")
	if status != 0 || !ok || run != name {
		t.Fatalf("status %d, %s%s", status, out, errOut)
	}
	if opened, err := os.ReadFile(filepath.Join(dir, "opened")); err != nil || string(opened) != out {
		t.Errorf("%v: the browser got %s, not %s", err, opened, out)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{Jar: jar}).Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
		t.Errorf("%s: %s, %s", address, answer.Status, answer.Header.Get("Content-Type"))
	}
}

func TestDaemonMistakes(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		err  string
	}{
		{[]string{"daemon", "--keep", "soon"}, "efg: --keep soon: want a number of days, as in 30d; or w, h, m\n"},
		{[]string{"daemon", "--max", "50"}, "efg: --max 50: want a size, as in 50GB or 500MiB\n"},
		{[]string{"daemon", "--max", "-1GB"}, "efg: --max -1GB: want a size, as in 50GB or 500MiB\n"},
		{[]string{"daemon", "--time", "late"}, "efg: --time late: want off, stats, auto[=BUDGET] or trace[=ERROR]\n"},
		{[]string{"daemon", "--store", dir, "--spool", "relative"}, "efg: relative: want an absolute path without colons\n"},
		{[]string{"open", "--store", dir}, "efg: no daemon is running for " + dir + ": efg view FILE shows a run without one\n"},
		{[]string{"runs", "--store", dir + "/none"}, "efg: " + dir + "/none: no runs: efg daemon has not recorded anything yet\n"},
		{[]string{"runs", "--store", dir, "--wait", "-1s"}, "efg: --wait -1s: want a time\n"},
		{[]string{"runs", "--last", "-1"}, "efg: --last -1: want a number of runs, or 0 for all\n"},
	} {
		out, errOut, status := efgRun(t, nil, c.args...)
		if out != "" || errOut != c.err || status != 2 {
			t.Errorf("%q: status %d, output %q, errors %q", c.args, status, out, errOut)
		}
	}
}
