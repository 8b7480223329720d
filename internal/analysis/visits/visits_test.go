package visits_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/internal/analysis/visits"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// visit is a visit as a reader of one event after the other finds it.
type visit struct {
	path       string
	depth      int
	begin, end int64
	open       bool
}

// naive are the visits of each thread, by "rank.thread".
func naive(t *testing.T, run *runfile.Run) map[string][]visit {
	t.Helper()
	r, err := reconstruct.NewRun(run)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]visit{}
	for i := range run.Procs {
		p, err := r.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		for j := range p.Streams() {
			var list []visit
			var open []int
			var names []string
			last := int64(0)
			end := func(at int64, unended bool) {
				k := open[len(open)-1]
				list[k].end, list[k].open = at, unended
				open, names = open[:len(open)-1], names[:len(names)-1]
			}
			for e, err := range p.Events(j, reconstruct.Options{}) {
				if err != nil {
					t.Fatal(err)
				}
				var line struct {
					Op   string
					Args struct{ Name *string }
				}
				if err := json.Unmarshal(e.AppendJSON(nil), &line); err != nil {
					t.Fatal(err)
				}
				a, b, _ := e.Times()
				last = max(last, b)
				switch line.Op {
				case "efg_region_begin":
					open, names = append(open, len(list)), append(names, *line.Args.Name)
					list = append(list, visit{strings.Join(names, "/"), len(names) - 1, a, 0, false})
				case "efg_region_end":
					if line.Args.Name != nil {
						for k := len(names); k > 0 && names[len(names)-1] != *line.Args.Name; k-- {
							if !slices.Contains(names, *line.Args.Name) {
								break
							}
							end(b, false)
						}
					}
					if len(open) > 0 {
						end(b, false)
					}
				}
			}
			for len(open) > 0 {
				end(last, true)
			}
			if len(list) > 0 {
				out[fmt.Sprintf("%d.%d", run.Procs[i].Rank, p.Data().Streams[j].Thread)] = list
			}
		}
	}
	return out
}

// ask answers a query and checks what holds of every answer.
func ask(t *testing.T, v *visits.Visits, q visits.Query) *visits.View {
	t.Helper()
	out, err := v.Of(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, track := range out.Tracks {
		perDepth := map[int]int{}
		for k, x := range track.Visits {
			perDepth[x.Depth]++
			if k > 0 && x.Begin < track.Visits[k-1].Begin || x.End < x.Begin || x.Visits < 1 || x.Begin >= q.To || x.End < q.From || x.Depth >= q.Depth {
				t.Fatalf("%+v", x)
			}
		}
		for _, n := range perDepth {
			if n > 2*q.Width+4 {
				t.Fatalf("%d visits in %d pixels", n, q.Width)
			}
		}
	}
	return out
}

// same compares an answer about all of a run, in which nothing is joined, with the visits.
func same(t *testing.T, v *visits.View, want map[string][]visit) {
	t.Helper()
	got := map[string][]visit{}
	for _, track := range v.Tracks {
		var list []visit
		for _, x := range track.Visits {
			list = append(list, visit{regions.PathText(v.Regions[x.Region].Names), x.Depth, x.Begin, x.End, x.Open})
		}
		got[fmt.Sprintf("%d.%d", track.Rank, track.Thread)] = list
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// everything is a query in which nothing is joined.
func everything(run *runfile.Run) visits.Query {
	return visits.Query{From: 0, To: 1 << 59, Width: 1 << 59, Depth: visits.MaxDepth, Most: 1 << 30}
}

// all checks answers about a run.
func all(t *testing.T, run *runfile.Run) *visits.View {
	t.Helper()
	want := naive(t, run)
	v := visits.New(run)
	out := ask(t, v, everything(run))
	same(t, out, want)
	var begin, end int64 = 1 << 60, 0
	for _, list := range want {
		for _, x := range list {
			begin, end = min(begin, x.begin), max(end, x.end)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		from := begin + random.Int64N(max(1, end-begin))
		q := visits.Query{From: from, To: from + 1 + random.Int64N(end-begin+1), Width: 1 + random.IntN(500), Depth: 1 + random.IntN(5), Most: 1 + random.IntN(200)}
		coarse(t, ask(t, v, q), q, want)
	}
	return out
}

// coarse compares an answer in which visits are joined with the visits: none is lost, and those that are
// longer than a pixel are there by themselves.
func coarse(t *testing.T, v *visits.View, q visits.Query, want map[string][]visit) {
	t.Helper()
	for _, track := range v.Tracks {
		var visits, time [10]int64
		for _, x := range want[fmt.Sprintf("%d.%d", track.Rank, track.Thread)] {
			if x.depth >= q.Depth || x.begin >= q.To || x.end < q.From {
				continue
			}
			visits[x.depth]++
			time[x.depth] += x.end - x.begin
			if x.end-x.begin < v.Pixel {
				continue
			}
			found := false
			for _, y := range track.Visits {
				found = found || y.Begin == x.begin && y.End == x.end && y.Depth == x.depth && y.Visits == 1 && regions.PathText(v.Regions[y.Region].Names) == x.path
			}
			if !found {
				t.Errorf("%+v is missing in %+v", x, track)
			}
		}
		for _, y := range track.Visits {
			visits[y.Depth] -= int64(y.Visits)
			time[y.Depth] -= y.Time
		}
		if visits != [10]int64{} || time != [10]int64{} {
			t.Errorf("%v visits and %v ns of %+v are missing", visits, time, q)
		}
	}
}

// script is a run of random regions, the last rank of which is killed in some of them.
func script(t *testing.T, seed uint64, ranks int) *runfile.Run {
	random := rand.New(rand.NewPCG(seed, 3))
	s := testrun.NewScript(t, ranks)
	for i := range ranks {
		r, at := s.Rank(i), int64(random.IntN(100))
		var open []string
		for range 400 {
			at += int64(random.IntN(200))
			switch kind := random.IntN(5); {
			case kind < 2 && len(open) < 6:
				name := fmt.Sprintf("r%d", random.IntN(4))
				r.Call(at, at+1, "efg_region_begin", testrun.Args{"name": name})
				open = append(open, name)
			case kind < 4 && len(open) > 0:
				r.Call(at, at+1, "efg_region_end", testrun.Args{"name": open[len(open)-1]})
				open = open[:len(open)-1]
			default:
				r.Call(at, at+1, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_SELF"})
			}
			at++
		}
		if i == ranks-1 {
			r.Kill()
		}
	}
	return s.Run()
}

func TestVisits(t *testing.T) {
	for seed := range uint64(20) {
		all(t, script(t, seed, 3))
	}
}

// With a limit of events, the same query again goes on where it ended, and processes are forgotten
// without a change of the answers.
func TestLimit(t *testing.T) {
	run := script(t, 1, 8)
	want := naive(t, run)
	v := visits.New(run)
	q := everything(run)
	q.Events = 900
	for turn := 0; ; turn++ {
		out := ask(t, v, q)
		if out.Complete {
			same(t, out, want)
			if turn != 2 {
				t.Errorf("after %d turns", turn)
			}
			return
		}
		if len(out.Tracks) != 3*(turn+1) {
			t.Fatalf("%d tracks after turn %d", len(out.Tracks), turn)
		}
	}
}

// Recorded programs: with threads, recursion and faults, and with a rank that is killed in a region.
func TestRecorded(t *testing.T) {
	programs := []testrun.Program{{Source: "c/regions.c", Time: "trace"}, {Source: "c/regions.c", Args: "kill", Time: "trace", Fails: true}}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		out := all(t, r.Run)
		open, threads, deepest := map[int]string{}, map[uint32]bool{}, 0
		for _, track := range out.Tracks {
			threads[track.Thread] = true
			for _, x := range track.Visits {
				deepest = max(deepest, x.Depth)
				if x.Open && track.Thread == 0 {
					open[track.Rank] = out.Regions[x.Region].Name()
				}
			}
		}
		if len(threads) != 3 || deepest != 5 || open[3] != "open at the end" {
			t.Errorf("threads %v, %d deep, open %v", threads, deepest, open)
		}
	})
}
