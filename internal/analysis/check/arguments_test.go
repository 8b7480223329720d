package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/testing/testrun"
)

// endings are the ways in which testdata/c/invalid.c ends, and what is found: the call, the
// kind, and a part of the text.
var endings = []struct{ name, op, text string }{
	{"send_comm", "MPI_Send", "comm is MPI_COMM_NULL; it was in MPI_Send("},
	{"send_type", "MPI_Send", "datatype is MPI_DATATYPE_NULL; "},
	{"send_count", "MPI_Send", "count is -1: it is negative; "},
	{"send_rank", "MPI_Send", "dest is 2, and the ranks are 0 to 1; "},
	{"send_negative", "MPI_Send", "dest is -9: a rank cannot be negative; "},
	{"send_tag", "MPI_Send", "tag is -3: it is negative; "},
	{"recv_type", "MPI_Recv", "datatype is MPI_DATATYPE_NULL; "},
	{"recv_count", "MPI_Recv", "count is -2: it is negative; "},
	{"recv_rank", "MPI_Recv", "source is 3, and the ranks are 0 to 1; "},
	{"recv_tag", "MPI_Recv", "tag is -5: it is negative; "},
	{"irecv_comm", "MPI_Irecv", "comm is MPI_COMM_NULL; "},
	{"irecv_count", "MPI_Irecv", "count is -4: it is negative; "},
	{"irecv_rank", "MPI_Irecv", "source is 2, and the ranks are 0 to 1; "},
	{"bcast_comm", "MPI_Bcast", "comm is MPI_COMM_NULL; "},
	{"bcast_root", "MPI_Bcast", "root is 2, and the ranks are 0 to 1; "},
	{"bcast_negative", "MPI_Bcast", "root is -8: a rank cannot be negative; "},
	{"bcast_count", "MPI_Bcast", "count is -1: it is negative; "},
	{"bcast_type", "MPI_Bcast", "datatype is MPI_DATATYPE_NULL; "},
	{"reduce_op", "MPI_Reduce", "op is MPI_OP_NULL; "},
	{"reduce_root", "MPI_Reduce", "root is 4, and the ranks are 0 to 1; "},
	{"barrier_comm", "MPI_Barrier", "comm is MPI_COMM_NULL; "},
	{"ibarrier_comm", "MPI_Ibarrier", "comm is MPI_COMM_NULL; "},
	{"gather_count", "MPI_Gather", "sendcount is -1: it is negative; "},
	{"uncommitted", "MPI_Send", "datatype was never committed; "},
	{"freed_comm", "MPI_Barrier", "comm was freed"},
	{"freed_type", "MPI_Send", "datatype was freed"},
	{"freed_request", "MPI_Start", "request is not an active request"},
	{"waited_twice", "MPI_Wait", "request is not an active request"},
	{"start_null", "MPI_Start", "request is MPI_REQUEST_NULL; "},
	{"start_plain", "MPI_Start", "request was made by MPI_Irecv and is not persistent; "},
	{"free_null", "MPI_Comm_free", "comm is MPI_COMM_NULL; "},
	{"free_type_null", "MPI_Type_free", "datatype is MPI_DATATYPE_NULL; "},
	{"free_world", "MPI_Comm_free", "comm is MPI_COMM_WORLD, which cannot be freed; "},
	{"type_count", "MPI_Type_contiguous", "count is -2: it is negative; "},
	{"put_rank", "MPI_Put", "target_rank is 3, and the ranks are 0 to 1; "},
	{"fence_null", "MPI_Win_fence", "win is MPI_WIN_NULL; "},
	{"null_buffer", "MPI_Recv", "buf is a null pointer or MPI_BOTTOM, for 1 of a basic datatype; "},
	{"gather_null", "MPI_Gather", "sendcount is -1: it is negative; "},
	{"reduce_null", "MPI_Reduce", "recvbuf is a null pointer or MPI_BOTTOM, for 1 of a basic datatype; "},
	{"truncated", "MPI_Recv", statusOnly + " 1"},
	{"truncated_wait", "MPI_Wait", statusOnly + " 1"},
	{"crash_in", "MPI_Allreduce", " in MPI_Allreduce(count=1"},
	{"crash", "MPI_Init", "which was not in MPI then"},
	{"aborts", "MPI_Abort", "the program exited by itself"},
	{"right", "", ""},
}

// statusOnly begins the text if only the exit status shows that a program was ended.
const statusOnly = "the program ended with status"

// TestEndings records programs that MPI or a signal ends: the call is found, with the invalid
// argument if there is one. With valid arguments nothing is found.
func TestEndings(t *testing.T) {
	var list []testrun.Program
	for _, e := range endings {
		list = append(list, testrun.Program{Source: "c/invalid.c", Args: e.name, Ranks: 2, Fails: e.op != ""})
	}
	testrun.Record(t, list, func(t *testing.T, r *testrun.Recording) {
		rep, err := New(r.Run)
		if err != nil {
			t.Fatal(err)
		}
		want := endings[r.Program]
		var faults []string
		for _, f := range rep.Findings {
			if f.Remark == "" {
				faults = append(faults, fmt.Sprintf("%s: %s at %s: %s", f.Kind, f.Op, f.Site, f.Text))
			}
		}
		matches := func(fault string) bool {
			return strings.Contains(fault, want.op+" at ") && strings.Contains(fault, want.text) && strings.Contains(fault, "invalid.c:")
		}
		// If only the exit status is known, it may have been any rank's call; and a rank that
		// crashes in a call can end another that has not reached it.
		anyRank := strings.HasPrefix(want.text, statusOnly) || strings.HasPrefix(want.name, "crash")
		others := slices.DeleteFunc(slices.Clone(faults), func(fault string) bool {
			return matches(fault) || anyRank && strings.HasPrefix(fault, "program ended early: ")
		})
		// A library that does not notice a freed handle may end the ranks in different calls.
		several := anyRank || want.name == "freed_type"
		switch {
		case want.op == "" && len(faults) == 0:
		case len(others) > 0 || !slices.ContainsFunc(faults, matches) || len(faults) != 1 && !several:
			t.Errorf("found %q, want one of %s with %q", faults, want.op, want.text)
		}
	})
}
