package efficiency

import (
	"fmt"
	"testing"

	"github.com/efg-tools/efg/internal/testing/testrun"
)

// Before each of four barriers ranks compute 10 and 30 ms, before each of three reductions 40 and 20;
// the first computation of each kind is before the loop begins, but before its first call.
func TestParts(t *testing.T) {
	const ms = 1000
	s := testrun.NewScript(t, 2)
	now := int64(0)
	all := func(proc string, a, b int64, args testrun.Args) {
		for rank, c := range []int64{a, b} {
			s.Rank(rank).Call(now+c*ms, now+max(a, b)*ms+1, proc, args)
		}
		now += max(a, b)*ms + 1
	}
	all("MPI_Init", 7, 7, nil)
	for range 4 {
		all("MPI_Barrier", 10, 30, testrun.Args{"comm": "MPI_COMM_WORLD"})
	}
	for range 3 {
		all("MPI_Allreduce", 40, 20, testrun.Args{"comm": "MPI_COMM_WORLD", "count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
	}
	all("MPI_Finalize", 5, 5, nil)
	r, err := New(s.Run(), Parts{Loops: true, Phases: true})
	if err != nil {
		t.Fatal(err)
	}
	text := func(p *Part) string {
		round := func(ns int64) int64 { return (ns + 500_000) / 1_000_000 }
		return fmt.Sprint(p.Ranks, round(p.Time), round(p.Useful), round(p.Most), p.MostRank)
	}
	var got []string
	for i := range r.Loops {
		got = append(got, r.Loops[i].Loop.Number+" "+r.Loops[i].Loop.Op+": "+text(&r.Loops[i].Part))
	}
	for i := range r.Phases {
		p := &r.Phases[i]
		got = append(got, fmt.Sprint(p.Row, " ", p.From.Op, " ", p.Until.Op, ": ", text(&p.Part)))
	}
	want := []string{
		"1 MPI_Barrier: 2 120 160 120 1", "2 MPI_Allreduce: 2 120 180 120 0",
		"1  MPI_Barrier: 2 30 40 30 1", "2 MPI_Barrier MPI_Barrier: 2 90 120 90 1", "3 MPI_Barrier MPI_Allreduce: 2 40 60 40 0",
		"4 MPI_Allreduce MPI_Allreduce: 2 80 120 80 0", "5 MPI_Allreduce : 2 5 10 5 0",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}
