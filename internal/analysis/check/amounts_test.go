package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// TestAmounts records a fault in each collective, and finds them all and nothing else. Calls
// that the library rejected are not faults that go unnoticed.
func constant(name string) uint64 { return signature.ConstWord(name) }

func TestAmounts(t *testing.T) {
	testrun.Record(t, []testrun.Program{{Source: "c/amounts.c", Fails: true}}, func(t *testing.T, r *testrun.Recording) {
		var want []string
		for line := range strings.Lines(r.Stdout) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "refused ") {
				want = append(want, line)
			}
		}
		slices.Sort(want)
		if got := faultyFunctions(t, r.Run); len(want) < 40 || !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	})
}

// faultyFunctions are the functions that call collectives with differing data.
func faultyFunctions(t *testing.T, run *runfile.Run) []string {
	t.Helper()
	r, err := New(run)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range r.Findings {
		if f.Remark != "" || f.Kind == Aborted { // that is how the program ends
			continue
		}
		if f.Kind != CollectiveData {
			t.Errorf("%+v", f)
		}
		name, _, _ := strings.Cut(f.Site, " ")
		found[name] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// A member that sends another amount than it receives is found with its first event and the
// number of its events, in loops too; the others' calls are not errors.
func TestUneven(t *testing.T) {
	const turns = 300
	gather := func(send, take uint64) efg.Input {
		in := collective("MPI_Allgather", 0)
		setWords(&in, map[string]uint64{"sendcount": send, "recvcount": take, "sendtype": constant("MPI_INT"), "recvtype": constant("MPI_INT")})
		return in
	}
	ranks := make([][]efg.Input, 3)
	for rank := range ranks {
		for turn := range uint64(turns) {
			send := 1 + turn
			if rank == 1 && turn >= 100 && turn%2 == 0 {
				send--
			}
			ranks[rank] = append(ranks[rank], collective("MPI_Barrier", 0), gather(send, 1+turn))
		}
	}
	got := []string{}
	for _, f := range checkInputs(t, ranks).Findings {
		got = append(got, fmt.Sprintf("%s rank %d event %d x%d on %v: %s", f.Kind, f.Rank, f.Event, f.Count, f.Ranks, f.Text))
	}
	want := []string{fmt.Sprintf("%s rank 1 event 202 x100 on [1]: gives each member 400 bytes and takes 404, on MPI_COMM_WORLD", CollectiveData)}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
