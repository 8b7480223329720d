package match

import (
	"fmt"
	"testing"

	"github.com/efg-tools/efg/internal/testing/testrun"
)

// partner is what a call depends on.
type partner struct {
	by     int // rank
	op     string
	enter  int64
	inTime bool
}

// partners notes what calls depend on, by rank and line.
type partners map[string]partner

func (p partners) Enter(*Call) {}
func (p partners) Exit(c *Call) {
	for _, o := range c.Done {
		if w := o.WaitsFor(); w != nil && (o.Kind == ReceiveMessage || o.Kind == ProbeMessage) {
			by := &w.Thread.nodes[w.Node]
			p[fmt.Sprint(c.Thread.Process.Rank, " ", c.Enter/1000%1000)] = partner{w.Thread.Process.Rank, by.proc.Name, w.Enter / 1000 % 1000, w.Enter <= c.Exit}
		}
	}
}

// Receives of partitioned messages wait for the call by which the last partition became ready, calls that
// find a partition for that by which its last part did; an ordinary message with the same tag is another.
func TestPartitioned(t *testing.T) {
	s := testrun.NewScript(t, 2)
	a, b := s.Rank(0), s.Rank(1)
	args := func(more testrun.Args) testrun.Args {
		for k, v := range (testrun.Args{"tag": 7, "comm": "MPI_COMM_WORLD", "datatype": "MPI_INT"}) {
			if _, ok := more[k]; !ok {
				more[k] = v
			}
		}
		return more
	}
	made := func(r *testrun.ScriptRank, at int64, op string, parts int, more testrun.Args) uint64 {
		more["partitions"], more["count"] = parts, 12/parts
		return r.Call(at, at+1, op, args(more))
	}
	// Two pairs with the same tag: 4 partitions are received as 3, and 1 as 1.
	send := made(a, 1, "MPI_Psend_init", 4, testrun.Args{"dest": 1, "line": 1})
	send2 := made(a, 3, "MPI_Psend_init", 1, testrun.Args{"dest": 1, "line": 2})
	receive := made(b, 1, "MPI_Precv_init", 3, testrun.Args{"source": 0, "line": 1})
	receive2 := made(b, 3, "MPI_Precv_init", 1, testrun.Args{"source": 0, "line": 2})
	for round := range int64(3) {
		at := 100 * (round + 1)
		a.Call(at, at+1, "MPI_Start", testrun.Args{"request": send})
		a.Call(at+2, at+3, "MPI_Start", testrun.Args{"request": send2})
		b.Call(at, at+1, "MPI_Start", testrun.Args{"request": receive2})
		b.Call(at+2, at+3, "MPI_Start", testrun.Args{"request": receive})
		a.Call(at+10, at+11, "MPI_Send", args(testrun.Args{"dest": 1, "count": 1}))
		b.Call(at+9, at+12, "MPI_Recv", args(testrun.Args{"source": 0, "count": 1}))
		a.Call(at+20, at+21, "MPI_Pready_range", testrun.Args{"partition_low": 2, "partition_high": 3, "request": send})
		b.Call(at+19, at+20, "MPI_Parrived", testrun.Args{"partition": 2, "request": receive, "flag": 0})
		b.Call(at+21, at+24, "MPI_Parrived", testrun.Args{"partition": 2, "request": receive, "flag": 1})
		a.Call(at+30, at+31, "MPI_Pready", testrun.Args{"partition": 0, "request": send})
		a.Call(at+40, at+41, "MPI_Pready_list", testrun.Args{"length": 1, "array_of_partitions": []uint64{1}, "request": send})
		b.Call(at+29, at+44, "MPI_Parrived", testrun.Args{"partition": 0, "request": receive, "flag": 1})
		b.Call(at+45, at+46, "MPI_Parrived", testrun.Args{"partition": 1, "request": receive, "flag": 1})
		b.Call(at+47, at+48, "MPI_Wait", testrun.Args{"request": receive})
		a.Call(at+60, at+61, "MPI_Pready", testrun.Args{"partition": 0, "request": send2})
		b.Call(at+49, at+62, "MPI_Wait", testrun.Args{"request": receive2})
		a.Call(at+63, at+64, "MPI_Wait", testrun.Args{"request": send})
		a.Call(at+65, at+66, "MPI_Wait", testrun.Args{"request": send2})
	}
	a.Call(500, 501, "MPI_Request_free", testrun.Args{"request": send})
	b.Call(500, 501, "MPI_Request_free", testrun.Args{"request": receive})
	trace, err := Open(s.Run())
	if err != nil {
		t.Fatal(err)
	}
	got := partners{}
	sum, err := trace.Walk(t.Context(), got, nil)
	if err != nil || sum.Messages != 9 || sum.Unmatched != 0 || sum.Outside != 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	want := partners{}
	for round := range int64(3) {
		at := 100 * (round + 1)
		for call, p := range map[int64]partner{
			9: {0, "MPI_Send", 10, true}, 21: {0, "MPI_Pready_range", 20, true}, 29: {0, "MPI_Pready_list", 40, true},
			45: {0, "MPI_Pready_list", 40, true}, 47: {0, "MPI_Pready_list", 40, true}, 49: {0, "MPI_Pready", 60, true},
		} {
			p.enter += at
			want[fmt.Sprint(1, " ", at+call)] = p
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
