package sql_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// Calls inside others have their depth.
func TestDepth(t *testing.T) {
	testrun.Record(t, []testrun.Program{{Source: "c/callbacks.c", Time: "off"}}, func(t *testing.T, r *testrun.Recording) {
		calls := map[int]int{}
		testrun.EachEvent(t, r.Run, func(_ *reconstruct.Process, e *reconstruct.Event) { calls[e.Depth()]++ })
		var want []string
		for d, n := range calls {
			want = append(want, fmt.Sprintf("%d|%d", d, n))
		}
		slices.Sort(want)
		if got := fmt.Sprint(ask(t, database(t, r.Run), "select depth, count(*) from events group by depth order by depth")); got != fmt.Sprint(want) || len(want) < 3 {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
