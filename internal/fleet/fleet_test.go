package fleet_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/parquet"
	"github.com/efg-tools/efg/internal/fleet"
	"github.com/efg-tools/efg/internal/testing/readers"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// seconds is the unit of a script, µs.
const seconds = 1_000_000

// script is a run in which the last rank comes so many seconds late to a barrier.
func script(t *testing.T, ranks int, late int64) *runfile.Run {
	s := testrun.NewScript(t, ranks)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		enter := int64(1 * seconds)
		if rank == ranks-1 {
			enter += late * seconds
		}
		r.Call(0, 1, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_SELF"})
		r.Call(enter, (1+late)*seconds+1, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD"})
	})
	return s.Run()
}

// The statements of docs/fleet.md, which DuckDB executes over a directory of tables, find the same.
func TestLikeSQL(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	var runs []*fleet.Run
	for i, ranks := range []int{2, 4, 2} {
		run := script(t, ranks, int64(2+i))
		for k := range run.Procs {
			run.Procs[k].Command, run.Procs[k].PID = []string{"/srv/app", "400"}, 1+10*i+k
		}
		job := &export.Job{Run: run, User: []string{"alice", "bob", "alice"}[i]}
		job.Thread = -1
		for i := range run.Procs {
			job.Procs = append(job.Procs, i)
		}
		if _, err := parquet.Append(store, job); err != nil {
			t.Fatal(err)
		}
		r, err := fleet.Read(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		r.User = job.User
		runs = append(runs, r)
	}
	text, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	var statements []string
	for _, part := range strings.Split(string(text), "```sql\n")[1:] {
		statement, _, _ := strings.Cut(part, "```")
		statements = append(statements, strings.ReplaceAll(statement, "'store/", "'"+store+"/"))
	}
	got := readers.Read(t, readers.DuckDB, statements...)

	use := fleet.ByProgram(runs)[0]
	near := func(what string, text string, want, error float64) {
		t.Helper()
		if n, err := strconv.ParseFloat(text, 64); err != nil || math.Abs(n-want) > error {
			t.Errorf("%s: %q, not %v", what, text, want)
		}
	}
	r := got[0][0]
	if r.Text(0) != use.Name || r.Text(1) != fmt.Sprint(use.Runs) || r.Text(2) != fmt.Sprint(use.Ranks) {
		t.Errorf("%v, not %+v", r, use)
	}
	near("core-hours", r.Text(3), float64(use.Elapsed)/3.6e12, 5e-4)
	near("in MPI", r.Text(4), float64(use.MPI)/3.6e12, 5e-4)
	near("waiting", r.Text(5), float64(use.Waiting)/3.6e12, 5e-4)
	near("percent", r.Text(6), 100*float64(use.Lost)/float64(use.Elapsed), 0.05)

	users := fleet.ByUser(runs)
	if len(users) != 2 || len(got[5]) != 2 {
		t.Fatalf("%+v, not %v", users, got[5])
	}
	for i, u := range users {
		r := got[5][i]
		if r.Text(0) != u.Name || r.Text(1) != fmt.Sprint(u.Runs) {
			t.Errorf("%v, not %+v", r, u)
		}
		near("core-hours", r.Text(2), float64(u.Elapsed)/3.6e12, 5e-4)
		near("lost", r.Text(3), float64(u.Lost)/3.6e12, 5e-4)
		near("percent", r.Text(4), 100*float64(u.Lost)/float64(u.Elapsed), 0.05)
	}

	series := fleet.Scaling(runs)
	if len(series) != 1 || len(series[0].Points) != len(got[4]) {
		t.Fatalf("%+v, not %v", series, got[4])
	}
	for i, p := range series[0].Points {
		r := got[4][i]
		if r.Text(1) != fmt.Sprint(p.Ranks) || r.Text(2) != fmt.Sprint(p.Runs) {
			t.Errorf("%v, not %+v", r, p)
		}
		near("seconds", r.Text(3), float64(p.Slowest)/1e9, 1e-9)
		near("outside", r.Text(4), p.Outside, 5e-4)
		near("waiting", r.Text(5), p.Waiting, 5e-4)
	}
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// timed is a run that took so many seconds, of which those in MPI are at one callsite.
func timed(name string, started int, elapsed, mpi uint64) *fleet.Run {
	return &fleet.Run{
		ID: name, Name: name, Program: "app", Arguments: "[]", Ranks: 2, Timed: true, User: "u", BuildID: "1",
		Started: epoch.AddDate(0, 0, started), Elapsed: 2 * elapsed, Slowest: elapsed, MPI: 2 * mpi,
		Sites: []fleet.Site{{Op: "MPI_Recv", Place: "a.c:1", Time: 2 * mpi}, {Op: "MPI_Send", Place: "a.c:2", Time: 7}},
	}
}

// A run is compared with the median of up to five before it, and where it took longer is found.
func TestSlower(t *testing.T) {
	var runs []*fleet.Run
	for i, elapsed := range []uint64{100, 104, 300, 98, 102, 101, 150} {
		runs = append(runs, timed(fmt.Sprint("r", i), i, elapsed, elapsed/2))
	}
	runs[6].BuildID = "2"
	other := timed("other", 9, 900, 0)
	other.Arguments = `["x"]`
	runs = append([]*fleet.Run{other}, runs...)
	list := fleet.Slower(runs, 10)
	if len(list) != 2 || list[0].Run.Name != "r2" || list[1].Run.Name != "r6" {
		t.Fatalf("%+v", list)
	}
	c := list[1] // the median of 104, 300, 98, 102, 101
	if c.Before.Name != "r4" || c.Earlier != 5 || !c.Rebuilt || math.Abs(c.Slower-100*(150./102-1)) > 1e-9 || c.Compute != 24 {
		t.Errorf("%+v", c)
	}
	if len(c.Sites) != 1 || c.Sites[0] != (fleet.Difference{Op: "MPI_Recv", Place: "a.c:1", Before: 51, After: 75}) {
		t.Errorf("%+v", c.Sites)
	}
	if list := fleet.Slower(runs, 60); len(list) != 1 || list[0].Rebuilt {
		t.Errorf("%+v", list)
	}
}

// Of runs whose waiting is unknown, the time in MPI counts as lost; of runs without times, nothing.
func TestUses(t *testing.T) {
	a, b, c := timed("a", 0, 100, 40), timed("b", 1, 100, 40), timed("c", 2, 0, 0)
	b.Matched, b.Waiting = true, 10
	c.Timed, c.User = false, "v"
	list := fleet.ByUser([]*fleet.Run{c, a, b})
	want := []fleet.Use{{Name: "u", Runs: 2, Ranks: 2, Timed: 2, Matched: 1, Elapsed: 400, MPI: 160, Waiting: 10, Lost: 90}, {Name: "v", Runs: 1, Ranks: 2}}
	if len(list) != 2 || list[0] != want[0] || list[1] != want[1] {
		t.Errorf("%+v", list)
	}
}
