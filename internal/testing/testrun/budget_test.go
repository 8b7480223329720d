package testrun_test

import (
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// Of programs that make more calls than their budget of times holds, the first calls of each
// thread have times, and all are in the statistics.
func TestTimesUntilTheBudget(t *testing.T) {
	programs := []testrun.Program{
		{Source: "c/jacobi.c", Args: "400", Time: "auto=4KiB"},
		{Source: "c/threads.c", Args: "400", Time: "auto=8KiB"},
		{Source: "fortran/halo_mpifh.f", Time: "auto=256B"},
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		if err := runfile.Validate(r.Run); err != nil {
			t.Fatal(err)
		}
		if want := "trace=5," + programs[r.Program].Time[len("auto="):]; r.Run.Meta.Time != want {
			t.Errorf("times: %s, not %s", r.Run.Meta.Time, want)
		}
		for i := range r.Run.Procs {
			checkTimed(t, r.Run, i)
		}
	})
}

// checkTimed demands of each stream of a process that its first calls, and no others, have times,
// that these do not go back, that one of the streams ends early, and that statistics are of all.
func checkTimed(t *testing.T, run *runfile.Run, i int) {
	t.Helper()
	p, err := run.Process(i)
	if err != nil {
		t.Fatal(err)
	}
	untimed, timed := uint64(0), uint64(0)
	for k := range p.Streams {
		s := &p.Streams[k]
		for n, visits := range s.Visits() {
			if st := s.Nodes[n].Stats; st == nil || st.Count != visits {
				t.Fatalf("rank %d, thread %d, node %d: statistics of %+v events, not of %d", i, k, n, st, visits)
			}
		}
		untimed += s.Events - s.TimedEvents()
		timed += s.TimedEvents()
	}
	if untimed == 0 || timed == 0 {
		t.Errorf("rank %d: %d calls have times, %d have none", i, timed, untimed)
	}
	seen, last := uint64(0), map[uint32]int64{}
	r := reconstruct.NewProcess(p, reconstruct.NewNames(p.Defs, nil))
	for k := range p.Streams {
		for e, err := range r.Events(k, reconstruct.Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			start, end, ok := e.Times()
			if ok != (e.Seq < p.Streams[k].TimedEvents()) || ok && (start < last[e.Thread()] || end < start) {
				t.Fatalf("rank %d, thread %d, call %d: from %d to %d, %t", i, k, e.Seq, start, end, ok)
			}
			if ok {
				seen++
				last[e.Thread()] = end
			}
		}
	}
	if seen != timed {
		t.Errorf("rank %d: %d calls have times, not %d", i, seen, timed)
	}
}

// Until the budget is used up, times are what processes see, also of those that are killed later.
func TestOneClockUntilTheBudget(t *testing.T) {
	testrun.Record(t, []testrun.Program{
		{Source: "c/barriers.c", Args: "2", Ranks: 3, Time: "trace=exact,256B"},
		{Source: "c/barriers.c", Args: "2 kill", Ranks: 3, Time: "trace=exact,256B", Fails: true},
	}, func(t *testing.T, r *testrun.Recording) {
		l := parseLog(t, r.Stdout)
		found := map[int][]barrier{}
		testrun.EachEvent(t, r.Run, func(p *reconstruct.Process, e *reconstruct.Event) {
			if start, end, ok := e.Times(); ok && e.Op() == "MPI_Barrier" {
				found[e.Rank()] = append(found[e.Rank()], barrier{start - p.Data().Clock, end - p.Data().Clock})
			}
		})
		for rank, all := range l.ranks {
			if n := len(found[rank]); n < 10 || n >= len(all) {
				t.Fatalf("rank %d: times of %d barriers of %d", rank, n, len(all))
			}
			compareBarriers(t, rank, found[rank], all[:len(found[rank])])
		}
	})
}
