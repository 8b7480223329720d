package efficiency

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

type args = testrun.Args

func message(peer string, rank int) args {
	return args{"comm": "MPI_COMM_WORLD", peer: rank, "tag": 5, "count": 1, "datatype": "MPI_INT"}
}

const ms = 1000

func about(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.002 {
		t.Errorf("%s: %.4f, want %.4f", what, got, want)
	}
}

// twoRanks compute 120 and 100 ms in a run of 190 ms. On an ideal network rank 1 gets its message
// after 100 ms, and is at the barrier after 160.
func twoRanks(t *testing.T) *testrun.Script {
	s := testrun.NewScript(t, 2)
	a, b := s.Rank(0), s.Rank(1)
	world := args{"comm": "MPI_COMM_WORLD"}
	a.Call(0, 10*ms, "MPI_Init", nil)
	a.Call(110*ms, 115*ms, "MPI_Send", message("dest", 1))
	a.Call(135*ms, 200*ms, "MPI_Barrier", world)
	a.Call(200*ms, 300*ms, "MPI_Finalize", nil)
	b.Call(5*ms, 10*ms, "MPI_Init", nil)
	b.Call(50*ms, 120*ms, "MPI_Recv", message("source", 0))
	b.Call(180*ms, 200*ms, "MPI_Barrier", world)
	b.Call(200*ms, 300*ms, "MPI_Finalize", nil)
	return s
}

func TestTree(t *testing.T) {
	r, err := New(twoRanks(t).Run(), Parts{Windows: 2})
	if err != nil {
		t.Fatal(err)
	}
	about(t, "load balance", r.LoadBalance(), 110.0/120)
	about(t, "communication efficiency", r.Communication(), 120.0/190)
	about(t, "parallel efficiency", r.Parallel(), 110.0/190)
	about(t, "serialisation", r.Serialisation(), 120.0/160)
	about(t, "transfer", r.Transfer(), 160.0/190)
	about(t, "product", r.LoadBalance()*r.Serialisation()*r.Transfer(), r.Parallel())
	if r.Ranks != 2 || r.MostRank != 0 || r.LeastRank != 1 || r.Reason != "" || (r.Setup+5e5)/1e6 != 108 { // 110 and 105
		t.Errorf("%+v", r)
	}
	// The windows are 0 to 150 and 150 to 300 ms: 120 and 70 ms in the first, 0 and 30 in the second.
	if len(r.Windows) != 2 || (r.Windows[0].Useful+5e5)/1e6 != 190 || (r.Windows[0].Most+5e5)/1e6 != 120 || r.Windows[1].MostRank != 1 || (r.Windows[1].Useful+5e5)/1e6 != 30 {
		t.Errorf("%+v", r.Windows)
	}
}

// A send that waited for its receive does so on the ideal network too; time between polls is no work.
func TestIdealNetwork(t *testing.T) {
	s := testrun.NewScript(t, 2)
	a, b := s.Rank(0), s.Rank(1)
	for _, r := range []*testrun.ScriptRank{a, b} {
		r.Call(0, 10*ms, "MPI_Init", nil)
	}
	a.Call(20*ms, 115*ms, "MPI_Ssend", message("dest", 1))
	q := a.Call(125*ms, 126*ms, "MPI_Irecv", message("source", 1))
	for i := range int64(40) {
		a.Call((130+i)*ms, (130+i)*ms+995, "MPI_Test", args{"request": q, "flag": 0})
	}
	a.Call(170*ms, 171*ms, "MPI_Test", args{"request": q, "flag": 1, "status.source": "EFG_AS_POSTED", "status.tag": "EFG_AS_POSTED", "status.bytes": "EFG_AS_POSTED"})
	b.Call(110*ms, 116*ms, "MPI_Recv", message("source", 0))
	b.Call(166*ms, 169*ms, "MPI_Send", message("dest", 0))
	for _, r := range []*testrun.ScriptRank{a, b} {
		r.Call(180*ms, 190*ms, "MPI_Finalize", nil)
	}
	r, err := New(s.Run(), Parts{})
	if err != nil {
		t.Fatal(err)
	}
	// Rank 1: 100, then 50 to the send, then 11. Rank 0: at 100 the send is over, at 150 the receive, then 9.
	about(t, "ideal time in ms", float64(r.Ideal)/1e9, 0.161)
}

// Without the times of each call serialisation and transfer are unknown, without any all is.
func TestLessTimes(t *testing.T) {
	r, err := New(testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 8, Steps: 20, Stats: true}), Parts{Windows: 3})
	if err != nil {
		t.Fatal(err)
	}
	if r.Reason != NoTrace || r.Ideal != 0 || r.Parallel() <= 0 || r.Parallel() > 1 || r.Serialisation() != 0 || r.Windows != nil {
		t.Errorf("%+v", r)
	}
	if _, err := New(testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 8, Steps: 20}), Parts{}); !errors.Is(err, ErrNoTimes) {
		t.Error(err)
	}
}

func TestCompare(t *testing.T) {
	strong := []*Run{{Ranks: 4, Useful: 400, Time: 120}, {Ranks: 8, Useful: 440, Time: 70}}
	weak := []*Run{{Ranks: 4, Useful: 400, Time: 120}, {Ranks: 8, Useful: 900, Time: 130}, {Ranks: 16, Useful: 1700, Time: 130}}
	c := Compare(strong, NoScaling)
	if c.Scaling != StrongScaling {
		t.Errorf("%+v", c)
	}
	about(t, "strong", c.Computation[1], 400.0/440)
	about(t, "speedup", c.Speedup[1], 120.0/70)
	c = Compare(weak, NoScaling)
	if c.Scaling != WeakScaling || c.Computation[0] != 1 {
		t.Errorf("%+v", c)
	}
	about(t, "weak", c.Computation[2], 1600.0/1700)
	if c := Compare(weak, StrongScaling); c.Scaling != StrongScaling || c.Computation[1] > 0.5 {
		t.Errorf("%+v", c)
	}
	if c := Compare(strong[:1], NoScaling); c.Scaling != NoScaling || len(c.Speedup) != 1 {
		t.Errorf("%+v", c)
	}
}

// Without statistics the tree is that of the times of each call, of all nodes or of some.
func TestTimesOfEachCall(t *testing.T) {
	run := twoRanks(t).Run()
	parts := Parts{Windows: 2, Loops: true, Phases: true}
	want, err := New(run, parts)
	if err != nil {
		t.Fatal(err)
	}
	for every := 1; every <= 2; every++ {
		var procs []*efg.Process
		for i := range run.Procs {
			p, err := run.Process(i)
			if err != nil {
				t.Fatal(err)
			}
			for k := 0; k < len(p.Streams[0].Nodes); k += every {
				p.Streams[0].Nodes[k].Stats = nil
			}
			procs = append(procs, p)
		}
		got, err := New(testrun.Of(t, procs, run.Meta), parts)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("every %d of the nodes has no statistics: %+v, want %+v", every, got, want)
		}
	}
}
