package waits

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/loops"
	"github.com/efg-tools/efg/internal/analysis/phases"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// twoLoops: five barriers, before each of which rank 1 computes 20 ms longer, then four reductions,
// before each of which rank 2 computes 30 ms longer.
func twoLoops(t *testing.T) *runfile.Run {
	const ms = 1000
	s := testrun.NewScript(t, 3)
	now := int64(0)
	all := func(proc string, from, late, longer int64, a args) {
		for rank := range 3 {
			enter := now + from
			if int64(rank) == late {
				enter += longer
			}
			s.Rank(rank).Call(enter, now+from+longer+1, proc, a)
		}
		now += from + longer + 1
	}
	all("MPI_Init", 1, 0, 0, nil)
	for range 5 {
		all("MPI_Barrier", 5*ms, 1, 20*ms, args{"comm": "MPI_COMM_WORLD"})
	}
	for range 4 {
		all("MPI_Allreduce", 5*ms, 2, 30*ms, args{"comm": "MPI_COMM_WORLD", "count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
	}
	all("MPI_Finalize", 5*ms, 0, 0, nil)
	return s.Run()
}

// Waiting that is planted in two loops, and the critical path, are those of these loops and
// phases.
func TestSections(t *testing.T) {
	run := twoLoops(t)
	r := of(t, run)
	type want struct {
		waiting, path float64 // ms
		rank          int
	}
	check := func(name string, s *SectionTimes, w want) {
		t.Helper()
		near := func(what string, ns int64, ms float64) {
			if d := float64(ns)/1e6 - ms; d > 0.2 || d < -0.2 {
				t.Errorf("%s: %s %d ns, want %.0f ms", name, what, ns, ms)
			}
		}
		near("waiting", s.Short+s.Long, w.waiting)
		near("path", s.Path, w.path)
		if w.waiting > 0 && s.Ranks[0].Rank != w.rank {
			t.Errorf("%s: caused by rank %d, want %d", name, s.Ranks[0].Rank, w.rank)
		}
	}
	byLoop := map[string]want{
		"":                {2*20 + 2*30, 25 + 35 + 5, 2}, // before the first barrier, the first reduction and the end
		"1 MPI_Barrier":   {4 * 2 * 20, 4 * 25, 1},
		"2 MPI_Allreduce": {3 * 2 * 30, 3 * 35, 2},
	}
	for i := range r.Loops {
		l := &r.Loops[i]
		key := ""
		if l.Loop.Number != "" {
			key = l.Loop.Number + " " + l.Loop.Op
		}
		w, ok := byLoop[key]
		if !ok {
			t.Errorf("loop %+v", l.Loop)
			continue
		}
		delete(byLoop, key)
		check("loop "+key, &l.SectionTimes, w)
	}
	if len(byLoop) > 0 {
		t.Errorf("not found: %v", byLoop)
	}
	rep, err := phases.New(run, []int{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	byRow := []want{{40, 25, 1}, {160, 100, 1}, {60, 35, 2}, {180, 105, 2}, {0, 5, 0}}
	if len(r.Phases) != len(byRow) || len(rep.Rows) != len(byRow) {
		t.Fatalf("%d kinds of phases, reported are %d, want %d: %+v", len(r.Phases), len(rep.Rows), len(byRow), r.Phases)
	}
	for i := range r.Phases {
		p := &r.Phases[i]
		if p.Row != i+1 || p.From != Place(rep.Rows[i].From) || p.Until != Place(rep.Rows[i].Until) {
			t.Errorf("row %d from %v until %v, want %+v", p.Row, p.From, p.Until, rep.Rows[i])
		}
		check(fmt.Sprint("phase ", i+1), &p.SectionTimes, byRow[i])
	}
	for i := range r.Causes {
		c := &r.Causes[i]
		if in := c.Loop != nil && c.Loop.Op == c.At.Op; c.Short+c.Long > 1e6 && in != (c.From.Op == c.At.Op) {
			t.Errorf("the loop of %+v is %+v", c.Region, c.Loop)
		}
	}
}

// However a run goes, loops and phases have all of the waiting that is caused and all of the
// critical path, and are those of the reports about them.
func TestSectionsAddUp(t *testing.T) {
	for _, program := range sim.Programs() {
		c := sim.Config{Program: program, Ranks: 8, Steps: 20, Seed: 3}
		random := rand.New(rand.NewPCG(1, 2))
		run, err := c.Run(func(p *efg.Process) error {
			return sim.GiveTimes(p, func() uint64 { return 0 }, func() uint64 { return 200 + random.Uint64N(20_000) })
		})
		if err != nil {
			t.Fatal(err)
		}
		addUp(t, program, run)
	}
	addUp(t, "two loops", twoLoops(t))
}

func addUp(t *testing.T, program string, run *runfile.Run) {
	t.Helper()
	r := of(t, run)
	var causes, path int64
	for i := range r.Causes {
		causes += r.Causes[i].Short + r.Causes[i].Long
	}
	path = r.Path.Time
	near := func(what string, got, want int64) {
		t.Helper()
		if d := got - want; d > 1000 || d < -1000 {
			t.Errorf("%s: %s %d ns, want %d", program, what, got, want)
		}
	}
	var sum, on int64
	for i := range r.Loops {
		sum += r.Loops[i].Short + r.Loops[i].Long
		on += r.Loops[i].Path
	}
	near("waiting by loop", sum, causes)
	near("path by loop", on, path)
	sum, on = 0, 0
	for i := range r.Phases {
		sum += r.Phases[i].Short + r.Phases[i].Long
		on += r.Phases[i].Path
	}
	near("waiting by phase", sum, causes)
	near("path by phase", on, path)
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	summary, err := loops.Summarize(run, procs)
	if err != nil {
		t.Fatal(err)
	}
	known := map[loops.Name]bool{{}: true}
	for _, g := range summary.Groups {
		for i, number := range loops.Numbers(g.Rows) {
			known[loops.Name{Number: number, Op: g.Rows[i].Op, Site: g.Rows[i].Site}] = true
		}
	}
	for i := range r.Loops {
		if !known[r.Loops[i].Loop] {
			t.Errorf("%s: no loop %+v is reported", program, r.Loops[i].Loop)
		}
	}
}
