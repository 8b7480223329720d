package match

import (
	"testing"

	"github.com/efg-tools/efg/internal/testing/testrun"
)

type nobody struct{}

func (nobody) Enter(*Call) {}
func (nobody) Exit(*Call)  {}

// What happened until the times of the first process end can be matched.
func TestTimesUntilTheBudget(t *testing.T) {
	testrun.Record(t, []testrun.Program{
		{Source: "c/jacobi.c", Args: "400", Time: "auto=4KiB"},
		{Source: "fortran/halo_mpifh.f", Time: "auto=256B"},
	}, func(t *testing.T, r *testrun.Recording) {
		trace, err := Open(r.Run)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := trace.Walk(t.Context(), nobody{}, nil)
		if err != nil || sum.Unmatched+sum.Disagreeing+sum.Unfinished > 0 || sum.Messages == 0 || trace.Until() == nil {
			t.Errorf("matched: %+v, %v", sum, err)
		}
	})
}
