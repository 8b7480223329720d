package otf2

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	writer "github.com/efg-tools/efg/internal/export/otf2"
	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

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

// archived writes a run as an archive, and returns the anchor.
func archived(t testing.TB, run *runfile.Run, job *export.Job) string {
	t.Helper()
	dir := t.TempDir()
	for i := range run.Procs {
		job.Procs = append(job.Procs, i)
	}
	job.Run, job.Thread = run, -1
	if err := writer.Write(dir, job); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, writer.Name+".otf2")
}

// imported imports an archive, and writes the run that it becomes.
func imported(t testing.TB, anchor string) (*runfile.Run, []string) {
	t.Helper()
	var run export.Run
	var notes []string
	o := Options{Times: importer.Times{Each: true}, Note: func(line string) { notes = append(notes, line) }}
	if err := Read(anchor, o, run.Add); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "again.efg")
	if err := runfile.WriteRun(name, run.Procs, run.Meta); err != nil {
		t.Fatal(err)
	}
	return testrun.Open(t, name), notes
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

// Archives with all arguments become runs with the same lines.
func TestRoundTrip(t *testing.T) {
	programs := []testrun.Program{
		{Source: "c/jacobi.c", Args: "30"}, {Source: "c/icoll.c"}, {Source: "c/persistent.c"}, {Source: "c/pcoll.c", MPI: "mpich"},
		{Source: "c/probes.c"}, {Source: "c/threads.c"}, {Source: "c/comms.c"}, {Source: "c/inter.c"}, {Source: "c/types.c"},
		{Source: "c/intercoll.c"}, {Source: "fortran/all_f08.f90"}, {Source: "c/rma.c"}, {Source: "c/io.c", Args: "DIR"},
		{Source: "c/fail.c", Args: "kill 50", Fails: true}, {Source: "c/regions.c"}, {Source: "c/large.c"},
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		anchor := archived(t, r.Run, &export.Job{RawClock: true, What: []string{writer.Arguments, writer.Callsites}})
		run, notes := imported(t, anchor)
		for _, note := range notes {
			t.Log(note)
		}
		compareLines(t, renamed(lines(t, run)), renamed(lines(t, r.Run)))
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
