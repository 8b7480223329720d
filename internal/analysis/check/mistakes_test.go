package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/testing/testrun"
)

// mistakes are those of testdata/c/mistakes.c, and what is found: findings in the form of
// short, and a part of the first one's text.
var mistakes = []struct{ name, faults, text string }{
	{"forgotten_receive", "lost message at MPI_Send event 1 on 1", "to rank 1 with tag 1 on MPI_COMM_WORLD was never received"},
	{
		"other_tag", "lost message at MPI_Send event 1 on 1; receive never completed at MPI_Irecv event 1 on 1",
		"rank 1 waits for one from rank 0 with tag 3 on MPI_COMM_WORLD in MPI_Irecv (event 1, other_tag mistakes.c:",
	},
	{
		"other_source", "lost message at MPI_Send event 1 on 1; receive never completed at MPI_Irecv event 1 on 1",
		"rank 1 waits for one from rank 2 with tag 4 on MPI_COMM_WORLD in MPI_Irecv (event 1, other_source mistakes.c:",
	},
	{"subgroup", "lost message at MPI_Send event 2 on 1", "to rank 2 (1 of comm:"},
	{"no_wait_send", "request never completed at MPI_Isend event 1 on 4", ""},
	{"no_wait_receive", "receive never completed at MPI_Irecv event 1 on 4", ""},
	{"lost_request", "receive never completed at MPI_Irecv event 1 on 4", ""},
	{"no_wait_collective", "request never completed at MPI_Ibarrier event 1 on 4", ""},
	{"never_started", "persistent request misused at MPI_Recv_init event 1 on 4", "was waited for but never started"},
	{"never_completed", "started request never completed at MPI_Send_init event 1 on 4", "was started and not completed"},
	{"not_freed", "persistent request never freed at MPI_Send_init event 1 on 4", ""},
	{"comm_leak", "object never freed at MPI_Comm_split event 1 on 4", ""},
	{"type_leak", "object never freed at MPI_Type_vector event 1 on 4", ""},
	{"op_types", "message with different datatypes at MPI_Send event 1 on 1", "of MPI_FLOAT, is received as of MPI_INT by MPI_Recv of rank 1 (event 1, op_types mistakes.c:"},
	{"bcast_types", "collective call with other data at MPI_Bcast event 1 on 1", ""},
	{"reduce_ops", "collective call with another operation at MPI_Allreduce event 1 on 1", ""},
	{"extra_collective", "collective call out of order at MPI_Bcast event 2 on 1", ""},
	{"collective_order", "collective call out of order at MPI_Bcast event 1 on 1", ""},
	{"no_finalize", "no MPI_Finalize at MPI_Init event 0 on 4", ""},
	{"right", "", ""},
}

// TestMistakes records programs with a mistake that the library does not notice. Each is found,
// and nothing else.
func TestMistakes(t *testing.T) {
	var list []testrun.Program
	for _, m := range mistakes {
		list = append(list, testrun.Program{Source: "c/mistakes.c", Args: m.name, Fails: m.name == "no_finalize"})
	}
	testrun.Record(t, list, func(t *testing.T, r *testrun.Recording) {
		want := mistakes[r.Program]
		rep := checkRecorded(t, r.Run, want.faults)
		if want.text == "" {
			return
		}
		if len(rep.Findings) == 0 || !strings.Contains(rep.Findings[0].Text, want.text) {
			t.Errorf("found %q, want %q in it", fmt.Sprint(rep.Findings), want.text)
		}
	})
}
