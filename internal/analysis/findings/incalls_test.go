package findings

import (
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/unfinished"
)

// The sentence about calls in progress names those that are the reason, not those that took longest.
func TestReasonOfCallsInProgress(t *testing.T) {
	barrier := unfinished.Place{Op: "MPI_Barrier", Site: "hang s.c:49"}
	receive := unfinished.Place{Op: "MPI_Recv", Site: "receive s.c:33"}
	send := unfinished.Place{Op: "MPI_Send", Site: "work s.c:7"}
	row := func(at unfinished.Place, time int64, awaited ...unfinished.Awaited) unfinished.Row {
		return unfinished.Row{Place: at, Time: time, Ranks: []unfinished.RankTime{{Rank: int(time), Time: time}}, Awaited: awaited}
	}
	blocked := func(at unfinished.Place, time int64, awaited ...unfinished.Awaited) unfinished.Row {
		r := row(at, time, awaited...)
		r.Blocked = true
		return r
	}
	in := func(at unfinished.Place, ranks ...int) unfinished.Awaited {
		return unfinished.Awaited{Doing: unfinished.InCall, Place: at, Ranks: ranks}
	}
	for name, c := range map[string]struct {
		rows  []unfinished.Row
		total int64
		want  string
	}{
		"a cycle":              {[]unfinished.Row{row(barrier, 90, in(receive, 0, 1)), row(receive, 80, in(receive, 0, 1))}, 100, "rank 80 was in MPI_Recv"},
		"a computing rank":     {[]unfinished.Row{row(barrier, 90, in(send, 5)), row(send, 70, unfinished.Awaited{Doing: unfinished.Computing, Place: send, Ranks: []int{3}})}, 100, "rank 70 was in MPI_Send work s.c:7 for 70 ns, waiting for rank 3 (computing"},
		"two calls":            {[]unfinished.Row{row(barrier, 90, in(receive, 1)), row(receive, 80, in(send, 2)), row(send, 70, in(barrier, 3))}, 100, "rank 70 was in MPI_Send"},
		"too short for that":   {[]unfinished.Row{row(barrier, 5000, in(send, 5)), row(send, 1)}, 100000, "rank 5000 was in MPI_Barrier"},
		"no time":              {[]unfinished.Row{blocked(receive, 0, in(receive, 0))}, 100, "rank 0 was in MPI_Recv receive s.c:33, waiting for rank 0"},
		"soon, but forever":    {[]unfinished.Row{row(send, 2), blocked(receive, 1, in(receive, 0, 1))}, 100000, "rank 1 was in MPI_Recv receive s.c:33 for 1 ns"},
		"for a computing rank": {[]unfinished.Row{row(barrier, 90, unfinished.Awaited{Doing: unfinished.Computing, Ranks: []int{3}}, in(send, 5)), row(send, 70)}, 100, "rank 90 was in MPI_Barrier"},
	} {
		if got := inCalls(c.rows, c.total); got == nil || !strings.Contains(got.Text, c.want) {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
	if got := inCalls([]unfinished.Row{row(send, 2)}, 100000); got != nil {
		t.Errorf("a call that had just begun: %+v", got)
	}
}
