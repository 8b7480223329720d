package live

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/check"
	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

// hangs are the faults of hangs.c and hangs.f90, and what must be reported about each.
var hangs = []struct {
	kind     string
	ranks    int
	deadlock []int
	behind   []int
	differ   string // of a mismatch
	ops      string // of the ranks, separated by spaces
	only     string // the only MPI with which it hangs
	// leaves: the last or first rank calls MPI_Finalize, and may return from it.
	leaves   bool
	language string // of the program; C by default
}{
	{kind: "barrier_bcast", ranks: 3, deadlock: numbers(0, 3), differ: "procedure", ops: "Barrier Bcast Bcast"},
	{kind: "bcast_barrier_finalize", ranks: 3, deadlock: numbers(0, 3), differ: "procedure", ops: "Finalize Barrier Barrier", leaves: true},
	{kind: "reduce_allreduce", ranks: 4, deadlock: numbers(0, 4), differ: "procedure", ops: "Allreduce Allreduce Allreduce Reduce"},
	{kind: "alltoall_gather", ranks: 3, deadlock: numbers(0, 3), differ: "procedure", ops: "Alltoall Gather Gather"},
	{kind: "scan_barrier", ranks: 4, deadlock: numbers(0, 4), differ: "procedure", ops: "Barrier Barrier Barrier Scan"},
	{kind: "bcast_root", ranks: 4, deadlock: numbers(0, 2), behind: numbers(2, 4), differ: "root", ops: "Bcast Bcast Bcast Bcast"},
	{kind: "gather_root", ranks: 3, deadlock: numbers(0, 3), differ: "root", ops: "Gather Gather Gather"},
	{kind: "reduce_root", ranks: 2, deadlock: numbers(0, 2), differ: "root", ops: "Reduce Reduce"},
	{kind: "scatter_root", ranks: 3, deadlock: numbers(0, 3), differ: "root", ops: "Scatter Scatter Scatter"},
	{kind: "allreduce_op", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, differ: "operation", ops: "Allreduce Allreduce Recv"},
	{kind: "allreduce_count", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, differ: "data", ops: "Allreduce Allreduce Recv"},
	{kind: "allreduce_type", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, differ: "data", ops: "Allreduce Allreduce Recv"},
	{kind: "ibarrier_barrier", ranks: 3, deadlock: numbers(0, 3), differ: "procedure", ops: "Wait Barrier Barrier"},
	{kind: "icoll_order", ranks: 3, deadlock: numbers(0, 3), ops: "Wait Wait Wait"},
	{kind: "icoll_unwaited", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, ops: "Recv Recv Recv"},
	{kind: "dup_barrier", ranks: 3, deadlock: numbers(0, 3), differ: "procedure", ops: "Barrier Barrier Comm_dup"},
	{kind: "split_barrier", ranks: 3, deadlock: numbers(0, 3), differ: "procedure", ops: "Comm_split Barrier Barrier"},
	{kind: "window_barrier", ranks: 2, deadlock: numbers(0, 2), differ: "procedure", ops: "Win_create Barrier"},
	{kind: "fence_free", ranks: 3, deadlock: numbers(0, 3), ops: "Barrier Win_free Win_free"},
	{kind: "barrier_recv", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, ops: "Barrier Barrier Recv"},
	{kind: "bcast_recv", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, ops: "Recv Bcast Bcast"},
	{kind: "reduce_any", ranks: 3, deadlock: numbers(0, 3), ops: "Reduce Barrier Recv"},
	{kind: "barrier_ssend", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, ops: "Barrier Barrier Ssend"},
	{kind: "allgather_probe", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, ops: "Probe Allgather Allgather"},
	{kind: "send_send", ranks: 4, deadlock: numbers(0, 4), ops: "Send Send Send Send"},
	{kind: "ssend_self", ranks: 2, deadlock: []int{1}, behind: []int{0}, ops: "Barrier Ssend"},
	{kind: "recv_self", ranks: 2, deadlock: []int{0}, behind: []int{1}, ops: "Recv Barrier"},
	{kind: "recv_tag", ranks: 2, deadlock: numbers(0, 2), ops: "Ssend Recv"},
	{kind: "recv_more", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, ops: "Barrier Barrier Recv"},
	{kind: "waitall_cycle", ranks: 3, deadlock: numbers(0, 3), ops: "Waitall Waitall Waitall"},
	{kind: "waitall_isend", ranks: 2, deadlock: numbers(0, 2), ops: "Waitall Waitall"},
	{kind: "waitany_cycle", ranks: 3, deadlock: numbers(0, 3), ops: "Waitany Waitany Waitany"},
	{kind: "issend_wait", ranks: 4, deadlock: numbers(0, 4), ops: "Wait Wait Wait Wait"},
	{kind: "persistent_wait", ranks: 3, deadlock: numbers(0, 3), ops: "Wait Wait Wait"},
	{kind: "probe_probe", ranks: 3, deadlock: numbers(0, 3), ops: "Probe Probe Probe"},
	{kind: "mprobe_any", ranks: 2, deadlock: numbers(0, 2), ops: "Mprobe Mprobe"},
	{kind: "sendrecv_chain", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, ops: "Sendrecv Barrier Barrier"},
	{kind: "any_credited", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, ops: "Recv Barrier Barrier"},
	{kind: "any_waitall", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, ops: "Recv Barrier Barrier"},
	{kind: "comm_barrier", ranks: 2, deadlock: numbers(0, 2), ops: "Barrier Barrier"},
	{kind: "comm_message", ranks: 3, deadlock: numbers(0, 2), behind: []int{2}, ops: "Ssend Recv Barrier"},
	{kind: "half_mismatch", ranks: 4, deadlock: numbers(0, 2), behind: numbers(2, 4), differ: "procedure", ops: "Barrier Allreduce Barrier Barrier"},
	{kind: "half_recv", ranks: 4, deadlock: numbers(0, 2), behind: numbers(2, 4), ops: "Recv Barrier Barrier Barrier"},
	{kind: "inter_recv", ranks: 4, deadlock: []int{0, 2}, behind: []int{1, 3}, ops: "Recv Recv Recv Recv"},
	{kind: "inter_barrier", ranks: 3, deadlock: []int{0, 2}, behind: []int{1}, ops: "Recv Barrier Barrier"},
	{kind: "inter_kinds", ranks: 3, deadlock: numbers(0, 3), differ: "procedure", ops: "Barrier Allreduce Allreduce", only: "mpich"},
	{kind: "missing_finalize", ranks: 3, deadlock: numbers(0, 3), ops: "Barrier Barrier Finalize", leaves: true},
	{kind: "missing_recv", ranks: 3, deadlock: numbers(0, 3), ops: "Recv Recv Finalize", leaves: true},
	{kind: "reduce_allreduce", language: "fortran", ranks: 3, deadlock: numbers(0, 3), differ: "procedure", ops: "Reduce Allreduce Allreduce"},
	{kind: "recv_recv", language: "fortran", ranks: 2, deadlock: numbers(0, 2), ops: "Recv Recv"},
}

// Each kind of hang is reported with its ranks, calls and callsites: while the job hangs, from
// its segments after it was killed, and from its run file; and a check finds it.
func TestHangs(t *testing.T) {
	for _, m := range groundtruth.Installed() {
		programs := map[string]string{"c": compile(t, m, "hangs.c"), "fortran": compileFortran(t, m, "hangs.f90")}
		for i := range hangs {
			c := &hangs[i]
			if c.only != "" && c.only != m.Name {
				continue
			}
			program := programs[cmp.Or(c.language, "c")]
			t.Run(path.Join(m.Name, c.language, c.kind), func(t *testing.T) {
				j := launch(t, m, c.ranks, program, c.kind)
				want := fmt.Sprintf("%v behind %v, %s: %s", c.deadlock, c.behind, c.differ, c.ops)
				seen := j.until(t, func(r *JobState) bool {
					return summarise(r, c.leaves) == want || c.leaves && left(r, c.differ, c.ranks)
				})
				j.kill()
				last := j.until(t, func(r *JobState) bool { return !r.Running })
				for _, r := range []*JobState{last, j.stored(t)} {
					if got, live := summarise(r, c.leaves), summarise(seen, c.leaves); got != live {
						t.Errorf("told %s, while it was running %s", got, live)
					}
				}
				j.checkFinds(t, seen)
			})
		}
	}
}

// summarise summarises a job state.
func summarise(r *JobState, leaves bool) string {
	var ranks []int
	for _, d := range r.Deadlocks {
		ranks = append(ranks, d.Ranks...)
	}
	differ, ops := "", []string{}
	for _, m := range r.Mismatches {
		differ += m.Differ
	}
	for _, x := range r.Threads {
		place := strings.Contains(x.Site, "hangs.")
		if x.State != InCall && !(leaves && (x.State == Finalized || x.State == Killed)) || !place {
			return "not yet"
		}
		ops = append(ops, strings.TrimPrefix(x.Op, "MPI_"))
	}
	return fmt.Sprintf("%v behind %v, %s: %s", ranks, r.Behind, differ, strings.Join(ops, " "))
}

// left reports whether all ranks except one wait forever for that one.
func left(r *JobState, differ string, ranks int) bool {
	return len(r.InVain) == ranks-1 && len(r.Deadlocks) == 0 && len(r.Mismatches) == len(strings.Fields(differ)) && len(r.Threads) == ranks
}

// checkFinds demands that a check of the job's run finds what a job state reports, with the
// calls and callsites.
func (j *job) checkFinds(t *testing.T, r *JobState) {
	t.Helper()
	found, err := check.New(j.run(t))
	if err != nil {
		t.Fatal(err)
	}
	count := map[check.Kind]int{}
	for i := range found.Findings {
		f := &found.Findings[i]
		if !f.Hang() {
			continue
		}
		count[f.Kind]++
		first := slices.IndexFunc(r.Threads, func(x Thread) bool { return x.Rank == f.Rank })
		if x := &r.Threads[first]; x.State == InCall && (x.Event != f.Event || x.Op != f.Op || x.Site != f.Site) {
			t.Errorf("%+v is not what rank %d does: %+v", f, f.Rank, x)
		}
		if !strings.Contains(f.Text, "hangs.") || !strings.Contains(f.Text, "MPI_") || f.Remark != "" {
			t.Errorf("told %q, remark %q", f.Text, f.Remark)
		}
		if f.Kind == check.Deadlock && !slices.Equal(f.Ranks, r.Deadlocks[count[f.Kind]-1].Ranks) {
			t.Errorf("ranks %v are in a deadlock, not %v", r.Deadlocks, f.Ranks)
		}
	}
	vain := 0
	if len(r.InVain) > 0 {
		vain = 1
	}
	if !found.Hangs() || count[check.Deadlock] != len(r.Deadlocks) || count[check.CollectiveMismatch] != len(r.Mismatches) || min(count[check.WaitInVain], 1) != vain {
		t.Errorf("found %v of\n%s", count, describe(r))
	}
}
