package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/live"
)

// For a job that has ended, top shows how it ended, as text and as JSON Lines.
func TestTop(t *testing.T) {
	m := mpis[1]
	program := compileMPI(t, m, filepath.Join("..", "..", "..", "testdata", "c", "stuck.c"))
	dir := t.TempDir()
	hangIn(t, dir, "mpiexec.mpich", "-n", "4", program, "pair")
	out, errOut, status := efgRun(t, nil, "top", dir, "--interval", "20ms", "--rows", "3")
	if status != 0 || errOut != "" {
		t.Fatalf("status %d, errors %q", status, errOut)
	}
	text := regexp.MustCompile(` +`).ReplaceAllString(seconds.ReplaceAllString(out, "TIME"), " ")
	for _, want := range []string{
		"job " + program + " pair\nranks 0 of 4 running\nevents 44; 0 per second\nMPI 0.0% of the time of all threads\n",
		"\n 0 11 0 0.0% TIME has ended receive stuck.c:33\n",
		"\nand 1 more ranks\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	out, _, _ = efgRun(t, nil, "top", dir, "--interval", "10ms", "--count", "3", "--json")
	n := 0
	for line := range strings.Lines(out) {
		var f live.Frame
		if err := json.Unmarshal([]byte(line), &f); err != nil || f.Version != 1 || len(f.Ranks) != 4 || f.Events != 44 {
			t.Errorf("%v: %s", err, line)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d intervals", n)
	}
}

func TestTopMistakes(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		err  string
	}{
		{[]string{"top", dir}, "efg: " + dir + ": no segments (.seg) in it\n"},
		{[]string{"top", "norun"}, "efg: norun: is not running\n"},
		{[]string{"top", "--interval", "1ms"}, "efg: --interval 1ms: want at least 10ms\n"},
		{[]string{"top", "--count", "-1"}, "efg: --count -1: want a number of intervals\n"},
		{[]string{"top", "--rows", "-1"}, "efg: --rows -1: want a number of rows, or 0 for all\n"},
		{[]string{"top", "--sort", "x"}, "efg: --sort x: want rank, events, mpi\n"},
	} {
		out, errOut, status := efgRun(t, nil, c.args...)
		if out != "" || errOut != c.err || status != 2 {
			t.Errorf("%q: status %d, output %q, errors %q", c.args, status, out, errOut)
		}
	}
}
