package chrome

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/slices"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// event is an event of the format.
type event struct {
	Phase string `json:"ph"`
	PID   int
	TID   uint32
	Name  string
	TS    float64
	Dur   float64
	ID    string
	Args  struct {
		Seq  uint64
		Args json.RawMessage
		Out  json.RawMessage
	}
}

// The trace has each call with its times and arguments, and both ends of each flow that ends.
func TestTrace(t *testing.T) {
	run := testrun.Decode(t, testrun.Texts(t, "../../../efg/text/testdata")["traced"])
	job := &export.Job{Run: run, What: []string{slices.Arguments}, Selection: export.Selection{Thread: -1}}
	for i := range run.Procs {
		job.Procs = append(job.Procs, i)
	}
	var out bytes.Buffer
	if _, err := Write(&out, job, 1<<40); err != nil {
		t.Fatal(err)
	}
	var trace struct{ TraceEvents []event }
	if err := json.Unmarshal(out.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	var calls []event
	flows := map[string]int{}
	for _, e := range trace.TraceEvents {
		switch e.Phase {
		case "X":
			calls = append(calls, e)
		case "s":
			flows[e.ID]++
		case "f":
			if flows[e.ID] > 1 {
				t.Errorf("flow %s begins %d times", e.ID, flows[e.ID])
			}
		}
	}
	if len(flows) == 0 {
		t.Error("no flows")
	}
	testrun.EachEvent(t, run, func(_ *reconstruct.Process, e *reconstruct.Event) {
		if len(calls) == 0 {
			t.Fatal("too few calls")
		}
		got := calls[0]
		calls = calls[1:]
		start, end, _ := e.Times()
		near := func(us float64, ns int64) bool { return math.Abs(us*1000-float64(ns)) < 0.5 }
		if got.PID != e.Rank() || got.TID != e.Thread() || got.Name != e.Op() || got.Args.Seq != e.Seq || !near(got.TS, start) || !near(got.Dur, end-start) ||
			string(got.Args.Args) != string(e.AppendJSONArguments(nil)) || string(got.Args.Out) != string(e.AppendJSONResults(nil)) {
			t.Errorf("%+v, want %s", got, e.AppendJSON(nil))
		}
	})
	if len(calls) > 0 {
		t.Errorf("%d calls too many", len(calls))
	}
}

// A call has the path of calls that led to it, as JSON Lines have it.
func TestCallPaths(t *testing.T) {
	run := testrun.Timed(t, testrun.Text(t, "../../../efg/runfile/testdata/paths/nested.txt"))
	job := &export.Job{Run: run, Selection: export.Selection{Thread: -1}}
	for i := range run.Procs {
		job.Procs = append(job.Procs, i)
	}
	var out bytes.Buffer
	if _, err := Write(&out, job, 1<<40); err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Phase string `json:"ph"`
			Args  struct{ Path json.RawMessage }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	paths := map[string]int{}
	for _, e := range trace.TraceEvents {
		if e.Phase == "X" && e.Args.Path != nil {
			paths[string(e.Args.Path)]++
		}
	}
	if len(paths) < 2 {
		t.Errorf("paths %v", paths)
	}
	testrun.EachEvent(t, run, func(_ *reconstruct.Process, e *reconstruct.Event) {
		if path := e.Path(); path != nil {
			paths[string(reconstruct.AppendJSONPath(nil, path))]--
		}
	})
	for path, n := range paths {
		if n != 0 {
			t.Errorf("%d times too often: %s", n, path)
		}
	}
}
