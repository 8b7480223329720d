package flows

import (
	"errors"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/waits"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

const ms = 1000 // in µs, the unit of a script

func message(side string, rank, tag int) testrun.Args {
	return testrun.Args{"comm": "MPI_COMM_WORLD", side: rank, "tag": tag, "count": 1, "datatype": "MPI_INT"}
}

// script is a run of three ranks: 1 waits for a message of 0 from 10 to 70 ms, 2 for one of 1 from
// 80 to 100, all for 2 at a barrier from 120 or 130 to 150.
func script(t *testing.T) *runfile.Run {
	s := testrun.NewScript(t, 3)
	s.Rank(0).Call(70*ms, 71*ms, "MPI_Send", message("dest", 1, 5))
	s.Rank(1).Call(10*ms, 72*ms, "MPI_Recv", message("source", 0, 5))
	s.Rank(1).Call(100*ms, 101*ms, "MPI_Send", message("dest", 2, 6))
	s.Rank(2).Call(80*ms, 102*ms, "MPI_Recv", message("source", 1, 6))
	for rank, enter := range []int64{120, 130, 150} {
		s.Rank(rank).Call(enter*ms, 151*ms, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD"})
	}
	return s.Run()
}

func of(t *testing.T, run *runfile.Run, q Query) *Flows {
	t.Helper()
	f, err := New(t.Context(), run, q)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// begin is when scripts begin, ns.
const begin = 1e9

// near reports whether a time is so many µs after the beginning, but for what is lost when times are
// recorded.
func near(ns, us int64) bool { return max(ns-begin-us*1000, us*1000-ns+begin) <= us+3000 }

func TestFlows(t *testing.T) {
	run := script(t)
	f := of(t, run, Query{Most: 100})
	if f.MessageCount != 2 || len(f.Messages) != 2 || f.WaitCount != 4 || len(f.Waits) != 4 {
		t.Fatalf("%+v", f)
	}
	m := f.Messages[0]
	if m.From.Rank != 0 || m.To.Rank != 1 || !near(m.Sent, 70*ms) || !near(m.Received, 72*ms) || m.Bytes != 4 || m.Tag != 5 || m.Comm != "MPI_COMM_WORLD" || m.From.Place.Op != "MPI_Send" || m.To.Place.Op != "MPI_Recv" {
		t.Errorf("%+v", m)
	}
	if len(f.Collectives) != 1 || f.CollectiveCount != 1 || len(f.Collectives[0].Parts) != 3 || f.Collectives[0].Op != "MPI_Barrier" || f.Collectives[0].Comm != "MPI_COMM_WORLD" {
		t.Fatalf("%+v", f.Collectives)
	}
	for rank, p := range f.Collectives[0].Parts {
		if p.Rank != rank || !near(p.Begin, []int64{120, 130, 150}[rank]*ms) || !near(p.End, 151*ms) {
			t.Errorf("%+v", p)
		}
	}
	for i, want := range []struct {
		state      waits.State
		of, by     int
		begin, end int64
	}{
		{waits.LateSender, 1, 0, 10 * ms, 70 * ms}, {waits.LateSender, 2, 1, 80 * ms, 100 * ms},
		{waits.Barrier, 0, 2, 120 * ms, 150 * ms}, {waits.Barrier, 1, 2, 130 * ms, 150 * ms},
	} {
		w := f.Waits[i]
		if w.State != want.state || w.Of.Rank != want.of || w.For.Rank != want.by || !near(w.Begin, want.begin) || !near(w.End, want.end) {
			t.Errorf("%d: %+v, want %+v", i, w, want)
		}
	}
}

// Those are selected that overlap the time and have a side on one of the ranks, the longest first.
func TestSelection(t *testing.T) {
	run := script(t)
	for _, c := range []struct {
		q                Query
		messages, waits  int // in all
		firstWait, ranks int // rank of the first wait that is kept
	}{
		{Query{From: begin + 75e6, To: begin + 110e6, Most: 9}, 1, 1, 2, 1},
		{Query{From: begin + 71e6, To: begin + 71.5e6, Most: 9}, 1, 0, -1, 0},
		{Query{From: begin + 20e6, To: begin + 30e6, Most: 9}, 0, 1, 1, 1},
		{Query{Procs: []int{0}, Most: 9}, 1, 2, 1, 2},
		{Query{Procs: []int{2}, Most: 9}, 1, 3, 2, 3},
		{Query{Most: 1}, 2, 4, 1, 1},
		{Query{Most: 0}, 2, 4, -1, 0},
	} {
		f := of(t, run, c.q)
		first := -1
		if len(f.Waits) > 0 {
			first = f.Waits[0].Of.Rank
		}
		if f.MessageCount != c.messages || f.WaitCount != c.waits || first != c.firstWait || len(f.Waits) != c.ranks || len(f.Messages) > c.q.Most {
			t.Errorf("%+v: %d messages, %d waits, %d kept, the first of rank %d; want %+v", c.q, f.MessageCount, f.WaitCount, len(f.Waits), first, c)
		}
	}
}

// A member that never left a collective call has no part in it, the others do. The longest calls are
// kept, of the selected ranks, if they overlap the time.
func TestCollectives(t *testing.T) {
	s := testrun.NewScript(t, 3)
	world := testrun.Args{"comm": "MPI_COMM_WORLD"}
	for rank := range 3 {
		s.Rank(rank).Call(int64(10+rank)*ms, 20*ms, "MPI_Barrier", world)
		s.Rank(rank).Call(30*ms, int64(50+rank)*ms, "MPI_Barrier", world)
	}
	s.Rank(0).Call(60*ms, 61*ms, "MPI_Barrier", world)
	s.Rank(1).Call(60*ms, 63*ms, "MPI_Barrier", world)
	s.Rank(2).Call(60*ms, 61*ms, "MPI_Comm_rank", testrun.Args{"comm": "MPI_COMM_WORLD", "rank": 2})
	run := s.Run()
	for _, c := range []struct {
		q     Query
		count int
		parts []int
	}{
		{Query{Most: 9}, 3, []int{3, 3, 2}},
		{Query{Most: 1}, 3, []int{3}},
		{Query{Most: 9, Procs: []int{2}}, 2, []int{1, 1}},
		{Query{Most: 9, From: begin + 25e6, To: begin + 40e6}, 1, []int{3}},
		{Query{Most: 0}, 3, nil},
	} {
		f := of(t, run, c.q)
		var parts []int
		for _, x := range f.Collectives {
			parts = append(parts, len(x.Parts))
		}
		if f.CollectiveCount != c.count || !slices.Equal(parts, c.parts) {
			t.Errorf("%+v: %d calls, of %v members are kept; want %d, %v", c.q, f.CollectiveCount, parts, c.count, c.parts)
		}
	}
}

// Of a program that was recorded there are as many messages and waits, and as long ones, as
// package waits finds.
func TestAsWaits(t *testing.T) {
	run := testrun.Traced(t, sim.Config{Program: "halo", Ranks: 12, Steps: 40, Seed: 3})
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	want, err := waits.New(run, procs)
	if err != nil {
		t.Fatal(err)
	}
	f := of(t, run, Query{Most: 1 << 20})
	counts, times := map[waits.State]uint64{}, map[waits.State]int64{}
	for _, w := range f.Waits {
		counts[w.State]++
		times[w.State] += w.End - w.Begin
	}
	if uint64(len(f.Messages)) != want.Matched.Messages || len(want.States) == 0 {
		t.Errorf("%d messages, want %d; %d states", len(f.Messages), want.Matched.Messages, len(want.States))
	}
	for _, s := range want.States {
		if counts[s.State] != s.Count || times[s.State] != s.Time {
			t.Errorf("%v: %d, %d ns; want %d, %d ns", s.State, counts[s.State], times[s.State], s.Count, s.Time)
		}
	}
}

func TestNotTimed(t *testing.T) {
	run := testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 4, Steps: 4, Seed: 3, Stats: true})
	if _, err := New(t.Context(), run, Query{Most: 1}); !errors.Is(err, match.ErrNoTimes) {
		t.Error(err)
	}
}
