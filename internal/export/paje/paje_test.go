package paje

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// dump writes a run and returns the lines of pj_dump, a reader of others, by kind. It fails if that
// does not accept the trace.
func dump(t *testing.T, run *runfile.Run, most uint64) map[string][][]string {
	t.Helper()
	job := &export.Job{Run: run, Selection: export.Selection{Thread: -1}}
	for i := range run.Procs {
		job.Procs = append(job.Procs, i)
	}
	var out bytes.Buffer
	if _, err := Write(&out, job, most); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "run.paje")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.CommandContext(t.Context(), "pj_dump", file).CombinedOutput()
	if err != nil {
		t.Fatalf("pj_dump: %v\n%s", err, text)
	}
	lines := map[string][][]string{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ", ")
		lines[fields[0]] = append(lines[fields[0]], fields)
	}
	return lines
}

// near compares a time of pj_dump, which has six digits, with ns.
func near(field string, ns int64) bool {
	s, err := strconv.ParseFloat(field, 64)
	return err == nil && math.Abs(s-float64(ns)/1e9) < 0.6e-6
}

// Each call is a state of its thread with its times.
func TestTrace(t *testing.T) {
	run := testrun.Decode(t, testrun.Texts(t, "../../../efg/text/testdata")["traced"])
	lines := dump(t, run, 1<<40)
	states := map[string][][]string{}
	for _, s := range lines["State"] {
		states[s[1]] = append(states[s[1]], s)
	}
	for _, list := range states {
		slices.SortStableFunc(list, func(x, y []string) int { return strings.Compare(x[3], y[3]) })
	}
	testrun.EachEvent(t, run, func(_ *reconstruct.Process, e *reconstruct.Event) {
		thread := fmt.Sprintf("rank %d thread %d", e.Rank(), e.Thread())
		if len(states[thread]) == 0 {
			t.Fatalf("%s: too few states", thread)
		}
		s := states[thread][0]
		states[thread] = states[thread][1:]
		if start, end, _ := e.Times(); s[7] != e.Op() || !near(s[3], start) || !near(s[4], end) {
			t.Errorf("%s: %q, want %s from %d to %d ns", thread, s, e.Op(), start, end)
		}
	})
	for thread, list := range states {
		if len(list) > 0 {
			t.Errorf("%s: %d states too many", thread, len(list))
		}
	}
}

// Messages are links from the call that sends to the one that completes the receive, requests from
// the call that issues to the one that completes.
func TestLinks(t *testing.T) {
	s := testrun.NewScript(t, 2)
	message := func(peer string, rank int) testrun.Args {
		return testrun.Args{"count": 1, "datatype": "MPI_INT", peer: rank, "tag": 5, "comm": "MPI_COMM_WORLD"}
	}
	s.Rank(0).Call(10, 20, "MPI_Send", message("dest", 1))
	q := s.Rank(1).Call(0, 5, "MPI_Irecv", message("source", 0))
	s.Rank(1).Call(6, 40, "MPI_Wait", testrun.Args{"request": q})
	s.Rank(1).Call(50, 60, "MPI_Ssend", message("dest", 0))
	s.Rank(0).Call(45, 61, "MPI_Recv", message("source", 1))
	var got []string
	for _, l := range dump(t, s.Run(), 1<<40)["Link"] {
		got = append(got, fmt.Sprintf("%s %s %s %s", l[3], l[4], l[7], l[8]))
	}
	slices.Sort(got)
	want := []string{
		"1.000000 1.000040 rank 1 thread 0 rank 1 thread 0",
		"1.000010 1.000040 rank 0 thread 0 rank 1 thread 0",
		"1.000050 1.000061 rank 1 thread 0 rank 0 thread 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// Regions nest in states of their own; names may have quotes; line breaks are escaped.
func TestRegions(t *testing.T) {
	s := testrun.NewScript(t, 1)
	r := s.Rank(0)
	r.Call(0, 0, "efg_region_begin", testrun.Args{"name": "a \"step\"\n"})
	r.Call(10, 10, "efg_region_begin", testrun.Args{"name": "solve"})
	r.Call(20, 30, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_SELF"})
	r.Call(40, 40, "efg_region_end", testrun.Args{"name": "solve"})
	r.Call(50, 60, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_SELF"})
	var got []string
	for _, s := range dump(t, s.Run(), 1<<40)["State"] {
		got = append(got, fmt.Sprintf("%s %s %s", s[2], s[7], s[6]))
	}
	slices.Sort(got)
	want := []string{"call MPI_Barrier 0.000000", "call MPI_Barrier 0.000000", `region a 'step'\n 0.000000`, "region solve 1.000000"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// A call that had not returned when the recording ended is a state until the process was gone, or the run ends.
func TestUnfinished(t *testing.T) {
	testrun.Record(t, []testrun.Program{{Source: "c/fail.c", Args: "kill", Time: "trace", Fails: true}}, func(t *testing.T, r *testrun.Recording) {
		last := map[string][]string{}
		for _, s := range dump(t, r.Run, 1<<40)["State"] {
			if l := last[s[1]]; l == nil || s[3] > l[3] {
				last[s[1]] = s
			}
		}
		found := 0
		testrun.InProgress(t, r.Run, func(p *reconstruct.Process, stream int, call *reconstruct.Pending) {
			found++
			s := last[fmt.Sprintf("rank %d thread 0", p.Data().Rank)]
			if s[7] != call.Describe().Op || !near(s[3], p.Data().Streams[stream].Pending.InRun(p.Data())) || !near(s[4], p.Data().LatestEndInRun(r.Run.Meta.Ended-r.Run.Meta.Started)) {
				t.Errorf("rank %d: %q, want %s until the run ends", p.Data().Rank, s, call.Describe().Op)
			}
		})
		if found == 0 {
			t.Error("no rank was in a call")
		}
	})
}
