package match

import (
	"context"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

type nobody struct{}

func (nobody) Enter(*Call) {}
func (nobody) Exit(*Call)  {}

// What happened until the times of the first process end can be matched.
func TestTimesUntilTheBudget(t *testing.T) {
	testrun.Record(t, []testrun.Program{
		{Source: "c/jacobi.c", Args: "400", Time: "auto=4KiB"},
		{Source: "fortran/halo_mpifh.f", Time: "auto=256B"},
	}, func(t *testing.T, r *testrun.Recording) {
		trace, err := Open(r.Run)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := trace.Walk(t.Context(), nobody{}, nil)
		if err != nil || sum.Unmatched+sum.Disagreeing+sum.Unfinished > 0 || sum.Messages == 0 || trace.Until() == nil {
			t.Errorf("matched: %+v, %v", sum, err)
		}
	})
}

// Wherever walks end, all calls are matched that are left before, although by recorded times, which are not
// exact, some are left before that has begun for which they had to wait.
func TestEndAnywhere(t *testing.T) {
	testrun.Record(t, []testrun.Program{{Source: "c/jacobi.c", Args: "60", Time: "trace"}}, func(t *testing.T, r *testrun.Recording) {
		least := soonest(math.MaxInt64)
		if _, err := reopen(t, r.Run).Walk(t.Context(), &least, nil); err != nil {
			t.Fatal(err)
		}
		run := shifted(t, r.Run, time.Duration(least)+500)
		var early earlyExits
		if _, err := reopen(t, run).Walk(t.Context(), &early, nil); err != nil || len(early) == 0 {
			t.Fatalf("%d calls are left before what they had to wait for has begun, soonest %d; %v", len(early), least, err)
		}
		for _, end := range early[:min(len(early), 20)] {
			trace := reopen(t, run)
			trace.End = end
			sum, err := trace.Walk(t.Context(), nobody{}, nil)
			if err != nil || sum.Unmatched+sum.Disagreeing > 0 {
				t.Errorf("up to %d ns: %+v, %v", end, sum, err)
			}
		}
	})
}

// soonest is how soon after rank 1 entered a call that others needed the first of these was left, ns.
type soonest int64

func (x *soonest) Enter(*Call) {}

func (x *soonest) Exit(c *Call) {
	for _, o := range c.Done {
		if w := o.WaitsFor(); w != nil && w.Thread.Process.Rank == 1 && c.Thread.Process.Rank != 1 {
			*x = min(*x, soonest(c.Exit-w.Enter))
		}
	}
}

// shifted is a run whose rank 1 has a clock that is ahead.
func shifted(t *testing.T, run *runfile.Run, by time.Duration) *runfile.Run {
	t.Helper()
	procs := make([]*efg.Process, len(run.Procs))
	for i := range procs {
		p, err := run.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		for j := range p.Streams {
			if p.Rank == 1 {
				p.Streams[j].Trace.Begin += ticks(p.Streams[j].Trace.Clock, by)
			}
		}
		procs[i] = p
	}
	path := filepath.Join(t.TempDir(), "shifted.efg")
	if err := runfile.WriteRun(path, procs, run.Meta); err != nil {
		t.Fatal(err)
	}
	shifted, err := runfile.OpenRun(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shifted.Close() })
	return shifted
}

// ticks is how many ticks of a clock are as long.
func ticks(c efg.MachineClock, d time.Duration) uint64 {
	if c.Rate == 0 {
		return uint64(d)
	}
	return uint64(float64(d) * float64(uint64(1)<<efg.RateBits) / float64(c.Rate))
}

func reopen(t *testing.T, run *runfile.Run) *Trace {
	t.Helper()
	trace, err := Open(run)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// earlyExits are when calls were left for which something later was needed, ns.
type earlyExits []int64

func (x *earlyExits) Enter(*Call) {}

func (x *earlyExits) Exit(c *Call) {
	for _, o := range c.Done {
		if w := o.WaitsFor(); w != nil && w.Enter >= c.Exit {
			*x = append(*x, c.Exit)
		}
	}
}

// A walk ends although the last thread that goes on is in a call for which it has to wait.
func TestEndInTheLastCall(t *testing.T) {
	for rank := range 2 { // whichever comes first
		script := testrun.NewScript(t, 2)
		script.Rank(rank).Call(100, 5000, "MPI_Recv", message("source", 1-rank, 5))
		script.Rank(1-rank).Call(5001, 5002, "MPI_Send", message("dest", rank, 5))
		trace := reopen(t, script.Run())
		trace.End = 1_005_000_500 // between them; a script begins after a second
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if sum, err := trace.Walk(ctx, nobody{}, nil); err != nil || sum.Unmatched > 0 || sum.Calls > 0 {
			t.Errorf("%+v, %v", sum, err)
		}
	}
}
