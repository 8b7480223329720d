package match

import (
	"testing"

	"github.com/efg-tools/efg/internal/analysis/check"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// causes checks that nothing is complete before what it depends on has begun.
type causes struct {
	t      *testing.T
	faults int
}

func (*causes) Enter(*Call) {}

func (x *causes) Exit(c *Call) {
	for _, o := range c.Done {
		w := o.WaitsFor()
		if w == nil || w.Enter <= c.Exit+c.Thread.Bound+w.Thread.Bound || o.Kind == SendMessage {
			continue
		}
		if n := o.Collective; n != nil && (n.Proc.Sync == signature.SyncSome || !n.Proc.Synchronises()) {
			continue // without data it may not wait
		}
		if x.faults++; x.faults < 5 {
			x.t.Errorf("rank %d: event %d, %v, is over %d ns before event %d of rank %d begins",
				c.Thread.Process.Rank, c.Event, kindNames[o.Kind], w.Enter-c.Exit, w.Event, w.Thread.Process.Rank)
		}
	}
}

// Everything that programs do finds its counterpart, of which there are as many as the check of
// the program counts on the graphs.
func TestPrograms(t *testing.T) {
	var list []testrun.Program
	for _, source := range []string{"amr", "blocklu", "coll", "comms", "eager", "errors", "farm", "halo3d", "icoll", "inter", "intercoll", "io", "lists", "neigh",
		"partitioned", "pcoll", "persistent", "planewave", "polling", "posted", "probes", "rma", "selfsend", "sessions", "threads"} {
		p := testrun.Program{Source: "c/" + source + ".c", Time: "trace"}
		if source == "io" {
			p.Args = "2 DIR"
		}
		list = append(list, p)
	}
	list = append(list, testrun.Program{Source: "fortran/all_f08.f90", Args: "DIR", Time: "trace"}, testrun.Program{Source: "c/spawn.c", Ranks: 2, Time: "trace"})
	testrun.Record(t, list, func(t *testing.T, r *testrun.Recording) {
		trace, err := Open(r.Run)
		if err != nil {
			t.Fatal(err)
		}
		got, err := trace.Walk(t.Context(), &causes{t: t}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Calls != trace.Events || got.Unmatched+got.Disagreeing+got.Unfinished > 0 {
			t.Errorf("%d events: %+v", trace.Events, *got)
		}
		report, err := check.New(r.Run)
		if err != nil {
			t.Fatal(err)
		}
		if got.Messages != report.Totals.Sent {
			t.Errorf("%d messages of %d", got.Messages, report.Totals.Sent)
		}
	})
}
