package waits

import (
	"testing"

	"github.com/efg-tools/efg/internal/testing/testrun"
)

// A rank that receives a message late was late before: what it did until then is the cause of what others
// wait for it afterwards.
func TestLateBeforeLastMessage(t *testing.T) {
	s := testrun.NewScript(t, 2)
	a, b := s.Rank(0), s.Rank(1)
	a.Call(10, 20, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD", "line": 1})
	b.Call(10, 20, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD", "line": 1})
	message := func(peer string, rank, line int) testrun.Args {
		return testrun.Args{"comm": "MPI_COMM_WORLD", peer: rank, "tag": 1, "count": 1, "datatype": "MPI_INT", "line": line}
	}
	a.Call(30, 31, "MPI_Send", message("dest", 1, 2))
	b.Call(1030, 1031, "MPI_Recv", message("source", 0, 3)) // the message is there
	b.Call(1040, 1041, "MPI_Send", message("dest", 0, 4))
	a.Call(40, 1050, "MPI_Recv", message("source", 1, 5)) // waits 1 ms
	rep, err := New(s.Run(), []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if rep.Waiting != 1_000_000 || len(rep.Causes) == 0 {
		t.Fatalf("waiting %d: %+v", rep.Waiting, rep.Causes)
	}
	most := rep.Causes[0]
	if most.Call || most.From.Op != "MPI_Barrier" || most.At.Op != "MPI_Recv" || most.Short < 980_000 {
		t.Errorf("the cause is %+v", most)
	}
	for _, c := range rep.Causes {
		if c.At.Op == "" {
			t.Errorf("%d ns are not explained", c.Short+c.Long)
		}
	}
}
