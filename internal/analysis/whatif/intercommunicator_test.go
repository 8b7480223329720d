package whatif

import (
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// On an intercommunicator a rank waits for the other group, not for the late rank of its own.
func TestIntercommunicator(t *testing.T) {
	run := func(proc string) *testrun.Script {
		s := testrun.NewScript(t, 4)
		s.Each(func(r *testrun.ScriptRank, rank int) {
			comm := r.Define(efg.DefComm, signature.CommWorld, signature.ConstWord("EFG_COMM_INTER"), 4, 3, 0, 2, 1, 2, 2, 1)
			r.Call(0, 10*ms, "MPI_Init", nil)
			a := args{"comm": comm}
			if proc != "MPI_Barrier" {
				a["count"], a["datatype"], a["op"] = 1, "MPI_INT", "MPI_SUM"
			}
			from := 10*ms + []int64{10, 10, 50, 20}[rank]*ms
			until := 10*ms + []int64{51, 51, 51, 21}[rank]*ms
			r.Call(from, until, proc, a)
			end := until + []int64{10, 10, 10, 100}[rank]*ms
			r.Call(end, 140*ms, "MPI_Finalize", nil)
		})
		return s
	}
	for _, proc := range []string{"MPI_Barrier", "MPI_Allreduce"} {
		near(t, proc+", ideal", ask(t, run(proc), Question{Ideal: true}).Asked.Time, 120)
		near(t, proc+", unchanged", ask(t, run(proc), Question{Changes: []Change{{Factor: 1}}}).Asked.Time, 121)
	}
}
