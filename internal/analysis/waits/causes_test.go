package waits

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// region names a region in tests: "A-B", or "in B".
func regionText(r *Region) string {
	switch {
	case r.Call:
		return "in " + r.At.Op
	case r.At.Op == "":
		return "?"
	}
	return r.From.Op + "-" + r.At.Op
}

// costs are what the causes of a run cost, short-term and long-term, in ms.
func costs(r *Report) map[string][2]int64 {
	list := map[string][2]int64{}
	for i := range r.Causes {
		c := &r.Causes[i]
		if c.Short+c.Long > 4e5 {
			list[regionText(&c.Region)] = [2]int64{(c.Short + 5e5) / 1e6, (c.Long + 5e5) / 1e6}
		}
	}
	return list
}

// checkSum: what causes cost is what ranks wait.
func checkSum(t *testing.T, r *Report) {
	t.Helper()
	sum := int64(0)
	for _, c := range r.Causes {
		sum += c.Short + c.Long
	}
	if off := sum - r.Waiting; max(off, -off) > int64(len(r.Causes)) {
		t.Errorf("causes cost %d ns, ranks wait %d", sum, r.Waiting)
	}
}

// chain are ranks that meet at a barrier; rank 0 then computes for 100 ms, and each rank sends
// to the next one what it waited for.
func chain(t *testing.T, ranks int) *runfile.Run {
	s := testrun.NewScript(t, ranks)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		r.Call(1*ms, 2*ms, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
		at := int64(102+2*rank) * ms
		if rank > 0 {
			r.Call(2*ms, at-1*ms, "MPI_Recv", message("source", rank-1, 5))
		}
		if rank+1 < ranks {
			r.Call(at, at+1*ms, "MPI_Send", message("dest", rank+1, 5))
		}
		r.Call(int64(400+rank)*ms, 410*ms, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD", "line": 7})
	})
	return s.Run()
}

// A chain of waits is handed back to the rank at which it began.
func TestChain(t *testing.T) {
	r := of(t, chain(t, 4))
	checkSum(t, r)
	got := costs(r)
	// Rank 1 waits 100 ms for rank 0, and the ranks after it that long because of it, at the second
	// barrier a part of a ms more.
	if x := got["MPI_Barrier-MPI_Send"]; x != [2]int64{100, 201} {
		t.Errorf("%v", got)
	}
	if c := r.Causes[0]; len(c.Ranks) != 1 || c.Ranks[0].Rank != 0 {
		t.Errorf("%+v", c)
	}
	// At the second barrier ranks wait for 3, 2 and 1 ms, all leave together.
	if r.Waiting < 311e6 || r.Waiting > 313e6 {
		t.Errorf("%d ns", r.Waiting)
	}
}

// What takes longer on the late rank is the cause, not what others do as well.
func TestUnequalWork(t *testing.T) {
	s := testrun.NewScript(t, 3)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		world := func(line int) args { return args{"comm": "MPI_COMM_WORLD", "line": line} }
		late := int64(0)
		for i := range int64(3) {
			from := 1000 * i
			r.Call((from+1)*ms, (from+2)*ms, "MPI_Barrier", world(1))
			work := []int64{100, 150, 120}[rank]
			r.Call((from+2+work)*ms, (from+3+work)*ms, "MPI_Comm_rank", world(2)) // any call
			r.Call((from+33+work+late)*ms, (from+300)*ms, "MPI_Allreduce", world(3))
			r.Call((from+400)*ms, (from+401)*ms, "MPI_Barrier", world(4))
		}
	})
	r := of(t, s.Run())
	checkSum(t, r)
	if x := costs(r)["MPI_Barrier-MPI_Comm_rank"]; x != [2]int64{3 * (50 + 30), 0} {
		t.Errorf("%v", costs(r))
	}
}

// The critical path is on the rank that is waited for, and as long as the run. All leave the last
// call at the same time: it ends on rank 0, which has waited there for rank 3.
func TestCriticalPath(t *testing.T) {
	r := of(t, chain(t, 4))
	p := r.Path
	if p.Hops != 4 || math.Abs(float64(p.Time)-409e6) > 1e6 {
		t.Errorf("%+v", p)
	}
	times := map[string]int64{}
	for i := range p.Rows {
		times[regionText(&p.Rows[i].Region)] = (p.Rows[i].Time + 5e5) / 1e6
	}
	// Rank 0 computes 100 ms, each of the others 1 ms after it has received; then the last one 296.
	if times["MPI_Barrier-MPI_Send"] != 100 || times["MPI_Recv-MPI_Send"] != 2 || times["MPI_Recv-MPI_Barrier"] != 296 {
		t.Errorf("%v", times)
	}
	if p.Ranks[0].Rank != 3 || p.Ranks[1].Rank != 0 || (p.Ranks[1].Time+5e5)/1e6 != 108 {
		t.Errorf("%+v", p.Ranks)
	}
}

// Time in unsuccessful polls is waiting if the loop waited, and else time in calls.
func TestPollingCauses(t *testing.T) {
	s := testrun.NewScript(t, 2)
	a, b := s.Rank(0), s.Rank(1)
	for _, r := range []*testrun.ScriptRank{a, b} {
		r.Call(1*ms, 2*ms, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
	}
	q := a.Call(3*ms, 4*ms, "MPI_Irecv", message("source", 1, 5))
	test := func(flag int) args { return args{"request": q, "flag": flag} }
	for i := range int64(40) {
		a.Call((10+i)*ms, (11+i)*ms-1, "MPI_Test", test(0))
	}
	a.Call(50*ms, 61*ms, "MPI_Test", test(1))
	b.Call(60*ms, 61*ms, "MPI_Send", message("dest", 0, 5))
	a.Call(70*ms, 71*ms, "MPI_Test", args{"request": "MPI_REQUEST_NULL", "flag": 0, "line": 3})
	a.Call(80*ms, 90*ms, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
	b.Call(85*ms, 90*ms, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
	r := of(t, s.Run())
	checkSum(t, r)
	if r.Waiting < 549e5 || r.Waiting > 551e5 || costs(r)["MPI_Barrier-MPI_Send"][0] < 49 {
		t.Errorf("%d ns: %v", r.Waiting, costs(r))
	}
}

// Sums hold for programs of many calls, whatever their times, and whatever is forgotten meanwhile.
func TestSums(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 27, Steps: 400, Seed: 1, Periodic: true}, {Program: "farm", Ranks: 9, Steps: 300, Seed: 1}, {Program: "mesh", Ranks: 12, Steps: 60, Seed: 1},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		run, err := c.Run(func(p *efg.Process) error {
			return sim.GiveTimes(p, func() uint64 { return 0 }, func() uint64 { return 200 + random.Uint64N(2000) })
		})
		if err != nil {
			t.Fatal(err)
		}
		r := of(t, run)
		checkSum(t, r)
		if r.Waiting == 0 || r.Path.Time == 0 || len(r.Causes) < 5 {
			t.Errorf("%s: %+v", c.Program, r)
		}
	}
}
