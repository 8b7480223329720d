package waits

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

type args = testrun.Args

func of(t *testing.T, run *runfile.Run) *Report {
	t.Helper()
	var procs []int
	for i := range run.Procs {
		procs = append(procs, i)
	}
	r, err := New(run, procs)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wait is what one row must have: of one wait, or of several of one rank for another.
type wait struct {
	state         State
	rank, culprit int   // culprit -1: none
	time          int64 // µs
	op, by        string
}

// expect checks that a run has just these waits. Times are exact but for what recording costs: a
// thousandth, and less than 2 µs.
func expect(t *testing.T, run *runfile.Run, want ...wait) *Report {
	t.Helper()
	r := of(t, run)
	samePairs(t, r)
	sameSegments(t, r)
	var got []string
	list := slices.Clone(want)
	for _, row := range r.Rows {
		if row.Time < 5*r.Bound {
			continue // an inexact time
		}
		for _, rank := range row.Ranks {
			w := wait{row.State, rank.Rank, -1, rank.Time / 1000, row.Waiting.Op, row.Culprit.Op}
			if len(row.Culprits) > 0 {
				w.culprit = row.Culprits[0].Rank
			}
			i := slices.IndexFunc(list, func(x wait) bool {
				d := x.time - w.time
				x.time = w.time
				return x == w && max(d, -d) <= 3*r.Bound/1000+w.time/1000
			})
			if i >= 0 {
				list = slices.Delete(list, i, i+1)
				continue
			}
			got = append(got, fmt.Sprintf("%v: %+v", w.state, w))
		}
	}
	if len(got)+len(list) > 0 {
		t.Errorf("unexpected %s\nmissing %+v", strings.Join(got, "\n"), list)
	}
	return r
}

func message(peer string, rank, tag int) args {
	return args{"comm": "MPI_COMM_WORLD", peer: rank, "tag": tag, "count": 1, "datatype": "MPI_INT"}
}

func waitOf(id uint64) args {
	return args{"request": id, "status.source": "EFG_AS_POSTED", "status.tag": "EFG_AS_POSTED", "status.bytes": "EFG_AS_POSTED"}
}

const ms = 1000 // µs

// A receive that is posted before the send waits for it, a synchronous send for its receive.
func TestBlocking(t *testing.T) {
	s := testrun.NewScript(t, 4)
	s.Rank(0).Call(70*ms, 71*ms, "MPI_Send", message("dest", 1, 5))
	s.Rank(1).Call(10*ms, 72*ms, "MPI_Recv", message("source", 0, 5))
	s.Rank(2).Call(10*ms, 92*ms, "MPI_Ssend", message("dest", 3, 5))
	s.Rank(3).Call(90*ms, 93*ms, "MPI_Recv", message("source", 2, 5))
	r := expect(t, s.Run(), wait{LateSender, 1, 0, 60 * ms, "MPI_Recv", "MPI_Send"}, wait{LateReceiver, 2, 3, 80 * ms, "MPI_Ssend", "MPI_Recv"})
	if r.Ranks != 4 || len(r.States) != 2 || r.States[0].State != LateReceiver || r.Waiting-140e6 > 1e5 || 140e6-r.Waiting > 1e5 {
		t.Errorf("%+v", r)
	}
}

// Of a call that completes several operations the longest wait counts, a late receiver only if
// there is no late sender.
func TestSeveral(t *testing.T) {
	s := testrun.NewScript(t, 3)
	a := s.Rank(0)
	q := []uint64{
		a.Call(1*ms, 2*ms, "MPI_Irecv", message("source", 1, 5)), a.Call(3*ms, 4*ms, "MPI_Irecv", message("source", 2, 5)),
		a.Call(5*ms, 6*ms, "MPI_Issend", message("dest", 1, 7)),
	}
	a.Call(10*ms, 90*ms, "MPI_Waitall", args{"count": 3, "array_of_requests": q, "array_of_statuses": "EFG_AS_POSTED"})
	s.Rank(1).Call(30*ms, 31*ms, "MPI_Send", message("dest", 0, 5))
	s.Rank(1).Call(80*ms, 89*ms, "MPI_Recv", message("source", 0, 7))
	s.Rank(2).Call(50*ms, 51*ms, "MPI_Send", message("dest", 0, 5))
	expect(t, s.Run(), wait{LateSender, 0, 2, 40 * ms, "MPI_Waitall", "MPI_Send"})
}

// A message that was there already and is received later makes the wait one of wrong order.
func TestWrongOrder(t *testing.T) {
	s := testrun.NewScript(t, 3)
	s.Rank(1).Call(5*ms, 6*ms, "MPI_Send", message("dest", 0, 5))
	s.Rank(2).Call(60*ms, 61*ms, "MPI_Send", message("dest", 0, 5))
	s.Rank(0).Call(10*ms, 62*ms, "MPI_Recv", message("source", 2, 5))
	s.Rank(0).Call(63*ms, 64*ms, "MPI_Recv", message("source", 1, 5))
	expect(t, s.Run(), wait{WrongOrder, 0, 2, 50 * ms, "MPI_Recv", "MPI_Send"})
}

// A loop of tests waits like a call that blocks; other work ends the loop.
func TestPolling(t *testing.T) {
	s := testrun.NewScript(t, 2)
	a := s.Rank(0)
	q := a.Call(1*ms, 2*ms, "MPI_Irecv", message("source", 1, 5))
	test := func(flag int) args {
		x := args{"request": q, "flag": flag}
		if flag == 1 {
			x["status.source"], x["status.tag"], x["status.bytes"] = "EFG_AS_POSTED", "EFG_AS_POSTED", "EFG_AS_POSTED"
		}
		return x
	}
	a.Call(10*ms, 20*ms, "MPI_Test", test(0))
	a.Call(30*ms, 35*ms, "MPI_Test", test(0)) // after a computation
	a.Call(35*ms+1, 60*ms, "MPI_Test", test(0))
	a.Call(60*ms+2, 80*ms, "MPI_Test", test(1))
	s.Rank(1).Call(70*ms, 71*ms, "MPI_Send", message("dest", 0, 5))
	expect(t, s.Run(), wait{LateSender, 0, 1, 40 * ms, "MPI_Test", "MPI_Send"})
}

// A probe waits for the message, the receive of it no more.
func TestProbe(t *testing.T) {
	s := testrun.NewScript(t, 2)
	s.Rank(0).Call(50*ms, 51*ms, "MPI_Send", message("dest", 1, 5))
	s.Rank(1).Call(10*ms, 52*ms, "MPI_Probe", args{"comm": "MPI_COMM_WORLD", "source": 0, "tag": 5, "status.source": 0, "status.tag": 5})
	s.Rank(1).Call(55*ms, 56*ms, "MPI_Recv", message("source", 0, 5))
	expect(t, s.Run(), wait{LateSender, 1, 0, 40 * ms, "MPI_Probe", "MPI_Send"})
}

// collective is a call of three ranks that come at 20, 50 and 30 ms, and leave at 60, 62 and 65,
// or as they are told.
func collective(t *testing.T, op string, a args, exits ...int64) *runfile.Run {
	s := testrun.NewScript(t, 3)
	if exits == nil {
		exits = []int64{60, 62, 65}
	}
	s.Each(func(r *testrun.ScriptRank, rank int) {
		r.Call([]int64{20, 50, 30}[rank]*ms, exits[rank]*ms, op, a)
	})
	return s.Run()
}

// Each collective waits by its meaning.
func TestCollectives(t *testing.T) {
	world := args{"comm": "MPI_COMM_WORLD"}
	root := func(r int) args { return args{"comm": "MPI_COMM_WORLD", "root": r} }
	all := func(waiting, completion State, op string) []wait {
		return []wait{
			{waiting, 0, 1, 30 * ms, op, op}, {waiting, 2, 1, 20 * ms, op, op},
			{completion, 1, -1, 2 * ms, op, ""}, {completion, 2, -1, 5 * ms, op, ""},
		}
	}
	expect(t, collective(t, "MPI_Barrier", world), all(Barrier, BarrierCompletion, "MPI_Barrier")...)
	expect(t, collective(t, "MPI_Allreduce", world), all(NxN, NxNCompletion, "MPI_Allreduce")...)
	expect(t, collective(t, "MPI_Alltoallw", world), all(NxN, NxNCompletion, "MPI_Alltoallw")...)
	expect(t, collective(t, "MPI_Init", nil), all(Init, InitCompletion, "MPI_Init")...)
	expect(t, collective(t, "MPI_Finalize", nil), all(Finalize, FinalizeCompletion, "MPI_Finalize")...)
	for _, op := range []string{"MPI_Reduce", "MPI_Gather", "MPI_Gatherv"} {
		expect(t, collective(t, op, root(0)), wait{EarlyReduce, 0, 1, 30 * ms, op, op})
		expect(t, collective(t, op, root(1)), nil...)
	}
	for _, op := range []string{"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"} {
		expect(t, collective(t, op, root(1)), wait{LateBroadcast, 0, 1, 30 * ms, op, op}, wait{LateBroadcast, 2, 1, 20 * ms, op, op})
		expect(t, collective(t, op, root(2), 25, 62, 65), wait{LateBroadcast, 0, 2, 5 * ms, op, op}) // it left before the root came
	}
	for _, op := range []string{"MPI_Scan", "MPI_Exscan"} {
		expect(t, collective(t, op, world), wait{EarlyScan, 2, 1, 20 * ms, op, op})
	}
	expect(t, collective(t, "MPI_Comm_split", world), wait{Creation, 0, 1, 30 * ms, "MPI_Comm_split", "MPI_Comm_split"}, wait{Creation, 2, 1, 20 * ms, "MPI_Comm_split", "MPI_Comm_split"})
	// MPI_Comm_free need not wait, and rank 0 did not.
	expect(t, collective(t, "MPI_Comm_free", world, 25, 60, 60), wait{Creation, 2, 1, 20 * ms, "MPI_Comm_free", "MPI_Comm_free"})
}

// A nonblocking collective waits in the call that completes it, for those that start it later.
func TestNonblockingCollective(t *testing.T) {
	s := testrun.NewScript(t, 3)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		from := []int64{10, 50, 12}[rank] * ms
		q := r.Call(from, from+1*ms, "MPI_Iallreduce", args{"comm": "MPI_COMM_WORLD"})
		r.Call([]int64{30, 70, 80}[rank]*ms, []int64{60, 71, 83}[rank]*ms, "MPI_Wait", waitOf(q))
	})
	// Rank 2 does not wait for rank 1, which came at 50; that it leaves last is its own affair.
	expect(t, s.Run(), wait{NxN, 0, 1, 20 * ms, "MPI_Wait", "MPI_Iallreduce"},
		wait{NxNCompletion, 1, -1, 1 * ms, "MPI_Wait", ""}, wait{NxNCompletion, 2, -1, 3 * ms, "MPI_Wait", ""})
}

// windowScript is a run of two ranks that synchronise on a window and a file.
func windowScript(tb testing.TB) *testrun.Script {
	s := testrun.NewScript(tb, 2)
	a, b := s.Rank(0), s.Rank(1)
	word := a.Define(efg.DefWin, signature.CommWorld, signature.ConstWord("EFG_WIN_CREATE"))
	b.Define(efg.DefWin, signature.CommWorld, signature.ConstWord("EFG_WIN_CREATE"))
	win := args{"win": word}
	to, from := args{"win": word, "group": a.Define(efg.DefGroup, 1, 1, 1)}, args{"win": word, "group": b.Define(efg.DefGroup, 0, 1, 1)}
	lock := args{"win": word, "rank": 1, "lock_type": "MPI_LOCK_EXCLUSIVE"}

	a.Call(10*ms, 35*ms, "MPI_Win_create", args{"comm": "MPI_COMM_WORLD", "win": word})
	b.Call(30*ms, 35*ms, "MPI_Win_create", args{"comm": "MPI_COMM_WORLD", "win": word})
	a.Call(40*ms, 85*ms, "MPI_Win_fence", win)
	b.Call(80*ms, 85*ms, "MPI_Win_fence", win)
	a.Call(100*ms, 131*ms, "MPI_Win_start", to)
	b.Call(130*ms, 130*ms, "MPI_Win_post", from)
	b.Call(140*ms, 191*ms, "MPI_Win_wait", win)
	a.Call(150*ms, 160*ms, "MPI_Put", args{"win": word, "target_rank": 1})
	a.Call(190*ms, 191*ms, "MPI_Win_complete", win)
	a.Call(200*ms, 201*ms, "MPI_Win_lock", lock)
	b.Call(210*ms, 251*ms, "MPI_Win_lock", lock)
	a.Call(250*ms, 251*ms, "MPI_Win_unlock", args{"win": word, "rank": 1})
	b.Call(255*ms, 256*ms, "MPI_Win_unlock", args{"win": word, "rank": 1})
	a.Call(300*ms, 362*ms, "MPI_Win_free", win)
	b.Call(360*ms, 362*ms, "MPI_Win_free", win)
	file := a.Define(efg.DefFile, signature.CommWorld, 0)
	b.Define(efg.DefFile, signature.CommWorld, 0)
	a.Call(400*ms, 482*ms, "MPI_File_write_all", args{"fh": file})
	b.Call(480*ms, 482*ms, "MPI_File_write_all", args{"fh": file})
	return s
}

// One-sided synchronisation: fences, epochs, locks, the life of windows; files.
func TestWindows(t *testing.T) {
	expect(t, windowScript(t).Run(), wait{Creation, 0, 1, 20 * ms, "MPI_Win_create", "MPI_Win_create"}, wait{Fence, 0, 1, 40 * ms, "MPI_Win_fence", "MPI_Win_fence"},
		wait{LatePost, 0, 1, 30 * ms, "MPI_Win_start", "MPI_Win_post"}, wait{EarlyWait, 1, 0, 20 * ms, "MPI_Win_wait", "MPI_Win_complete"},
		wait{LateComplete, 1, 0, 30 * ms, "MPI_Win_wait", "MPI_Win_complete"}, wait{LockContention, 1, 0, 40 * ms, "MPI_Win_lock", "MPI_Win_unlock"},
		wait{Creation, 0, 1, 60 * ms, "MPI_Win_free", "MPI_Win_free"}, wait{CollectiveIO, 0, 1, 80 * ms, "MPI_File_write_all", "MPI_File_write_all"})
}

// Who waits for a lock does so because of what the one did that had it, whatever that one did afterwards.
func TestCauseOfLockContention(t *testing.T) {
	s := testrun.NewScript(t, 2)
	a, b := s.Rank(0), s.Rank(1)
	word := a.Define(efg.DefWin, signature.CommWorld, signature.ConstWord("EFG_WIN_CREATE"))
	b.Define(efg.DefWin, signature.CommWorld, signature.ConstWord("EFG_WIN_CREATE"))
	lock, unlock := args{"win": word, "rank": 1, "lock_type": "MPI_LOCK_EXCLUSIVE"}, args{"win": word, "rank": 1}
	s.Each(func(r *testrun.ScriptRank, _ int) {
		r.Call(1*ms, 2*ms, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
	})
	a.Call(3*ms, 3*ms, "MPI_Win_lock", lock)
	a.Call(63*ms, 64*ms, "MPI_Win_unlock", unlock)
	a.Call(65*ms, 66*ms, "MPI_Put", args{"win": word, "target_rank": 1})
	b.Call(23*ms, 64*ms, "MPI_Win_lock", lock)
	b.Call(66*ms, 67*ms, "MPI_Win_unlock", unlock)
	r, err := New(s.Run(), []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Waiting != 40*ms*1000 || len(r.Causes) != 1 {
		t.Fatalf("waiting %d: %+v", r.Waiting, r.Causes)
	}
	if c := &r.Causes[0]; c.From.Op != "MPI_Win_lock" || c.At.Op != "MPI_Win_unlock" || c.Ranks[0].Rank != 0 {
		t.Errorf("%+v", c)
	}
}

// A lock of all ranks is contended for with exclusive locks of any, and these with it; not with shared ones.
func TestLockAll(t *testing.T) {
	s := testrun.NewScript(t, 2)
	a, b := s.Rank(0), s.Rank(1)
	word := a.Define(efg.DefWin, signature.CommWorld, signature.ConstWord("EFG_WIN_CREATE"))
	b.Define(efg.DefWin, signature.CommWorld, signature.ConstWord("EFG_WIN_CREATE"))
	win := args{"win": word}
	exclusive := args{"win": word, "rank": 1, "lock_type": "MPI_LOCK_EXCLUSIVE"}
	shared := args{"win": word, "rank": 1, "lock_type": "MPI_LOCK_SHARED"}
	one := args{"win": word, "rank": 1}

	a.Call(10*ms, 11*ms, "MPI_Win_lock", exclusive)
	b.Call(20*ms, 51*ms, "MPI_Win_lock_all", win)
	a.Call(50*ms, 51*ms, "MPI_Win_unlock", one)
	a.Call(60*ms, 91*ms, "MPI_Win_lock", exclusive)
	b.Call(80*ms, 91*ms, "MPI_Win_unlock_all", win)
	a.Call(100*ms, 101*ms, "MPI_Win_unlock", one)
	a.Call(110*ms, 111*ms, "MPI_Win_lock", shared)
	b.Call(120*ms, 151*ms, "MPI_Win_lock_all", win)
	a.Call(150*ms, 151*ms, "MPI_Win_unlock", one)
	b.Call(160*ms, 161*ms, "MPI_Win_unlock_all", win)
	expect(t, s.Run(), wait{LockContention, 1, 0, 30 * ms, "MPI_Win_lock_all", "MPI_Win_unlock"},
		wait{LockContention, 0, 1, 20 * ms, "MPI_Win_lock", "MPI_Win_unlock_all"})
}

// Selected ranks are those that wait.
func TestSelection(t *testing.T) {
	run := collective(t, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
	r, err := New(run, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	if r.Ranks != 1 || len(r.Rows) != 2 || r.Rows[0].Ranks[0].Rank != 2 || r.Rows[0].Culprits[0].Rank != 1 {
		t.Errorf("%+v", r)
	}
}

func TestNoTimes(t *testing.T) {
	run := testrun.Simulated(t, sim.Config{Program: "farm", Ranks: 4, Steps: 5})
	if _, err := New(run, nil); !errors.Is(err, match.ErrNoTimes) {
		t.Error(err)
	}
}
