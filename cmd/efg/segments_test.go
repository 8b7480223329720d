package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// If several jobs are running, each is listed with its command; if none is, a problem with the
// daemon's spool is reported.
func TestWhereWithoutAName(t *testing.T) {
	base, spool := t.TempDir(), filepath.Join(t.TempDir(), "spool")
	t.Setenv("TMPDIR", base)
	t.Setenv("EFG_SPOOL", spool)
	if err := os.Mkdir(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(spool, 0o755); err != nil {
		t.Fatal(err)
	}
	f := &finder{}
	defer f.close()
	f.jobs()
	if f.problem == nil || !strings.HasSuffix(f.problem.Error(), ": chmod 700 "+spool) {
		t.Errorf("%v", f.problem)
	}
	list, err := filepath.Glob(filepath.Join(simulated(t), "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range []string{"efg-1", "efg-2"} {
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		defer notYet(t, list[0], dir)()
		names = append(names, dir+" (feeder)")
	}
	_, errOut, status := efgRun(t, nil, "where")
	if status != 2 || !strings.HasPrefix(errOut, "efg: several jobs are running under efg; name one of ") || strings.Count(errOut, "\n") != 1 {
		t.Fatalf("status %d, errors %q", status, errOut)
	}
	for _, want := range names {
		if !strings.Contains(errOut, want) {
			t.Errorf("no %q in %q", want, errOut)
		}
	}
}
