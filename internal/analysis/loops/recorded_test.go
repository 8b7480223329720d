package loops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/loops"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

func summarize(tb testing.TB, run *runfile.Run) *loops.Summary {
	tb.Helper()
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	s, err := loops.Summarize(run, procs)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// outline lists loops by what the source says about them.
func outline(g *loops.Group) []string {
	var lines []string
	for i := range g.Rows {
		r := &g.Rows[i]
		lines = append(lines, fmt.Sprintf("%d %s %s %d:%d:%d-%d", r.Depth, strings.TrimPrefix(r.Op, "MPI_"), r.Site[:strings.IndexAny(r.Site, " ")],
			r.Entries.Most, r.Iterations.Most, r.Least, r.Most))
	}
	return lines
}

// account sums the totals of loops, including nested ones.
type account struct {
	streams                       int
	calls, iterations, sent, time uint64
}

// stream adds the counts over the events of a stream.
func (a *account) stream(t *testing.T, p *analysis.Process, j int) {
	t.Helper()
	s := &p.Data.Streams[j]
	f, err := loops.Find(s)
	if err != nil {
		t.Fatal(err)
	}
	recount(t, s, p.Data.Defs, f)
	nodes, err := p.Nodes(j)
	if err != nil {
		t.Fatal(err)
	}
	a.streams++
	for _, v := range walk(t, s, p.Data.Defs) {
		for l := f.Inner[v]; l >= 0; l = f.Loops[l].Parent {
			a.calls++
		}
	}
	for v := range nodes {
		if nodes[v].Visits > 0 && s.Nodes[v].Counted > 0 && f.Inner[v] >= 0 {
			t.Errorf("polls that are only counted in loop %d", f.Inner[v])
		}
		for l := f.Inner[v]; l >= 0; l = f.Loops[l].Parent {
			a.sent += nodes[v].Volume.Sent
			if st := nodes[v].Stats; st != nil {
				a.time += st.Dur.Sum + st.Gap.Sum
			}
		}
	}
	for l := range f.Loops {
		a.iterations += f.Loops[l].Iterations
	}
}

// checkRun compares the summary with the counts over the events of each stream.
func checkRun(t *testing.T, run *runfile.Run) {
	t.Helper()
	var got, want account
	s := summarize(t, run)
	for i := range s.Groups {
		got.streams += len(s.Groups[i].Ranks)
		for j := range s.Groups[i].Rows {
			row := &s.Groups[i].Rows[j]
			got.calls += row.Calls
			got.iterations += row.Iterations.Sum
			got.sent += row.Sent
			got.time += row.Time.Sum + row.Gap
		}
	}
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
		for j := range data.Streams {
			want.stream(t, p, j)
		}
	}
	if got != want {
		t.Errorf("the summary has %+v, want %+v", got, want)
	}
}

// Recorded programs: the loops are those of the source, with the counts of the events.
func TestRecorded(t *testing.T) {
	cases := []struct {
		program string
		rank    int
		want    []string // of the rank
	}{
		{"nest", 1, []string{
			"1 Bcast apart 1:7:7-7", "2 Reduce apart 7:35:5-5", "3 Sendrecv apart 35:105:3-3",
			"1 Barrier together 1:7:7-7", "2 Barrier together 7:35:5-5", "3 Barrier together 35:105:3-3",
			"1 Allreduce converge 1:10:10-10", "2 Allreduce converge 10:49:3-7",
			"1 Allreduce seldom 1:60:60-60",
		}},
		{"nest 11 2 4", 2, []string{
			"1 Bcast apart 1:11:11-11", "2 Reduce apart 11:22:2-2", "3 Sendrecv apart 22:88:4-4",
			"1 Barrier together 1:11:11-11", "2 Barrier together 11:22:2-2", "3 Barrier together 22:88:4-4",
			"1 Allreduce converge 1:10:10-10", "2 Allreduce converge 10:49:3-7",
			"1 Allreduce seldom 1:60:60-60",
		}},
		{"loops", 1, []string{"1 Send exchange 1:12:12-12", "2 Send exchange 12:60:5-5"}},
		{"jacobi 400", 3, []string{"1 Irecv exchange 1:40:40-40", "2 Irecv exchange 40:400:10-10"}},
		{"farm", 0, []string{"1 Recv master 1:60:60-60"}}, {"polling", 0, nil}, {"threads", 0, nil}, {"amr", 0, nil}, {"persistent", 0, nil}, {"halo3d", 0, nil},
	}
	var programs []testrun.Program
	for _, c := range cases {
		name, args, _ := strings.Cut(c.program, " ")
		programs = append(programs, testrun.Program{Source: "c/" + name + ".c", Args: args})
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		c := &cases[r.Program]
		checkRun(t, r.Run)
		s, err := loops.Summarize(r.Run, []int{c.rank})
		if err != nil {
			t.Fatal(err)
		}
		if got := outline(&s.Groups[0]); c.want != nil && strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("loops\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	})
}

// Simulated programs on more ranks.
func TestSimulated(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 27, Steps: 95, Stats: true}, {Program: "farm", Ranks: 5, Steps: 40},
		{Program: "mesh", Ranks: 8, Steps: 60}, {Program: "random", Ranks: 3, Steps: 60},
	} {
		t.Run(c.Program, func(t *testing.T) {
			run := testrun.Simulated(t, c)
			checkRun(t, run)
			if s := summarize(t, run); c.Program == "halo" {
				want := "[1 Irecv exchange 1:10:10-10 2 Irecv exchange 10:95:5-10]"
				if got := fmt.Sprint(outline(&s.Groups[0])); got != want || len(s.Groups) != 1 || !s.Timed {
					t.Errorf("%d groups, the first %s, want %s", len(s.Groups), got, want)
				}
			}
		})
	}
}
