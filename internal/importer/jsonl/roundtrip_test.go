package jsonl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// exact keeps all times as they are.
var exact = importer.Times{Each: true}

// lines writes the calls of a run as JSON Lines.
func lines(t *testing.T, run *runfile.Run) []byte {
	t.Helper()
	var b []byte
	source, err := reconstruct.NewRun(run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range run.Procs {
		p, err := source.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		for j := range p.Streams() {
			for e, err := range p.Events(j, reconstruct.Options{}) {
				if err != nil {
					t.Fatal(err)
				}
				b = e.AppendJSON(b)
			}
			if c := p.Pending(j); c != nil {
				b = c.AppendJSON(b)
			}
		}
	}
	return b
}

// read imports a text.
func read(text []byte) (*export.Run, error) {
	var run export.Run
	err := Read("calls.jsonl", bytes.NewReader(text), exact, run.Add, nil)
	return &run, err
}

// again imports lines and writes the run that they become.
func again(t *testing.T, text []byte) *runfile.Run {
	t.Helper()
	run, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "again.efg")
	if err := runfile.WriteRun(name, run.Procs, run.Meta); err != nil {
		t.Fatal(err)
	}
	return testrun.Open(t, name)
}

// compareLines finds the first line that differs.
func compareLines(t *testing.T, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("line %d of %d:\n%.1500s\nwant, of %d\n%.1500s", i+1, len(a), a[i], len(b), b[i])
		}
	}
	t.Fatalf("%d lines, want %d", len(a), len(b))
}

// The lines of recorded programs become runs with the same lines.
func TestRoundTrip(t *testing.T) {
	programs := []testrun.Program{
		{Source: "c/jacobi.c", Args: "30"},
		{Source: "c/fail.c", Args: "kill 50", Fails: true},
		{Source: "c/icoll.c"}, {Source: "c/persistent.c"}, {Source: "c/pcoll.c", MPI: "mpich"}, {Source: "c/probes.c"},
		{Source: "c/threads.c"}, {Source: "c/comms.c"}, {Source: "c/inter.c"}, {Source: "c/types.c"},
		{Source: "c/intercoll.c"}, {Source: "fortran/all_f08.f90"}, {Source: "c/rma.c"}, {Source: "c/io.c", Args: "DIR"},
		{Source: "c/regions.c"}, {Source: "c/large.c"}, {Source: "c/inside.c", Args: "end", Fails: true},
		{Source: "c/paths.c", Path: "--callpath"}, {Source: "c/paths.c", MPI: "mpich", Path: "--callpath=3"}, {Source: "c/inside.c", Args: "end", Fails: true, Path: "--callpath"},
	}
	list := programs[:0]
	for _, p := range programs {
		if _, err := os.Stat(filepath.Join("../../../testdata", p.Source)); err == nil {
			list = append(list, p)
		}
	}
	testrun.Record(t, list, func(t *testing.T, r *testrun.Recording) {
		want := lines(t, r.Run)
		if with := bytes.Contains(want, []byte(`,"path":["main `)); with != (programs[r.Program].Path != "") {
			t.Errorf("call paths are there: %v", with)
		}
		got := lines(t, again(t, want))
		if programs[r.Program].Source == "c/comms.c" { // several calls are on one line
			got, want = renamed(got), renamed(want)
		}
		compareLines(t, got, want)
	})
}

// renamed gives requests and other local objects numbers in the order in which they are made: calls
// on the same line are one callsite for an importer, so that nodes have other numbers.
func renamed(text []byte) []byte {
	numbers := map[string]int{}
	return localObject.ReplaceAllFunc(text, func(name []byte) []byte {
		kind, _, _ := strings.Cut(string(name), ":")
		n, ok := numbers[string(name)]
		if !ok {
			n = len(numbers)
			numbers[string(name)] = n
		}
		return fmt.Appendf(nil, "%s:%d", kind, n)
	})
}

var localObject = regexp.MustCompile(`(req|msg|info|errhandler|keyval|session):[0-9:]+\.[0-9]+`)
