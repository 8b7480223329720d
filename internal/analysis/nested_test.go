package analysis_test

import (
	"testing"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// durations are sums of a procedure's times, of calls alone and with those inside them.
type durations struct{ own, inclusive int64 }

// byEvents adds up times call by call: what is inside a call comes right before it.
func byEvents(t *testing.T, r *testrun.Recording) (ops map[string]*durations, outermost int64) {
	ops = map[string]*durations{}
	type stream struct{ rank, thread int }
	inner := map[stream]*[signature.MaxDepth + 2]int64{}
	testrun.EachEvent(t, r.Run, func(p *reconstruct.Process, e *reconstruct.Event) {
		if e.Proc().Annotates() {
			return
		}
		at := stream{e.Rank(), int(e.Thread())}
		if inner[at] == nil {
			inner[at] = &[signature.MaxDepth + 2]int64{}
		}
		sums, d := inner[at], e.Depth()
		start, end, _ := e.Times()
		op := ops[e.Op()]
		if op == nil {
			op = &durations{}
			ops[e.Op()] = op
		}
		op.inclusive += end - start
		op.own += end - start - sums[d+1]
		sums[d+1] = 0
		if sums[d] += end - start; d == 0 {
			outermost += end - start
			sums[0] = 0
		}
	})
	return ops, outermost
}

// Times of calls do not contain those of the calls inside them, so that they add up; inclusive ones do.
func TestTimesOfCallsInside(t *testing.T) {
	testrun.Record(t, []testrun.Program{{Source: "c/callbacks.c", Time: "trace=exact"}}, func(t *testing.T, r *testrun.Recording) {
		ops, outermost := byEvents(t, r)
		procs := make([]int, len(r.Run.Procs))
		for i := range procs {
			procs[i] = i
		}
		report, err := analysis.NewReportWithSetup(r.Run, procs)
		if err != nil {
			t.Fatal(err)
		}
		sum, nested := int64(0), 0
		for i := range report.Procedures {
			row := &report.Procedures[i]
			want := ops[row.Op]
			if want == nil {
				t.Errorf("%s is not called", row.Op)
				continue
			}
			sum += int64(row.Time.Sum)
			// Where a node's calls are inside those of several others, their time is divided by numbers.
			if off := int64(row.Inclusive) - want.inclusive; max(off, -off) > want.inclusive/1000+1000 {
				t.Errorf("%s: inclusive %d ns, by events %d", row.Op, row.Inclusive, want.inclusive)
			}
			if row.Inclusive > row.Time.Sum {
				nested++
			}
			if want.own == want.inclusive && row.Inclusive != row.Time.Sum || int64(row.Time.Sum) > want.inclusive+want.inclusive/1000+1000 {
				t.Errorf("%s: own %d ns, inclusive %d, by events %d and %d", row.Op, row.Time.Sum, row.Inclusive, want.own, want.inclusive)
			}
		}
		if off := sum - outermost; max(off, -off) > outermost/1000+1000 {
			t.Errorf("own times add up to %d ns, the outermost calls took %d", sum, outermost)
		}
		if nested < 5 {
			t.Errorf("only %d procedures have calls inside", nested)
		}
	})
}

// With statistics only, inclusive times are exactly what was measured. Own times add up to the time of the
// outermost calls, or to a little more: a share of the times inside may be larger than what a call took.
func TestInclusiveTimesOfStatistics(t *testing.T) {
	testrun.Record(t, []testrun.Program{{Source: "c/callbacks.c", Time: "stats"}}, func(t *testing.T, r *testrun.Recording) {
		want, outermost := map[string]uint64{}, uint64(0)
		procs := make([]int, len(r.Run.Procs))
		for i := range procs {
			procs[i] = i
			p, err := r.Run.Process(i)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range p.Streams {
				for k := range s.Nodes {
					n := &s.Nodes[k]
					h := signature.Header(n.Words[0])
					if n.Stats == nil || signature.ProcByID(h.Proc()).Annotates() {
						continue
					}
					want[signature.ProcByID(h.Proc()).Name] += n.Stats.Dur.Sum
					if h.Depth() == 0 {
						outermost += n.Stats.Dur.Sum
					}
				}
			}
		}
		report, err := analysis.NewReportWithSetup(r.Run, procs)
		if err != nil {
			t.Fatal(err)
		}
		own := uint64(0)
		for i := range report.Procedures {
			row := &report.Procedures[i]
			own += row.Time.Sum
			if row.Inclusive != want[row.Op] {
				t.Errorf("%s: inclusive %d ns, measured %d", row.Op, row.Inclusive, want[row.Op])
			}
		}
		if own < outermost || own-outermost > outermost/200 {
			t.Errorf("own times add up to %d ns, the outermost calls took %d", own, outermost)
		}
	})
}
