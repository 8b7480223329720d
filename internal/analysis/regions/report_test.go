package regions_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// sums are what an oracle adds up, event by event.
type sums struct {
	visits, calls, sent uint64
	mpi, time           int64
}

// play makes the calls of a program on a rank of a script, of random times and sizes, and adds up what
// is done in each region.
func play(r *testrun.ScriptRank, list []event, random *rand.Rand, own map[string]*sums) {
	at, last := int64(0), int64(0)
	var open []string
	path := func() *sums {
		key := regions.PathText(open)
		if own[key] == nil {
			own[key] = &sums{}
		}
		return own[key]
	}
	for _, e := range list {
		at += int64(random.IntN(40))
		from := at
		s := path()
		name := any(fmt.Sprintf("r%d", e.name))
		if e.name == 0 {
			name = signature.Absent
		}
		switch e.op {
		case 0:
			at += int64(random.IntN(30))
			count := 1 + random.IntN(3)
			if e.site == 0 { // varies so much that it is no part of the node
				count = random.IntN(5000)
			}
			r.Call(from, at, "MPI_Send", testrun.Args{"comm": "MPI_COMM_SELF", "dest": 0, "tag": 1, "count": count, "datatype": "MPI_CHAR", "line": e.site})
			s.calls++
			s.sent += uint64(count)
			s.mpi += at - from
		case 1:
			r.Call(at, at, "efg_region_begin", testrun.Args{"name": name, "line": 10 + e.site})
			open = append(open, name.(string))
			path().visits++
		case 2:
			r.Call(at, at, "efg_region_end", testrun.Args{"name": name, "line": 20 + e.site})
			open = open[:len(open)-1]
		}
		s.time += at - last
		last = at
	}
}

// The report by region is what adding up each event gives.
func TestReportIsTheSumOfEvents(t *testing.T) {
	const ranks = 3
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 7))
		script := testrun.NewScript(t, ranks)
		own := make([]map[string]*sums, ranks)
		events := 0
		for i := range ranks {
			p := &program{rand: rand.New(rand.NewPCG(seed, uint64(i%2))), most: 400}
			for range 2 {
				p.part(4, 0)
			}
			events += len(p.list)
			own[i] = map[string]*sums{}
			play(script.Rank(i), p.list, random, own[i])
		}
		rep, err := regions.New(script.Run(), []int{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, seed, events, rep, own)
	}
}

func compare(t *testing.T, seed uint64, events int, rep *regions.Report, own []map[string]*sums) {
	t.Helper()
	seen := map[string]bool{}
	for i := range rep.Rows {
		r := &rep.Rows[i]
		key := regions.PathText(r.Names)
		seen[key] = true
		var want sums
		most := int64(math.MinInt64)
		for _, o := range own {
			inside, any := int64(0), false
			for path, s := range o {
				if path == key {
					want.visits += s.visits
					want.calls += s.calls
					want.sent += s.sent
					want.mpi += s.mpi
					want.time += s.time
				}
				if path == key || key != "" && len(path) > len(key) && path[:len(key)+1] == key+"/" {
					inside, any = inside+s.time-s.mpi, true
				}
			}
			if any {
				most = max(most, inside)
			}
		}
		if r.Visits != want.visits || r.Own.Calls != want.calls || r.Own.Volume.Sent != want.sent {
			t.Errorf("seed %d, region %q: %d visits, %d calls, %d bytes; want %d, %d, %d", seed, key, r.Visits, r.Own.Calls, r.Own.Volume.Sent, want.visits, want.calls, want.sent)
		}
		allowed := 1e3 + 20*float64(events)
		if math.Abs(r.Own.MPI-float64(1000*want.mpi)) > allowed || math.Abs(r.Own.Time-float64(1000*want.time)) > allowed {
			t.Errorf("seed %d, region %q: %.0f ns in MPI of %.0f; want %d of %d", seed, key, r.Own.MPI, r.Own.Time, 1000*want.mpi, 1000*want.time)
		}
		if most >= 0 && math.Abs(r.MostUseful-float64(1000*most)) > allowed {
			t.Errorf("seed %d, region %q: at most %.0f ns useful, want %d", seed, key, r.MostUseful, 1000*most)
		}
	}
	for _, o := range own {
		for path := range o {
			if len(rep.Rows) > 0 && !seen[path] {
				t.Errorf("seed %d: region %q is not in the report", seed, path)
			}
		}
	}
}
