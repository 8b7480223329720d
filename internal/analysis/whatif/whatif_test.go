package whatif

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

type args = testrun.Args

func message(peer string, rank, bytes int) args {
	return args{"comm": "MPI_COMM_WORLD", peer: rank, "tag": 5, "count": bytes, "datatype": "MPI_BYTE"}
}

// ms is a millisecond of a script, whose times are in µs.
const ms = 1000

// near demands a time in ns to be what is expected in ms, within 2 %.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got/1e6-want) > 0.02*want {
		t.Errorf("%s: %.3f ms, want %.3f", what, got/1e6, want)
	}
}

// late is a run of 200 ms in which rank 1 waits 40 ms for rank 0, and both 10 ms at a barrier.
func late(t *testing.T) *testrun.Script {
	s := testrun.NewScript(t, 2)
	a, b := s.Rank(0), s.Rank(1)
	world := args{"comm": "MPI_COMM_WORLD"}
	a.Call(0, 10*ms, "MPI_Init", nil)
	b.Call(0, 10*ms, "MPI_Init", nil)
	a.Call(110*ms, 112*ms, "MPI_Send", message("dest", 1, 4))
	b.Call(70*ms, 113*ms, "MPI_Recv", message("source", 0, 4))
	a.Call(190*ms, 201*ms, "MPI_Barrier", world)
	b.Call(200*ms, 201*ms, "MPI_Barrier", world)
	a.Call(210*ms, 220*ms, "MPI_Finalize", nil)
	b.Call(205*ms, 220*ms, "MPI_Finalize", nil)
	return s
}

func ask(t *testing.T, s *testrun.Script, q Question) *Report {
	t.Helper()
	r, err := New(s.Run(), &q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCompute(t *testing.T) {
	first := rankset.Set{{0, 0}}
	for _, c := range []struct {
		what string
		q    Question
		want float64
	}{
		{"nothing changes", Question{Changes: []Change{{Factor: 1}}}, 200},
		// Rank 0 is at its barrier at 100, rank 1 has its message at 61 and is there at 148.
		{"rank 0 in half the time", Question{Changes: []Change{{Ranks: first, Factor: 0.5}}}, 60 + 1 + 87 + 0 + 4.5},
		{"rank 0 in no time", Question{Changes: []Change{{Ranks: first, Factor: 0}}}, 60 + 1 + 87 + 1 + 4},
		{"all in twice the time", Question{Changes: []Change{{Factor: 2}}}, 200 + 3 + 174 + 1 + 18},
		{"two changes", Question{Changes: []Change{{Factor: 2}, {Ranks: first, Factor: 0.5}}}, 120 + 1 + 174 + 1 + 8},
		{"ideal", Question{Ideal: true}, 100 + 87 + 9},
		{"balanced", Question{Balance: true}, 172.5*100/187 + 3 + 172.5*87/151 + 1 + 172.5*9/187},
	} {
		r := ask(t, late(t), c.q)
		near(t, "recorded", r.Recorded.Time, 200)
		near(t, c.what, r.Asked.Time, c.want)
	}
}

// ring is a run of a program whose communication takes what the parameters say: ranks compute, send
// to the next one, receive from the one before, and meet at a barrier.
func ring(t *testing.T, n Network, seed uint64, faster float64) *testrun.Script {
	const ranks, steps = 4, 40
	r := rand.New(rand.NewPCG(seed, 0))
	s := testrun.NewScript(t, ranks)
	now, there := make([]float64, ranks), make([]float64, ranks)
	call := func(rank int, until float64, op string, a args) {
		s.Rank(rank).Call(int64(now[rank]/1e3), int64(until/1e3), op, a)
		now[rank] = until
	}
	for rank := range ranks {
		call(rank, 1e6, "MPI_Init", nil)
	}
	for range steps {
		bytes := 1 << r.IntN(18)
		for rank := range ranks {
			gap := 1e6 * r.Float64()
			if rank == 1 {
				gap *= faster
			}
			now[rank] += gap
			there[(rank+1)%ranks] = now[rank] + n.transfer(uint64(bytes))
			call(rank, now[rank]+n.Overhead+n.PerByte*payload(uint64(bytes)), "MPI_Send", message("dest", (rank+1)%ranks, bytes))
		}
		last := 0.0
		for rank := range ranks {
			call(rank, max(now[rank], there[rank])+n.Overhead, "MPI_Recv", message("source", (rank+ranks-1)%ranks, bytes))
			now[rank] += 1e5 * r.Float64()
			last = max(last, now[rank])
		}
		for rank := range ranks {
			call(rank, last+2*n.transfer(0)+n.Overhead, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
		}
	}
	for rank := range ranks {
		now[rank] += 1e4
		call(rank, now[rank]+1e6, "MPI_Finalize", nil)
	}
	return s
}

// The network of a run is found, its parameters alone give the time of the run, and what other
// networks and computations are predicted to give is what the program does then.
func TestNetworks(t *testing.T) {
	slow, fast := Network{Latency: 200e3, Overhead: 20e3, PerByte: 4}, Network{Latency: 50e3, Overhead: 10e3, PerByte: 1}
	for seed := range uint64(4) {
		r := ask(t, ring(t, slow, seed, 1), Question{})
		for _, p := range []struct {
			what      string
			got, want float64
		}{
			{"latency", r.Own.Latency, slow.Latency}, {"overhead", r.Own.Overhead, slow.Overhead}, {"time per byte", r.Own.PerByte, slow.PerByte},
		} {
			if math.Abs(p.got-p.want) > 0.15*p.want {
				t.Errorf("%s: %.3f, want %.3f", p.what, p.got, p.want)
			}
		}
		if off := math.Abs(r.Modelled.Time/r.Recorded.Time - 1); off > 0.05 {
			t.Errorf("modelled: %.3f ms, recorded %.3f", r.Modelled.Time/1e6, r.Recorded.Time/1e6)
		}
		for _, c := range []struct {
			what string
			q    Question
			want *testrun.Script
		}{
			{"fast network", Question{Own: &slow, Latency: &fast.Latency, Overhead: &fast.Overhead, PerByte: &fast.PerByte}, ring(t, fast, seed, 1)},
			{"faster rank", Question{Changes: []Change{{Ranks: rankset.Set{{1, 1}}, Factor: 0.3}}}, ring(t, slow, seed, 0.3)},
		} {
			want := ask(t, c.want, Question{}).Recorded.Time
			near(t, c.what, ask(t, ring(t, slow, seed, 1), c.q).Asked.Time, want/1e6)
		}
	}
}

// The first calls of a program often take longest: the model keeps what they take, and does not confuse what
// ranks take that wait with what those take that are waited for.
func TestSlowBeginning(t *testing.T) {
	s := testrun.NewScript(t, 2)
	now := [2]int64{1 * ms, 1 * ms}
	for rank := range 2 {
		s.Rank(rank).Call(0, now[rank], "MPI_Init", nil)
	}
	for i := range int64(200) {
		now[i%2] += 2 * ms // rank 0 and rank 1 wait in turn
		last, takes := max(now[0], now[1]), int64(0.1*ms)
		switch {
		case i == 0:
			takes = 80 * ms
		case i < 100:
			takes = 1 * ms
		}
		for rank := range 2 {
			end := last + takes
			if now[rank] == last {
				end += takes / 2
			}
			s.Rank(rank).Call(now[rank], end, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
			now[rank] = end
		}
	}
	for rank := range 2 {
		s.Rank(rank).Call(now[rank]+1*ms, now[rank]+2*ms, "MPI_Finalize", nil)
	}
	r := ask(t, s, Question{})
	if off := r.Modelled.Time/r.Recorded.Time - 1; math.Abs(off) > 0.05 {
		t.Errorf("modelled: %.3f ms, recorded %.3f: %+.1f %%", r.Modelled.Time/1e6, r.Recorded.Time/1e6, 100*off)
	}
}

// A scenario without changes is the recorded run, whatever that is, also in detail; and so is one
// with the recorded network.
func TestAsRecorded(t *testing.T) {
	list := []testrun.Program{
		{Source: "c/delays.c", Args: "DIR 5", Time: "trace"}, {Source: "fortran/delays.f90", Args: "DIR 5", Time: "trace"},
		{Source: "c/jacobi.c", Args: "50", Time: "trace"}, {Source: "c/mesh.c", Time: "trace"}, {Source: "c/rma.c", Args: "20", Time: "trace"},
	}
	testrun.Record(t, list, func(t *testing.T, r *testrun.Recording) {
		trace, err := match.Open(r.Run)
		if err != nil {
			t.Fatal(err)
		}
		own := Network{Latency: 500, Overhead: 200, PerByte: 0.1}
		x := NewSimulation(trace, own, []Scenario{{}, {Network: &own}})
		if _, err := trace.Walk(t.Context(), x, nil); err != nil {
			t.Fatal(err)
		}
		for k, p := range x.Predictions() {
			if math.Abs(p.Time-x.Recorded()) > 1 {
				t.Errorf("scenario %d: %.0f ns, recorded %.0f", k, p.Time, x.Recorded())
			}
		}
	})
}

// Messages between hosts take what the network takes between hosts: rank 0 sends to rank 1 of its
// host, and that to rank 2 of another, and they compute 10 ms before each send.
func TestHosts(t *testing.T) {
	between, five := Network{Latency: 40e6}, 5e6
	for _, c := range []struct {
		what string
		q    Question
		want float64
	}{
		{"one network", Question{Network: &Network{Latency: 3e6}}, 10 + 3 + 1 + 10 + 3 + 1 + 5},
		{"two networks", Question{Network: &Network{Latency: 3e6, Between: &between}}, 10 + 3 + 1 + 10 + 40 + 1 + 5},
		{"another latency", Question{Network: &Network{Latency: 3e6, Between: &between}, Latency: &five}, 10 + 5 + 1 + 10 + 5 + 1 + 5},
	} {
		c.q.Own = &Network{Latency: 1e6} // and receivers take 1 ms
		for range 2 {
			near(t, c.what, ask(t, hosts(t), c.q).Asked.Time, c.want)
			c.q.Modelled = true // all messages take as long as the others
		}
	}
}

func hosts(t *testing.T) *testrun.Script {
	s := testrun.NewScript(t, 3)
	for rank, host := range []string{"a", "a", "b"} {
		s.Rank(rank).On(host, func(ns int64) int64 { return ns })
		s.Rank(rank).Call(0, 1*ms, "MPI_Init", nil)
	}
	s.Rank(0).Call(11*ms, 12*ms, "MPI_Send", message("dest", 1, 4))
	s.Rank(1).Call(2*ms, 13*ms, "MPI_Recv", message("source", 0, 4))
	s.Rank(1).Call(23*ms, 24*ms, "MPI_Send", message("dest", 2, 4))
	s.Rank(2).Call(2*ms, 25*ms, "MPI_Recv", message("source", 1, 4))
	for rank := range 3 {
		s.Rank(rank).Call(30*ms, 31*ms, "MPI_Finalize", nil)
	}
	return s
}
