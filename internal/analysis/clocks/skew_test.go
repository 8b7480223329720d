package clocks

import (
	"math"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// skews are clocks of the second machine.
var skews = []*testrun.Skew{{Offset: 3_000_000_000, PPM: 50}, {Offset: -2_000_000_000, PPM: -50}}

// clockOf is the time since the run began minus CLOCK_MONOTONIC of a rank's machine.
func clockOf(t *testing.T, run *runfile.Run, proc int) int64 {
	t.Helper()
	p, err := run.Process(proc)
	if err != nil {
		t.Fatal(err)
	}
	return p.Clock
}

// truthOf turns a time of the second machine into that of the first one.
func truthOf(t *testing.T, run *runfile.Run, s *testrun.Skew) func(at int64) int64 {
	t.Helper()
	first, second := clockOf(t, run, 0), clockOf(t, run, len(run.Procs)-1)
	return func(at int64) int64 {
		mono := float64(at - second - s.Offset)
		return at - second - s.Offset - int64(mono*float64(s.PPM)/(1e6+float64(s.PPM))) + first
	}
}

// latency is what a message between the two machines takes at least, of both directions the longer,
// by the true clock.
func latency(t *testing.T, run *runfile.Run, truth func(int64) int64) int64 {
	t.Helper()
	var begun, over [2][]int64
	testrun.EachEvent(t, run, func(_ *reconstruct.Process, e *reconstruct.Event) {
		start, end, _ := e.Times()
		if e.Rank() == 1 {
			start, end = truth(start), truth(end)
		}
		switch e.Op() {
		case "MPI_Send":
			begun[e.Rank()] = append(begun[e.Rank()], start)
		case "MPI_Recv":
			over[1-e.Rank()] = append(over[1-e.Rank()], end)
		}
	})
	least := [2]int64{math.MaxInt64, math.MaxInt64}
	for from := range 2 {
		for i := range begun[from] {
			least[from] = min(least[from], over[from][i]-begun[from][i])
		}
	}
	return max(least[0], least[1])
}

// An offset of seconds, and a rate of 50 ppm, between machines that run a real program are found
// within what a message takes.
func TestSkewed(t *testing.T) {
	var list []testrun.Program
	for _, s := range skews {
		list = append(list, testrun.Program{Source: "c/pingpong.c", Args: "1000", Ranks: 2, Time: "trace=exact", Skew: s})
	}
	testrun.Record(t, list, func(t *testing.T, r *testrun.Recording) {
		s := skews[r.Program]
		truth := truthOf(t, r.Run, s)
		takes := latency(t, r.Run, truth)
		report := corrected(t, r.Run)
		if len(report.Machines) != 2 || !report.Machines[1].Aligned || len(report.Machines[1].Windows) != 1 {
			t.Fatalf("%+v", *report)
		}
		w := report.Machines[1].Windows[0]
		t.Logf("a message takes %d ns; %+v", takes, w)
		const resolution = 200 // of the clocks that the recorder relates to each other
		if report.Raw.Calls == 0 {
			t.Error("the raw times contradict nothing")
		}
		for _, at := range []int64{w.From, (w.From + w.To) / 2, w.To} {
			said, want := float64(w.Offset)+w.Rate*float64(at-w.From), float64(at-truth(at))
			if off := math.Abs(said - want); off > float64(takes+resolution) || off > float64(w.Error+resolution) {
				t.Errorf("at %d the clock is ahead by %.0f ns, in truth by %.0f; a message takes %d, it claims an error of %d", at, said, want, takes, w.Error)
			}
		}
		most := 2 * float64(takes+resolution) / float64(w.To-w.From)
		if off := math.Abs(w.Rate*(1+w.Rate) - float64(s.PPM)/1e6); off > most+1e-7 {
			t.Errorf("a rate of %.3f ppm, in truth %d", w.Rate*1e6, s.PPM)
		}
	})
}

// On no program anything is over before its cause has begun, on two machines that differ much.
func TestSkewedPrograms(t *testing.T) {
	var list []testrun.Program
	for i, source := range []string{"amr", "blocklu", "coll", "comms", "eager", "errors", "farm", "halo3d", "icoll", "inter", "intercoll", "io", "lists", "neigh",
		"partitioned", "pcoll", "persistent", "planewave", "polling", "posted", "probes", "rma", "selfsend", "sessions", "threads"} {
		p := testrun.Program{Source: "c/" + source + ".c", Time: "trace", Skew: skews[i%2]}
		if source == "io" {
			p.Args = "2 DIR"
		}
		list = append(list, p)
	}
	list = append(list, testrun.Program{Source: "fortran/all_f08.f90", Args: "DIR", Time: "trace", Skew: skews[0]},
		testrun.Program{Source: "c/barriers.c", Args: "1 kill", Time: "trace=exact", Fails: true, Skew: skews[1]})
	testrun.Record(t, list, func(t *testing.T, r *testrun.Recording) {
		report := corrected(t, r.Run)
		if len(report.Machines) != 2 {
			t.Fatalf("%+v", *report)
		}
		if report.Matched.Messages == 0 && report.Matched.Collectives <= 2 {
			return // the library has not got what the program needs
		}
		if !report.Machines[1].Aligned || report.Raw.Calls == 0 {
			t.Errorf("%+v", *report)
		}
		t.Logf("raw %+v, aligned %+v, %+v, %+v", report.Raw, report.Aligned, report.Machines[1].Windows, report.Ranks)
	})
}
