package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// log notes each operation that is complete, and what it waits for.
type log struct {
	t     *testing.T
	lines []string
	last  map[*Thread]uint64
}

func (l *log) Enter(c *Call) {
	for _, o := range c.Posted {
		if o.Thread != c.Thread || o.Event != c.Event || o.Enter != c.Enter {
			l.t.Errorf("%v was not posted by %v", o.Origin, c)
		}
	}
}

func (l *log) Exit(c *Call) {
	if next, ok := l.last[c.Thread]; ok && c.Event != next+1 {
		l.t.Errorf("rank %d: event %d after %d", c.Thread.Process.Rank, c.Event, next)
	}
	l.last[c.Thread] = c.Event
	for _, o := range c.Done {
		text := fmt.Sprintf("%d:%d", c.Thread.Process.Rank, c.Event)
		if o.Event != c.Event {
			text += fmt.Sprintf("(%d)", o.Event)
		}
		text += " " + kindNames[o.Kind]
		if w := o.WaitsFor(); w != nil {
			text += fmt.Sprintf(" %d:%d", w.Thread.Process.Rank, w.Event)
		}
		l.lines = append(l.lines, text)
	}
}

var kindNames = []string{"send", "receive", "probe", "part", "post", "start", "complete", "await", "lock"}

// walkLog is what a walk completes, in order of ranks and events.
func walkLog(t *testing.T, run *runfile.Run) (lines []string, summary *Summary) {
	t.Helper()
	trace, err := Open(run)
	if err != nil {
		t.Fatal(err)
	}
	l := &log{t: t, last: map[*Thread]uint64{}}
	summary, err = trace.Walk(t.Context(), l, nil)
	if err != nil {
		t.Fatal(err)
	}
	if summary.Calls != trace.Events {
		t.Errorf("%d calls of %d", summary.Calls, trace.Events)
	}
	slices.Sort(l.lines)
	return l.lines, summary
}

func compare(t *testing.T, s *testrun.Script, want string) *Summary {
	t.Helper()
	got, summary := walkLog(t, s.Run())
	list := strings.Split(want, "; ")
	slices.Sort(list)
	if !slices.Equal(got, list) {
		t.Errorf("got  %q\nwant %q", got, list)
	}
	return summary
}

type args = testrun.Args

func message(peer string, rank, tag int) args {
	return args{"comm": "MPI_COMM_WORLD", peer: rank, "tag": tag, "count": 1, "datatype": "MPI_INT"}
}

func with(a args, more args) args {
	for k, v := range more {
		a[k] = v
	}
	return a
}

func anything(source, tag int) args {
	return with(message("source", 0, 0), args{"source": "MPI_ANY_SOURCE", "tag": "MPI_ANY_TAG", "status.source": source, "status.tag": tag})
}

func waitOf(id uint64) args {
	return args{"request": id, "status.source": "EFG_AS_POSTED", "status.tag": "EFG_AS_POSTED", "status.bytes": "EFG_AS_POSTED"}
}

// Messages of one channel are matched in order, those of others are not confused with them.
func TestBlocking(t *testing.T) {
	s := testrun.NewScript(t, 3)
	a, b, c := s.Rank(0), s.Rank(1), s.Rank(2)
	a.Call(10, 20, "MPI_Send", message("dest", 1, 5))
	a.Call(30, 40, "MPI_Send", message("dest", 1, 6))
	a.Call(50, 60, "MPI_Send", message("dest", 1, 5))
	a.Call(70, 80, "MPI_Send", with(message("dest", 1, 5), args{"dest": "MPI_PROC_NULL"}))
	b.Call(10, 35, "MPI_Recv", message("source", 0, 6))
	b.Call(40, 45, "MPI_Recv", message("source", 0, 5))
	b.Call(50, 55, "MPI_Recv", anything(0, 5))
	b.Call(60, 75, "MPI_Sendrecv", args{"comm": "MPI_COMM_WORLD", "dest": 2, "sendtag": 1, "source": 2, "recvtag": 1,
		"sendcount": 1, "sendtype": "MPI_INT", "recvcount": 1, "recvtype": "MPI_INT"})
	c.Call(70, 76, "MPI_Sendrecv", args{"comm": "MPI_COMM_WORLD", "dest": 1, "sendtag": 1, "source": 1, "recvtag": 1,
		"sendcount": 1, "sendtype": "MPI_INT", "recvcount": 1, "recvtype": "MPI_INT"})
	sum := compare(t, s, "0:0 send; 0:1 send 1:0; 0:2 send 1:2; 1:0 receive 0:1; 1:1 receive 0:0; 1:2 receive 0:2; "+
		"1:3 receive 2:0; 1:3 send 2:0; 2:0 receive 1:3; 2:0 send 1:3")
	if *sum != (Summary{Calls: 9, Messages: 5}) {
		t.Errorf("%+v", sum)
	}
}

// An eager send is complete before its receive is posted: it waits for nothing.
func TestEager(t *testing.T) {
	s := testrun.NewScript(t, 2)
	s.Rank(0).Call(10, 20, "MPI_Send", message("dest", 1, 5))
	s.Rank(1).Call(100, 120, "MPI_Recv", message("source", 0, 5))
	compare(t, s, "0:0 send; 1:0 receive 0:0")
}

// Clocks that differ change the order of the walk, not what is matched.
func TestContradictingClocks(t *testing.T) {
	s := testrun.NewScript(t, 2)
	for i := range int64(3) {
		s.Rank(0).Call(1000+100*i, 1020+100*i, "MPI_Send", message("dest", 1, 5))
		s.Rank(1).Call(10+100*i, 20+100*i, "MPI_Recv", message("source", 0, 5))
	}
	s.Rank(1).Call(500, 510, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
	s.Rank(0).Call(2000, 2010, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
	sum := compare(t, s, "0:0 send 1:0; 0:1 send 1:1; 0:2 send 1:2; 1:0 receive 0:0; 1:1 receive 0:1; 1:2 receive 0:2; 0:3 part; 1:3 part 0:3")
	if sum.Unmatched != 0 {
		t.Errorf("%+v", sum)
	}
}

// Requests: the call that completes them depends on what was posted; receives of anything are
// matched in the order in which they were posted, whichever is complete first.
func TestRequests(t *testing.T) {
	s := testrun.NewScript(t, 3)
	a, b, c := s.Rank(0), s.Rank(1), s.Rank(2)
	wild := with(message("source", 0, 0), args{"source": "MPI_ANY_SOURCE", "tag": "MPI_ANY_TAG"})
	p := a.Call(10, 11, "MPI_Irecv", with(wild, args{"line": 1}))
	q := a.Call(12, 13, "MPI_Irecv", with(wild, args{"line": 2}))
	r := a.Call(14, 15, "MPI_Irecv", with(message("source", 1, 5), args{"line": 3}))
	b.Call(20, 21, "MPI_Send", message("dest", 0, 5)) // to q: p gets that of rank 2
	b.Call(22, 23, "MPI_Send", message("dest", 0, 5)) // to r
	c.Call(25, 26, "MPI_Send", message("dest", 0, 7)) // to p
	array := []uint64{p, q, r}
	waitAny := func(index, source, tag int) args {
		return args{"count": 3, "array_of_requests": array, "index": index, "status.source": source, "status.tag": tag, "status.bytes": "EFG_AS_POSTED"}
	}
	a.Call(30, 31, "MPI_Waitany", waitAny(1, 1, 5))
	array = []uint64{p, signature.RequestNull, r}
	a.Call(32, 33, "MPI_Waitany", with(waitAny(2, 0, 0), args{"status.source": "EFG_AS_POSTED", "status.tag": "EFG_AS_POSTED"}))
	array = []uint64{p, signature.RequestNull, signature.RequestNull}
	a.Call(34, 35, "MPI_Waitany", waitAny(0, 2, 7))
	compare(t, s, "1:0 send 0:1; 1:1 send 0:2; 2:0 send 0:0; 0:3(1) receive 1:0; 0:4(2) receive 1:1; 0:5(0) receive 2:0")
}

// A persistent operation is posted each time it is started.
func TestPersistent(t *testing.T) {
	s := testrun.NewScript(t, 2)
	a, b := s.Rank(0), s.Rank(1)
	p := a.Call(1, 2, "MPI_Send_init", message("dest", 1, 5))
	q := b.Call(1, 2, "MPI_Recv_init", with(message("source", 0, 5), args{"tag": "MPI_ANY_TAG"}))
	for i := range int64(2) {
		a.Call(10+10*i, 11+10*i, "MPI_Start", args{"request": p})
		b.Call(12+10*i, 13+10*i, "MPI_Startall", args{"count": 1, "array_of_requests": []uint64{q}})
		a.Call(14+10*i, 15+10*i, "MPI_Wait", waitOf(p))
		b.Call(14+10*i, 15+10*i, "MPI_Wait", with(waitOf(q), args{"status.tag": 5}))
	}
	compare(t, s, "0:2(1) send 1:1; 0:4(3) send 1:3; 1:2(1) receive 0:1; 1:4(3) receive 0:3")
}

// A probe depends on the message that it finds; a matched one takes it out of the order.
func TestProbes(t *testing.T) {
	s := testrun.NewScript(t, 2)
	a, b := s.Rank(0), s.Rank(1)
	a.Call(20, 21, "MPI_Send", message("dest", 1, 5))
	a.Call(22, 23, "MPI_Send", message("dest", 1, 5))
	probing := args{"comm": "MPI_COMM_WORLD", "source": "MPI_ANY_SOURCE", "tag": "MPI_ANY_TAG", "status.source": 0, "status.tag": 5}
	b.Call(10, 30, "MPI_Probe", probing)
	m := b.Call(31, 32, "MPI_Mprobe", probing)
	b.Call(33, 34, "MPI_Recv", message("source", 0, 5))
	b.Call(35, 36, "MPI_Mrecv", args{"message": m, "count": 1, "datatype": "MPI_INT", "status.source": 0, "status.tag": 5})
	compare(t, s, "0:0 send; 0:1 send; 1:0 probe 0:0; 1:1 probe 0:0; 1:2 receive 0:1; 1:3 receive 0:0")
}

// A collective depends on those that its meaning needs: all, the root, lower ranks.
func TestCollectives(t *testing.T) {
	s := testrun.NewScript(t, 3)
	world := args{"comm": "MPI_COMM_WORLD"}
	rooted := args{"comm": "MPI_COMM_WORLD", "root": 1}
	s.Each(func(r *testrun.ScriptRank, rank int) {
		from := []int64{20, 30, 10}[rank] // rank 1 comes last, rank 2 first
		r.Call(from, 40, "MPI_Barrier", world)
		r.Call(100+from, 140, "MPI_Bcast", rooted)
		r.Call(200+from, 240, "MPI_Reduce", rooted)
		r.Call(300+from, 340, "MPI_Scan", world)
		r.Call(400+from, 440, "MPI_Comm_free", world)
		q := r.Call(500+from, 501+from, "MPI_Iallreduce", world)
		r.Call(550, 560, "MPI_Wait", waitOf(q))
		r.Call(600+from, 640, "MPI_Finalize", nil)
	})
	sum := compare(t, s, "0:0 part 1:0; 1:0 part; 2:0 part 1:0; 0:1 part 1:1; 1:1 part; 2:1 part 1:1; 0:2 part; 1:2 part 0:2; 2:2 part; "+
		"0:3 part; 1:3 part 0:3; 2:3 part 1:3; 0:4 part 1:4; 1:4 part; 2:4 part 1:4; "+
		"0:6(5) part 1:5; 1:6(5) part; 2:6(5) part 1:5; 0:7 part 1:7; 1:7 part; 2:7 part 1:7")
	if sum.Collectives != 7 {
		t.Errorf("%+v", sum)
	}
}

// What a recording that ends early does not have is not waited for.
func TestKilled(t *testing.T) {
	s := testrun.NewScript(t, 3)
	world := args{"comm": "MPI_COMM_WORLD"}
	s.Rank(0).Call(10, 20, "MPI_Recv", message("source", 2, 5))
	s.Rank(0).Call(30, 40, "MPI_Barrier", world)
	s.Rank(0).Call(50, 60, "MPI_Barrier", world)
	s.Rank(1).Call(35, 40, "MPI_Barrier", world)
	s.Rank(1).Stop(45, "MPI_Barrier", world)
	s.Rank(2).Call(25, 40, "MPI_Barrier", world)
	s.Rank(2).Stop(45, "MPI_Recv", args{"count": 1, "datatype": "MPI_INT", "source": "MPI_ANY_SOURCE", "tag": 5, "comm": "MPI_COMM_WORLD"})
	sum := compare(t, s, "0:0 receive; 0:1 part 1:0; 1:0 part; 2:0 part 1:0; 0:2 part")
	if sum.Unmatched != 2 || sum.Unfinished != 2 || sum.Outside != 0 {
		t.Errorf("%+v", sum)
	}
}

// Calls that failed take part in nothing; members that disagree end the matching.
func TestFaults(t *testing.T) {
	s := testrun.NewScript(t, 2)
	world := args{"comm": "MPI_COMM_WORLD"}
	s.Rank(0).Call(10, 20, "MPI_Send", with(message("dest", 1, 5), args{"error": 6}))
	s.Rank(0).Call(30, 40, "MPI_Send", message("dest", 1, 5))
	s.Rank(1).Call(30, 40, "MPI_Recv", message("source", 0, 5))
	s.Rank(0).Call(50, 60, "MPI_Barrier", world)
	s.Rank(1).Call(55, 60, "MPI_Allreduce", world)
	s.Rank(0).Call(70, 80, "MPI_Barrier", world)
	s.Rank(1).Call(70, 80, "MPI_Barrier", world)
	sum := compare(t, s, "0:1 send 1:0; 1:0 receive 0:1; 0:2 part")
	if sum.Disagreeing != 3 || sum.Unmatched != 0 {
		t.Errorf("%+v", sum)
	}
}
