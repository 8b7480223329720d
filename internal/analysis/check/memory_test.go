package check

import (
	"testing"

	"github.com/efg-tools/efg/internal/testing/testrun"
)

// Memory grows with the graph, not with its square.
func TestManyLoops(t *testing.T) {
	allocated := func(loops int) uint64 {
		run := testrun.Loops(t, loops)
		return testrun.Allocated(func() {
			r, err := New(run)
			if err != nil {
				t.Fatal(err)
			}
			if want := uint64(2 * 40 * 3 * 7 * loops); r.Collectives != want || len(r.Findings) > 0 {
				t.Fatalf("%d collective calls, want %d; %d findings", r.Collectives, want, len(r.Findings))
			}
		})
	}
	if few, many := allocated(150), allocated(1500); many > 20*few || many > 512<<20 {
		t.Errorf("%d bytes for 150 loops, %d for 1500", few, many)
	}
}
