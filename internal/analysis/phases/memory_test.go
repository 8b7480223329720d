package phases

import (
	"testing"

	"github.com/efg-tools/efg/internal/testing/testrun"
)

// Memory grows with the graph, not with the number of kinds of phases times nodes.
func TestManyPhases(t *testing.T) {
	allocated := func(loops int) uint64 {
		run := testrun.Loops(t, loops)
		return testrun.Allocated(func() {
			r, err := New(run, []int{0, 1})
			if err != nil {
				t.Fatal(err)
			}
			if want := uint64(40 * 3 * 7 * loops); r.Phases != want {
				t.Fatalf("%d phases, want %d", r.Phases, want)
			}
		})
	}
	if few, many := allocated(150), allocated(1500); many > 20*few || many > 512<<20 {
		t.Errorf("%d bytes for 150 loops, %d for 1500", few, many)
	}
}
