package waits

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// named is a run of random calls. With annotations the program names regions between them.
func named(t *testing.T, seed uint64, annotate bool) *runfile.Run {
	const ranks, rounds = 4, 12
	s := testrun.NewScript(t, ranks)
	random := rand.New(rand.NewPCG(seed, 1))
	now := [ranks]int64{}
	for i := range now {
		now[i] = 1 * ms
	}
	say := func(rank int, after int64) {
		if names := rand.New(rand.NewPCG(seed, uint64(now[rank]))); annotate {
			at := now[rank] + after*int64(names.IntN(9))/10
			switch names.IntN(3) {
			case 0:
				s.Rank(rank).Call(at, at, "efg_region_begin", args{"name": fmt.Sprint("r", names.IntN(3))})
			case 1:
				s.Rank(rank).Call(at, at, "efg_region_end", args{"name": signature.Absent})
			default:
				s.Rank(rank).Call(at, at, "efg_attribute_string", args{"name": "a", "value": "b"})
			}
		}
	}
	for range rounds {
		latest := int64(0)
		for rank := range ranks {
			work := int64(1+random.IntN(50)) * ms
			say(rank, work)
			now[rank] += work
			latest = max(latest, now[rank])
		}
		if random.IntN(2) == 0 {
			for rank := range ranks {
				s.Rank(rank).Call(now[rank], latest+ms, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
				now[rank] = latest + ms
			}
			continue
		}
		s.Rank(0).Call(now[0], now[0]+ms, "MPI_Send", message("dest", 1, 5))
		s.Rank(1).Call(now[1], max(now[0], now[1])+2*ms, "MPI_Recv", message("source", 0, 5))
		now[0], now[1] = now[0]+ms, max(now[0], now[1])+2*ms
	}
	s.Each(func(r *testrun.ScriptRank, rank int) { say(rank, ms) })
	return s.Run()
}

// What a program says between its calls changes neither its waits nor their causes, nor the critical path.
func TestAnnotationsChangeNothing(t *testing.T) {
	for seed := range uint64(40) {
		var reports [2]*Report
		for k := range reports {
			var err error
			if reports[k], err = New(named(t, seed, k == 1), []int{0, 1, 2, 3}); err != nil {
				t.Fatal(err)
			}
		}
		plain, said := reports[0], reports[1]
		near(t, seed, "time", plain.Time, said.Time)
		near(t, seed, "time in MPI", plain.MPI, said.MPI)
		near(t, seed, "waiting", plain.Waiting, said.Waiting)
		near(t, seed, "critical path", plain.Path.Time, said.Path.Time)
		if plain.Matched.Calls != said.Matched.Calls || plain.Path.Hops != said.Path.Hops {
			t.Errorf("seed %d: %d calls, %d hops; with annotations %d, %d", seed, plain.Matched.Calls, plain.Path.Hops, said.Matched.Calls, said.Path.Hops)
		}
		if len(plain.Causes) != len(said.Causes) || len(plain.Path.Rows) != len(said.Path.Rows) {
			t.Fatalf("seed %d: %d causes, %d parts of the path; with annotations %d, %d",
				seed, len(plain.Causes), len(plain.Path.Rows), len(said.Causes), len(said.Path.Rows))
		}
		costs := map[string]int64{}
		for i := range plain.Causes {
			costs[regionText(&plain.Causes[i].Region)] += plain.Causes[i].Short + plain.Causes[i].Long
		}
		for i := range said.Causes {
			c := &said.Causes[i]
			near(t, seed, "cause "+regionText(&c.Region), costs[regionText(&c.Region)], c.Short+c.Long)
		}
		path := map[string]int64{}
		for _, r := range plain.Path.Rows {
			path[regionText(&r.Region)] = r.Time
		}
		for _, r := range said.Path.Rows {
			near(t, seed, "path in "+regionText(&r.Region), path[regionText(&r.Region)], r.Time)
		}
	}
}

// near: both times are equal, but for the errors of recorded times.
func near(t *testing.T, seed uint64, what string, plain, said int64) {
	t.Helper()
	if math.Abs(float64(plain-said)) > 2e5 {
		t.Errorf("seed %d: %s: %d ns, with annotations %d", seed, what, plain, said)
	}
}
