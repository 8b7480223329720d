package otf2

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/export"
	writer "github.com/efg-tools/efg/internal/export/otf2"
	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
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
		{Source: "c/probes.c"}, {Source: "c/threads.c"}, {Source: "c/paths.c", Path: "--callpath"}, {Source: "c/paths.c", MPI: "mpich", Path: "--callpath=3"}, {Source: "c/comms.c"}, {Source: "c/inter.c"}, {Source: "c/types.c"},
		{Source: "c/intercoll.c"}, {Source: "fortran/all_f08.f90"}, {Source: "c/rma.c"}, {Source: "c/io.c", Args: "DIR"},
		{Source: "c/fail.c", Args: "kill 50", Fails: true}, {Source: "c/regions.c"}, {Source: "c/large.c"},
		{Source: "c/polling.c"}, {Source: "c/neigh.c"}, {Source: "c/amr.c"}, {Source: "c/spawn.c", Ranks: 2}, {Source: "fortran/halo_mpifh.f"},
		{Source: "c/callbacks.c", Args: "3", Path: "--callpath"}, {Source: "c/inside.c", Args: "end", Fails: true, Path: "--callpath"}, {Source: "c/partitioned.c", MPI: "mpich"},
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		anchor := archived(t, r.Run, &export.Job{RawClock: true, What: []string{writer.Arguments, writer.Callsites}})
		run, notes := imported(t, anchor)
		for _, note := range notes {
			t.Log(note)
		}
		got, want := renamed(lines(t, run)), renamed(lines(t, r.Run))
		if bytes.Contains(want, []byte(`"depth":`)) { // times of different depths are rounded apart, but nest in archives
			got, want = vague.ReplaceAll(got, nil), vague.ReplaceAll(want, nil)
		}
		compareLines(t, got, want)
		compareSequences(t, run, r.Run)
	})
}

// compareSequences compares the events of two runs as efg diff --ignore time does.
func compareSequences(t *testing.T, got, want *runfile.Run) {
	t.Helper()
	s, err := diff.NewSequences(got, want, true, func(uint64) {})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Equal() {
		t.Errorf("%+v", s.First[:min(len(s.First), 1)])
	}
}

// renamed gives requests and other local objects numbers in the order in which they are made: calls
// on the same line are one callsite for an importer, so that nodes have other numbers, and names are
// used again.
func renamed(text []byte) []byte {
	numbers := map[string]int{}
	var out []byte
	made := 0
	for line := range bytes.Lines(text) {
		head := lineHead.FindSubmatch(line)
		rank, op := string(head[1]), string(head[3])
		p := signature.ProcByName(op)
		issues := p != nil && p.Issues != ""
		out = append(out, localObject.ReplaceAllFunc(line, func(name []byte) []byte {
			kind, rest, _ := strings.Cut(string(name), ":")
			if !strings.Contains(rest, ":") {
				rest = string(head[2]) + ":" + rest
			}
			key := rank + kind + rest
			if _, ok := numbers[key]; !ok || issues && kind == "req" {
				made++
				numbers[key] = made
			}
			return fmt.Appendf(nil, "%s:%d", kind, numbers[key])
		})...)
	}
	return out
}

var (
	// vague are times, and names of objects, of which two may be made on one line.
	vague       = regexp.MustCompile(`"t[01]":[0-9]+,?|"req:[0-9]+"`)
	lineHead    = regexp.MustCompile(`^{"rank":(-?[0-9]+),"thread":([0-9]+),.*?"op":"([^"]*)"`)
	localObject = regexp.MustCompile(`(req|msg|info|errhandler|keyval|session):[0-9:]+\.[0-9]+`)
)
