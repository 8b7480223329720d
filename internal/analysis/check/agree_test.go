package check

import (
	"fmt"
	"maps"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// agree compares the counts on the graphs with those over the events, wherever the graphs
// determine them.
func agree(t *testing.T, run *runfile.Run) (sure int) {
	t.Helper()
	first := analysis.FirstRanks(run.Procs)
	for i := range run.Procs {
		data, err := run.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		p, err := analysis.NewProcess(data, first[i])
		if err != nil {
			t.Fatal(err)
		}
		graph, events := newTally(p), newTally(p)
		if err := graph.count(); err != nil {
			t.Fatal(err)
		}
		if graph.doubt {
			continue
		}
		if _, err := events.walkThrough(wantedEvents{}); err != nil {
			t.Fatal(err)
		}
		sure++
		same(t, data.Rank, graph, events)
	}
	return sure
}

func same(t *testing.T, rank int, graph, events *tally) {
	t.Helper()
	counts := func(x *tally) string {
		flows := map[channel][3]uint64{}
		for c, f := range x.flows {
			flows[c] = [3]uint64{f.sent, f.received, f.pending}
		}
		lives := func(m map[place]*lifetime) map[place]uint64 {
			open := map[place]uint64{}
			for at, l := range m {
				if l.made > l.freed {
					open[at] = l.made - l.freed
				}
			}
			return open
		}
		objects := map[object][2]uint64{}
		for o, l := range x.objects {
			objects[o] = [2]uint64{l.made, l.freed}
		}
		maps.DeleteFunc(flows, func(_ channel, n [3]uint64) bool { return n == [3]uint64{} })
		return fmt.Sprint(flows, lives(x.requests), lives(x.starts), objects, x.waiting, x.total)
	}
	if g, e := counts(graph), counts(events); g != e {
		t.Errorf("rank %d: the graph gives\n%.2000s\nthe events\n%.2000s", rank, g, e)
	}
}

// Simulated programs have no faults, and the graphs agree with the events.
func TestSimulated(t *testing.T) {
	for seed := range uint64(3) {
		for _, c := range []sim.Config{
			{Program: "halo", Ranks: 60, Steps: 25}, {Program: "halo", Ranks: 27, Steps: 12, Null: true},
			{Program: "halo", Ranks: 16, Steps: 12, Periodic: true}, {Program: "farm", Ranks: 12, Steps: 20},
			{Program: "mesh", Ranks: 30, Steps: 15}, {Program: "random", Ranks: 10, Steps: 100},
		} {
			c.Seed = seed
			t.Run(fmt.Sprintf("%s-%d-%d", c.Program, c.Ranks, seed), func(t *testing.T) {
				run := testrun.Simulated(t, c)
				r, err := New(run)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range r.Findings {
					t.Errorf("%+v", f)
				}
				t.Logf("%d of %d ranks without doubt", agree(t, run), len(run.Procs))
			})
		}
	}
}
