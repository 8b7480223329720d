package clocks

import (
	"math"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// startsOf are the times at which the calls of each rank begin, ns since the run began.
func startsOf(t testing.TB, run *runfile.Run) [][]int64 {
	t.Helper()
	list := make([][]int64, len(run.Procs))
	testrun.EachEvent(t, run, func(_ *reconstruct.Process, e *reconstruct.Event) {
		start, _, _ := e.Times()
		list[e.Rank()] = append(list[e.Rank()], start)
	})
	return list
}

// chat lets all ranks exchange messages in pairs, from time to time, for some µs.
func (p *program) chat(us int64) {
	for p.now[0] < us {
		for a := range p.now {
			b := (a + 1) % len(p.now)
			p.message(a, b)
			p.message(b, a)
		}
		for rank := range p.now {
			p.compute(rank, 500)
		}
	}
}

// near checks the offset and rate of a machine's only window: the truth is within the error that it
// states, which is no more than what a message takes.
func near(t *testing.T, m *Machine, truth clock, latency int64) {
	t.Helper()
	if !m.Aligned || len(m.Windows) != 1 {
		t.Fatalf("%+v", *m)
	}
	w := &m.Windows[0]
	if w.Error < 0 || w.Error > latency {
		t.Errorf("an error of %d ns, a message takes %d", w.Error, latency)
	}
	const begins = 1_000_000_000 // see testrun.Script
	for _, at := range []int64{w.From - begins, w.To - begins} {
		said := float64(w.Offset) + w.Rate*float64(at+begins-w.From)
		ns := at
		for range 10 { // back to the reference's time
			ns -= truth(ns) - at
		}
		if off := said - float64(at-ns); math.Abs(off) > float64(w.Error)+2 {
			t.Errorf("at %d it is ahead by %.0f ns, the truth is %d; it claims an error of %d", at, said, at-ns, w.Error)
		}
	}
}

// Offsets of seconds and rates of 50 ppm are found within the time that a message takes.
func TestOffsetAndRate(t *testing.T) {
	clocks := []clock{exact, wrong(3_000_000_000, 50), wrong(500_000_000, -50), wrong(7_000_000_000, 0)}
	p := newProgram(t, 1, 8, clocks...)
	p.chat(2_000_000)
	run := p.Run()
	raw := startsOf(t, run)
	r := corrected(t, run)
	if r.Raw.Calls == 0 || r.Raw.Worst < 6_000_000_000 {
		t.Errorf("raw: %+v", r.Raw)
	}
	if r.Machines[0].Aligned || r.Machines[0].Reference != 0 || len(r.Machines) != 4 {
		t.Errorf("%+v", r.Machines[0])
	}
	for i, m := range r.Machines[1:] {
		near(t, &m, clocks[i+1], 10_000)
	}
	for rank, starts := range startsOf(t, run) {
		for i, at := range starts {
			if rank < 2 && max(at-raw[rank][i], raw[rank][i]-at) > 10_000 {
				t.Fatalf("rank %d is on the reference: event %d is moved from %d to %d", rank, i, raw[rank][i], at)
			}
		}
	}
}

// A clock that is disciplined has several lines, as few as possible.
func TestDisciplined(t *testing.T) {
	p := newProgram(t, 2, 2, exact, disciplined(1_000_000_000, 1_000_000_000, 40, -60, 20))
	p.chat(3_000_000)
	r := corrected(t, p.Run())
	m := &r.Machines[1]
	if len(m.Windows) != 3 {
		t.Fatalf("%+v", *m)
	}
	for i, want := range []float64{40, -60, 20} {
		if w := &m.Windows[i]; math.Abs(w.Rate*1e6-want) > 15 || w.Error > 10_000 {
			t.Errorf("window %d: %.2f ppm, want %.2f; %+v", i, w.Rate*1e6, want, *w)
		}
	}
	if r.Aligned.Worst > 10_000 {
		t.Errorf("aligned: %+v", r.Aligned)
	}
}

// Machines that exchange nothing, or in one direction only, are not aligned: effects are
// shifted, where there are any.
func TestNotAligned(t *testing.T) {
	p := newProgram(t, 3, 8, exact, wrong(2_000_000, 30), wrong(3_000_000_000, 50), wrong(3_000_000_000, -50))
	for range 200 {
		p.message(0, 2) // to the second machine, which answers
		p.message(2, 0)
		p.message(4, 1) // from the third one, which never gets an answer
		for rank := range p.now {
			p.compute(rank, 100)
		}
	}
	p.message(6, 7)
	p.Rank(5).Call(10, 20, "MPI_Send", envelope("dest", 4))
	run := p.Run()
	r := corrected(t, run)
	for i, want := range []bool{false, true, false, false} {
		if m := &r.Machines[i]; m.Aligned != want || !want && m.Reference != i {
			t.Errorf("machine %d: %+v", i, *m)
		}
	}
	if len(r.Ranks) != 1 || r.Ranks[0].Rank != 1 || r.Ranks[0].Calls == 0 || r.Ranks[0].Longest < 2_900_000_000 {
		t.Errorf("%+v", r.Ranks)
	}
}

// A machine that only talks to one that talks to the reference is aligned over that.
func TestChain(t *testing.T) {
	clocks := []clock{exact, wrong(2_000_000_000, 50), wrong(800_000_000, -50)}
	p := newProgram(t, 4, 3, clocks...)
	for range 1000 {
		for _, pair := range [][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 1}} {
			p.message(pair[0], pair[1])
		}
		for rank := range p.now {
			p.compute(rank, 1000)
		}
	}
	r := corrected(t, p.Run())
	for i, m := range r.Machines[1:] {
		near(t, &m, clocks[i+1], 20_000)
	}
}

// Collective calls alone are enough.
func TestCollectives(t *testing.T) {
	for name, step := range map[string]func(p *program, i int){
		"barrier":   func(p *program, _ int) { p.together("MPI_Barrier", world) },
		"allreduce": func(p *program, _ int) { p.together("MPI_Allreduce", sum) },
		"rooted": func(p *program, i int) {
			p.rooted("MPI_Bcast", i%4, true)
			p.rooted("MPI_Reduce", i%4, false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			clocks := []clock{exact, wrong(3_000_000_000, -50)}
			p := newProgram(t, 5, 4, clocks...)
			for i := range 1000 {
				for rank := range p.now {
					p.compute(rank, 200+p.random.Int64N(5))
				}
				step(p, i)
			}
			r := corrected(t, p.Run())
			near(t, &r.Machines[1], clocks[1], 20_000)
		})
	}
}

// Without data a collective call need not wait, so that it says nothing.
func TestNoData(t *testing.T) {
	p := newProgram(t, 6, 2, exact, wrong(3_000_000_000, 0))
	none := args{"comm": "MPI_COMM_WORLD", "count": 0, "datatype": "MPI_INT", "op": "MPI_SUM"}
	for range 10 {
		p.call(0, 0, "MPI_Allreduce", none)
		p.call(1, 0, "MPI_Allreduce", none)
	}
	r := corrected(t, p.Run())
	if r.Machines[1].Aligned || r.Raw.Calls != 0 || len(r.Ranks) > 0 {
		t.Errorf("%+v", *r)
	}
}

// A rank that was killed says what it can.
func TestKilled(t *testing.T) {
	clocks := []clock{exact, wrong(3_000_000_000, 50)}
	p := newProgram(t, 7, 4, clocks...)
	p.chat(100_000)
	p.Rank(1).Call(p.now[1], p.now[1]+10, "MPI_Barrier", world)
	p.Rank(3).Stop(p.now[3]+4, "MPI_Barrier", world)
	p.Rank(2).Kill()
	r := corrected(t, p.Run())
	near(t, &r.Machines[1], clocks[1], 10_000)
}

// Of one machine nothing is changed.
func TestOneMachine(t *testing.T) {
	p := newProgram(t, 8, 2, exact)
	p.message(0, 1)
	p.Rank(0).Call(100, 110, "MPI_Send", envelope("dest", 1))
	p.Rank(1).Call(50, 60, "MPI_Recv", envelope("source", 0))
	run := p.Run()
	before := startsOf(t, run)
	r, err := Correct(t.Context(), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Raw != (Contradictions{1, 40_000}) || len(r.Ranks) > 0 || len(r.Machines) != 1 {
		t.Errorf("%+v", *r)
	}
	for rank, list := range startsOf(t, run) {
		for i, at := range list {
			if at != before[rank][i] {
				t.Errorf("rank %d: event %d moves from %d to %d", rank, i, before[rank][i], at)
			}
		}
	}
}
