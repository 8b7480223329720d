package match

import (
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// windowOf defines a window of all ranks.
func windowOf(r *testrun.ScriptRank) uint64 {
	return r.Define(efg.DefWin, signature.CommWorld, signature.ConstWord("EFG_WIN_CREATE"))
}

// MPI_Win_start depends on MPI_Win_post, MPI_Win_wait on MPI_Win_complete. Where the library
// returns from MPI_Win_start at once it is MPI_Win_complete that depends on the exposure.
func TestEpochs(t *testing.T) {
	s := testrun.NewScript(t, 2)
	a, b := s.Rank(0), s.Rank(1)
	win := args{"win": windowOf(a)}
	windowOf(b)
	to, from := args{"win": win["win"], "group": a.Define(efg.DefGroup, 1, 1, 1)}, args{"win": win["win"], "group": b.Define(efg.DefGroup, 0, 1, 1)}
	a.Call(10, 55, "MPI_Win_start", to)
	b.Call(50, 51, "MPI_Win_post", from)
	a.Call(80, 90, "MPI_Win_complete", win)
	b.Call(60, 95, "MPI_Win_wait", win)
	a.Call(100, 101, "MPI_Win_start", to)
	a.Call(102, 160, "MPI_Win_complete", win)
	b.Call(150, 151, "MPI_Win_post", from)
	b.Call(155, 156, "MPI_Win_test", args{"win": win["win"], "flag": 0})
	b.Call(157, 158, "MPI_Win_test", args{"win": win["win"], "flag": 1})
	compare(t, s, "0:0 start 1:0; 0:1 complete 1:1; 1:1 await 0:1; 0:3 complete 1:4; 0:3(2) start 1:2; 1:4 await 0:3")
}

// A lock depends on the process that gave it back meanwhile.
func TestLocks(t *testing.T) {
	s := testrun.NewScript(t, 3)
	var win uint64
	s.Each(func(r *testrun.ScriptRank, _ int) { win = windowOf(r) })
	lock := func(kind string) args { return args{"win": win, "rank": 2, "lock_type": kind} }
	at := args{"win": win, "rank": 2}
	s.Rank(0).Call(10, 11, "MPI_Win_lock", lock("MPI_LOCK_EXCLUSIVE"))
	s.Rank(1).Call(12, 30, "MPI_Win_lock", lock("MPI_LOCK_SHARED"))
	s.Rank(0).Call(25, 26, "MPI_Win_unlock", at)
	s.Rank(1).Call(40, 41, "MPI_Win_unlock", at)
	s.Rank(0).Call(38, 42, "MPI_Win_lock", lock("MPI_LOCK_SHARED"))
	s.Rank(0).Call(45, 46, "MPI_Win_unlock", at)
	compare(t, s, "1:0 lock 0:1")
}

// The parts of a split collective are one, as are the starts of a persistent one.
func TestHalves(t *testing.T) {
	s := testrun.NewScript(t, 2)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		file := r.Define(efg.DefFile, signature.CommWorld, 0)
		from := int64(10 * (1 + rank))
		r.Call(from, from+1, "MPI_File_write_all_begin", args{"fh": file})
		r.Call(40, 41, "MPI_File_write_all_end", args{"fh": file})
		q := r.Call(50, 51, "MPI_Barrier_init", args{"comm": "MPI_COMM_WORLD"})
		for i := range int64(2) {
			r.Call(100+100*i+from, 101+100*i+from, "MPI_Start", args{"request": q})
			r.Call(150+100*i, 151+100*i, "MPI_Wait", waitOf(q))
		}
	})
	compare(t, s, "0:1(0) part 1:0; 1:1(0) part; 0:4(3) part 1:3; 1:4(3) part; 0:6(5) part 1:5; 1:6(5) part")
}

// Neighbours depend on their neighbours only; those that make a communicator, on its group.
func TestNeighbours(t *testing.T) {
	s := testrun.NewScript(t, 4)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		comm := r.Define(efg.DefComm, signature.CommWorld, signature.ConstWord("EFG_COMM_CART"), 4, 3, 0, 4, 1)
		r.Call(1, 2, "MPI_Cart_create", args{"comm_old": "MPI_COMM_WORLD", "ndims": 1, "dims": []uint64{4}, "periods": []uint64{0}, "comm_cart": comm})
		from := []int64{20, 30, 40, 10}[rank]
		r.Call(from, 60, "MPI_Neighbor_allgather", args{"comm": comm})
		if rank < 2 {
			r.Call(100+from, 160, "MPI_Comm_create_group", args{"comm": "MPI_COMM_WORLD", "group": r.Define(efg.DefGroup, 0, 2, 1)})
		}
	})
	compare(t, s, "0:0 part 3:0; 1:0 part 3:0; 2:0 part 3:0; 3:0 part; "+
		"0:1 part 1:1; 1:1 part 2:1; 2:1 part 1:1; 3:1 part 2:1; 0:2 part 1:2; 1:2 part")
}

// On an intercommunicator each group waits for the other one.
func TestIntercommunicator(t *testing.T) {
	s := testrun.NewScript(t, 4)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		comm := r.Define(efg.DefComm, signature.CommWorld, signature.ConstWord("EFG_COMM_INTER"), 4, 3, 0, 2, 1, 2, 2, 1)
		from := []int64{10, 40, 20, 30}[rank]
		r.Call(from, []int64{45, 45, 60, 60}[rank], "MPI_Barrier", args{"comm": comm})
		root := args{"comm": comm, "root": "MPI_PROC_NULL"}
		if rank == 1 {
			root["root"] = "MPI_ROOT"
		} else if rank > 1 {
			root["root"] = 1
		}
		r.Call(100+from, 160, "MPI_Bcast", root)
		r.Call(200+from, 260, "MPI_Gather", root)
	})
	compare(t, s, "0:0 part 3:0; 1:0 part 3:0; 2:0 part 1:0; 3:0 part 1:0; 0:1 part; 1:1 part; 2:1 part 1:1; 3:1 part 1:1; "+
		"0:2 part; 1:2 part 3:2; 2:2 part; 3:2 part")
}
