package analysis_test

import (
	"testing"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// Of 100 µs in MPI_Init, 3 in MPI_Barrier and 50 in MPI_Finalize, with 7 µs of computation before each
// call, only the barrier is time in MPI, and only the computation after MPI_Init is counted.
func TestSetupApart(t *testing.T) {
	s := testrun.NewScript(t, 2)
	for rank := range 2 {
		r := s.Rank(rank)
		r.Call(7, 107, "MPI_Init", nil)
		r.Call(114, 117, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD"})
		r.Call(124, 174, "MPI_Finalize", nil)
	}
	run := s.Run()
	for _, c := range []struct {
		make            func() (*analysis.Report, error)
		mpi, app, first uint64 // µs of a rank; first: of the first procedure
		apart           bool
	}{
		{func() (*analysis.Report, error) { return analysis.NewReport(run, []int{0, 1}) }, 3, 17, 3, true},
		{func() (*analysis.Report, error) { return analysis.NewReportWithSetup(run, []int{0, 1}) }, 153, 174, 100, false},
	} {
		rep, err := c.make()
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want uint64) {
			if got > want*1000+100 || got+100 < want*1000 {
				t.Errorf("apart %v: %s: %d ns, want %d µs", c.apart, what, got, want)
			}
		}
		near("time in MPI", rep.Total.Time.Sum, 2*c.mpi)
		near("time of the application", rep.App, 2*c.app)
		near("MPI_Init and MPI_Finalize", rep.Setup.Sum, 2*150)
		near("a rank's time in MPI", rep.Ranks[1].TimeSum(), c.mpi)
		near("a rank's time", rep.Ranks[1].App, c.app)
		near("a rank's MPI_Init and MPI_Finalize", rep.Ranks[1].Setup, 150)
		near("the first procedure", rep.Procedures[0].Time.Sum, 2*c.first)
		if rep.Total.Calls != 6 || rep.Ranks[0].Calls != 3 || len(rep.Procedures) != 3 {
			t.Errorf("%d calls, %d of a rank, %d procedures", rep.Total.Calls, rep.Ranks[0].Calls, len(rep.Procedures))
		}
		for _, p := range rep.Procedures {
			if p.Apart != (c.apart && p.Op != "MPI_Barrier") {
				t.Errorf("%s: apart %v", p.Op, p.Apart)
			}
		}
	}
}
