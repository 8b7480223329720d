package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/efg-tools/efg/hook"
)

// buildSelf builds the program, for launchers.
func buildSelf(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "efg")
	if out, err := exec.Command("go", "build", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return exe
}

// A program's segments, merged by one process or by several that either MPI's launcher starts:
// the result is one file with everything that was recorded.
func TestMergeLaunched(t *testing.T) {
	exe := buildSelf(t)
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			program := compileMPI(t, m, "children.c")
			parts := t.TempDir()
			if _, errOut, status := runIn(t, parts, append(slices.Clone(m.launcher), program, "well")...); status != 0 {
				t.Fatalf("status %d: %s", status, errOut)
			}
			alone := filepath.Join(t.TempDir(), "alone.efg")
			out, err := exec.Command(exe, "merge", parts, "-o", alone).CombinedOutput() // the same version
			if want := alone + ": 2 processes, from 2 files\n"; string(out) != want || err != nil {
				t.Fatalf("%v, output %q", err, out)
			}
			if text, errOut, status := efgRun(t, nil, "reconstruct", "--verify", alone); status != 0 {
				t.Fatalf("verify: %s%s", text, errOut)
			}
			want, err := os.ReadFile(alone)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range mpis {
				shared := filepath.Join(t.TempDir(), "shared.efg")
				launch := append(slices.Clone(l.launcher[:len(l.launcher)-1]), "3", exe, "merge", "-o", shared, parts)
				if text, err := exec.Command(launch[0], launch[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%q: %v\n%s", launch, err, text)
				}
				if got, err := os.ReadFile(shared); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: %d bytes, %v; want %d", l.name, len(got), err, len(want))
				}
			}
			if left, err := filepath.Glob(filepath.Join(parts, ".*")); err != nil || len(left) > 0 {
				t.Errorf("left: %q, %v", left, err)
			}
		})
	}
}

// The file contains the calls so far of a process that is still running, and merge says so.
func TestMergeRunning(t *testing.T) {
	m := mpis[0]
	program := compileMPI(t, m, "space.c")
	h, err := hook.Ensure(t.Context(), hook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	parts := t.TempDir()
	cmd := exec.Command(program, "2000000000")
	cmd.Env = hookEnv(os.Environ(), h, parts, runOptions{time: "off", hookTime: "off"})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	file := filepath.Join(t.TempDir(), "x.efg")
	deadline := time.Now().Add(5 * time.Minute)
	for {
		_, errOut, status := efgRun(t, nil, "merge", parts, "-o", file)
		if status == 0 && strings.Contains(errOut, ": its process is still running; the file has what it recorded so far\n") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("status %d, errors %q", status, errOut)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if text, errOut, status := efgRun(t, nil, "reconstruct", "--verify", file); status != 0 {
		t.Errorf("verify: %s%s", text, errOut)
	}
}

func TestMergeStatus(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "a.efg")
	if err := os.WriteFile(broken, []byte("no run file"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := mpis[0]
	program := compileMPI(t, m, "space.c")
	good := filepath.Join(dir, "b.efg")
	if _, errOut, status := efgRun(t, nil, "run", "-o", good, "--", program, "10"); status != 3 { // its own
		t.Fatal(errOut)
	}
	file := filepath.Join(t.TempDir(), "x.efg")
	for _, c := range []struct {
		args     []string
		out, err string
		status   int
	}{
		{[]string{dir}, "", "efg: " + broken + ": not an efg run file\n", 1},
		{[]string{"--skip-broken", dir}, file + ": 1 processes, from 1 files\n", "efg: left out: " + broken + ": not an efg run file\n", 1},
		{[]string{good}, file + ": 1 processes, from 1 files\n", "", 0},
		{[]string{"/no/such"}, "", "efg: /no/such: no such file or directory\n", 2},
		{[]string{"--worker", "2/2", dir}, "", "efg: --worker 2/2: want K/N, with K from 0 to N-1\n", 2},
		{[]string{"--worker", "1", dir}, "", "efg: --worker 1: want K/N, with K from 0 to N-1\n", 2},
		{[]string{"--worker", "0/1x", dir}, "", "efg: --worker 0/1x: want K/N, with K from 0 to N-1\n", 2},
		{nil, "", "efg: efg merge: requires at least 1 arg(s), only received 0\n", 2},
	} {
		os.Remove(file)
		out, errOut, status := efgRun(t, nil, append([]string{"merge", "-o", file}, c.args...)...)
		if out != c.out || errOut != c.err || status != c.status {
			t.Errorf("%q: status %d, output %q, errors %q", c.args, status, out, errOut)
		}
		if _, err := os.Stat(file); (err == nil) != (c.out != "") {
			t.Errorf("%q: file: %v", c.args, err)
		}
	}
}
