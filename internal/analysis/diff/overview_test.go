package diff_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

func all(run *runfile.Run) (procs []int) {
	for i := range run.Procs {
		procs = append(procs, i)
	}
	return procs
}

func overview(t testing.TB, run *runfile.Run) *diff.Overview {
	t.Helper()
	o, err := diff.NewOverview(run, all(run), func(uint64) {})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// classOf finds the class of a rank, and demands that it has one.
func classOf(t testing.TB, o *diff.Overview, rank int) int {
	t.Helper()
	found := -1
	for i := range o.Classes {
		if slices.Contains(o.Classes[i].Ranks, rank) {
			if found >= 0 {
				t.Fatalf("rank %d is in two classes", rank)
			}
			found = i
		}
	}
	if found < 0 {
		t.Fatalf("rank %d has no class", rank)
	}
	return found
}

// Ranks of a class have equal events, ranks of different classes do not.
func TestClasses(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 27, Steps: 25},
		{Program: "halo", Ranks: 64, Steps: 3},
		{Program: "halo", Ranks: 8, Steps: 12, Periodic: true},
		{Program: "farm", Ranks: 12, Steps: 40, Seed: 3},
		{Program: "random", Ranks: 8, Steps: 100, Signatures: 3},
		{Program: "mesh", Ranks: 12, Steps: 20},
	} {
		t.Run(fmt.Sprint(c.Program, c.Ranks), func(t *testing.T) {
			run := testrun.Simulated(t, c)
			o := overview(t, run)
			procs := make([]*efg.Process, c.Ranks)
			for i := range procs {
				var err error
				if procs[i], err = run.Process(i); err != nil {
					t.Fatal(err)
				}
			}
			same := 0
			for i := range procs {
				for k := range i {
					_, part := naive(t, procs[i], procs[k], 0)
					if is := classOf(t, o, i) == classOf(t, o, k); is != (part == never) {
						t.Errorf("ranks %d and %d: one class: %v, but they part at %d", i, k, is, part)
					} else if is {
						same++
					}
				}
			}
			if c.Ranks == 64 && same == 0 || len(o.Classes) == 1 && c.Program == "farm" {
				t.Errorf("%d classes", len(o.Classes))
			}
		})
	}
}

// workers are ranks that all talk to rank 0 and to the next one.
func workers(t testing.TB, ranks int, odd func(rank int, r *recorder)) []*efg.Process {
	var procs []*efg.Process
	for rank := range ranks {
		r := newRecorder(t, rank, ranks)
		for i := range 20 {
			if rank > 0 {
				r.send(1, -rank, 8)
			}
			r.send(2, 1, 100+i%2)
			r.barrier(3)
		}
		if odd != nil {
			odd(rank, r)
		}
		procs = append(procs, r.process())
	}
	return procs
}

// Ranks in arguments are equal if they are the same, or at the same distance.
func TestAbsoluteRanks(t *testing.T) {
	o := overview(t, testrun.Of(t, workers(t, 10, nil), runfile.Meta{}))
	if len(o.Classes) != 2 || len(o.Classes[0].Ranks) != 9 || o.Shapes != 2 {
		t.Errorf("%+v", o.Classes)
	}
}

// Ranks of one shape that iterate their loop more often are another class.
func TestCounts(t *testing.T) {
	o := overview(t, testrun.Of(t, workers(t, 11, func(rank int, r *recorder) {
		for range 5 * (rank % 2) {
			if rank > 0 {
				r.send(1, -rank, 8)
			}
			r.send(2, 1, 100)
			r.send(2, 1, 101)
			r.barrier(3)
		}
		for range 2 {
			r.send(2, 1, 100)
			r.send(2, 1, 101)
			r.barrier(3)
		}
	}), runfile.Meta{}))
	for i := range o.Classes {
		for _, rank := range o.Classes[i].Ranks {
			if first := o.Classes[i].Ranks[0]; rank%2 != first%2 || (rank == 0) != (first == 0) {
				t.Errorf("ranks %d and %d are one class", first, rank)
			}
		}
	}
	if len(o.Classes) != 3 {
		t.Errorf("%d classes", len(o.Classes))
	}
}

// One rank makes an additional call, one uses another count, one iterates a loop more often.
func TestPlanted(t *testing.T) {
	run := testrun.Of(t, workers(t, 10, func(rank int, r *recorder) {
		switch rank {
		case 4:
			r.barrier(9)
		case 5:
			r.send(2, 1, 500)
		case 6:
			r.send(1, -rank, 8)
			r.send(2, 1, 100)
			r.barrier(3)
		default:
			r.send(2, 1, 100)
		}
	}), runfile.Meta{})
	for _, c := range []struct {
		rank  int
		kinds []diff.Kind
		calls int64 // difference
		bytes int64
		event uint64
	}{
		{2, nil, 0, 0, never},
		{4, []diff.Kind{diff.NodeOnly, diff.EdgeOnly, diff.BranchRuns}, 0, -800, 60},
		{5, []diff.Kind{diff.NodeOnly, diff.EdgeOnly}, 0, 3200, 60},
		{6, []diff.Kind{diff.BranchRuns}, 2, 64, 60},
	} {
		p := checkPair(t, run, 1, c.rank)
		got := map[diff.Kind]bool{}
		for _, it := range p.Items {
			got[it.Kind] = true
		}
		for _, k := range c.kinds {
			if !got[k] {
				t.Errorf("rank %d: no difference of kind %s: %+v", c.rank, k, p.Items)
			}
		}
		if p.Equal() != (c.kinds == nil) || c.kinds == nil && len(p.Items) > 0 {
			t.Errorf("rank %d: equal: %v, %+v", c.rank, p.Equal(), p.Items)
		}
		if d := int64(p.Total[1].Calls - p.Total[0].Calls); d != c.calls {
			t.Errorf("rank %d: %d calls more, want %d", c.rank, d, c.calls)
		}
		if d := int64(p.Total[1].Bytes - p.Total[0].Bytes); d != c.bytes {
			t.Errorf("rank %d: %d bytes more, want %d", c.rank, d, c.bytes)
		}
		if e := at(p.Threads[0].Arguments); e != c.event {
			t.Errorf("rank %d: parts at %d, want %d", c.rank, e, c.event)
		}
	}
}

// naiveSpread holds what ranks have at a callsite, found by expanding their events.
type naiveSpread struct{ calls, bytes map[int]uint64 }

func naiveSpreads(t testing.TB, run *runfile.Run) map[string]*naiveSpread {
	out := map[string]*naiveSpread{}
	for i := range run.Procs {
		p, err := run.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		for w := p.Streams[0].Walk(p.Defs); w.Next(); {
			words := w.Words()
			proc := signature.ProcByID(int(words[0] & 0xffff))
			key := fmt.Sprint(proc.Name, words[1])
			if out[key] == nil {
				out[key] = &naiveSpread{map[int]uint64{}, map[int]uint64{}}
			}
			out[key].calls[p.Rank]++
			if proc.Name == "MPI_Send" {
				out[key].bytes[p.Rank] += 8 * words[4]
			} else {
				out[key].bytes[p.Rank] += 0
			}
		}
	}
	return out
}

// The imbalance is that of counts of the expanded events.
func TestImbalance(t *testing.T) {
	run := testrun.Of(t, workers(t, 11, func(rank int, r *recorder) {
		for range rank * rank {
			r.send(7, 1, 3+rank)
		}
	}), runfile.Meta{})
	want := naiveSpreads(t, run)
	o := overview(t, run)
	if len(o.Imbalance) != len(want) {
		t.Fatalf("%d callsites, want %d", len(o.Imbalance), len(want))
	}
	matched := 0
	for _, b := range o.Imbalance {
		for _, n := range want {
			if equalSpread(&b.Calls, n.calls) && equalSpread(&b.Bytes, n.bytes) && b.Ranks == len(n.calls) {
				matched++
				break
			}
		}
	}
	if matched != len(want) {
		t.Errorf("%d callsites of %d are as counted: %+v", matched, len(want), o.Imbalance)
	}
	for _, n := range want {
		for rank, v := range n.calls {
			o.All.Calls.Sum -= v
			o.All.Bytes.Sum -= n.bytes[rank]
		}
	}
	if o.All.Ranks != 11 || o.All.Calls.Sum != 0 || o.All.Bytes.Sum != 0 || o.All.Calls.MostRank != 10 {
		t.Errorf("all calls: %+v", o.All)
	}
	if first := &o.Imbalance[0]; first.Bytes.MostRank != 10 || first.Calls.Most != 100 {
		t.Errorf("%+v", first)
	}
}

func equalSpread(s *diff.Spread, by map[int]uint64) bool {
	sum, least, most := uint64(0), uint64(math.MaxUint64), uint64(0)
	for _, v := range by {
		sum += v
		least, most = min(least, v), max(most, v)
	}
	return s.Sum == sum && s.Least == least && s.Most == most && by[s.MostRank] == most && by[s.LeastRank] == least &&
		math.Abs(s.Mean()-float64(sum)/float64(len(by))) < 1e-9
}

// giveTimes gives each call of a node the same duration in ns.
func giveTimes(p *efg.Process, ns func(n *efg.Node) uint64) {
	s := &p.Streams[0]
	visits := make([]uint64, len(s.Nodes))
	visits[0] = 1
	for i := range s.Nodes {
		for _, e := range s.Nodes[i].Edges {
			visits[e.To] += e.Weight
		}
	}
	for i := range s.Nodes {
		each := ns(&s.Nodes[i])
		d := efg.Interval{Sum: visits[i] * each, Min: each, Max: each}
		d.Bins[binOf(each)] = uint32(visits[i])
		s.Nodes[i].Stats = &efg.Stats{Count: visits[i], Dur: d, Gap: d}
	}
}

func binOf(ns uint64) (bin int) {
	for ns >= 16 && bin < 31 {
		ns /= 2
		bin++
	}
	return bin
}

// A slow rank among many is found, with its distance from the others.
func TestOutliers(t *testing.T) {
	procs := workers(t, 20, nil)
	for i, p := range procs {
		giveTimes(p, func(n *efg.Node) uint64 {
			switch {
			case n.Words[1] == 3 && i == 7:
				return 100_000
			case n.Words[1] == 3:
				return 1000 + uint64(i)
			}
			return 50
		})
	}
	o := overview(t, testrun.Of(t, procs, runfile.Meta{Time: "stats"}))
	if len(o.Outliers) != 2 {
		t.Fatalf("%+v", o.Outliers)
	}
	for i := range o.Outliers {
		if x := &o.Outliers[i]; x.Op == "" && (x.Rank != 7 || x.Value != 2_000_000+40*50 || x.Shift < 30_000) {
			t.Errorf("all calls: %+v", x)
		}
	}
	x := &o.Outliers[slices.IndexFunc(o.Outliers, func(x diff.Outlier) bool { return x.Op != "" })]
	if x.Op != "MPI_Barrier" || x.Rank != 7 || x.Metric != diff.TimeMetric || x.Value != 2_000_000 || x.Among != 19 || x.Shift < 90_000 || x.KS < 0.9 {
		t.Errorf("%+v", x)
	}
	if b := &o.Imbalance[0]; b.Op != "MPI_Barrier" || b.Time.MostRank != 7 || b.Time.Most != 2_000_000 {
		t.Errorf("%+v", b)
	}
}

// BenchmarkSteps compares ranks of a halo exchange. A hundred times as many steps must not take
// much longer.
func BenchmarkSteps(b *testing.B) {
	for _, steps := range []int{200, 20000} {
		run := testrun.Simulated(b, sim.Config{Program: "halo", Ranks: 64, Steps: steps})
		b.Run(fmt.Sprint("all/", steps), func(b *testing.B) {
			for b.Loop() {
				overview(b, run)
			}
		})
		b.Run(fmt.Sprint("two/", steps), func(b *testing.B) {
			for b.Loop() {
				if _, err := diff.NewPair(diff.Rank{Run: run, Proc: 21}, diff.Rank{Run: run, Proc: 22}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
