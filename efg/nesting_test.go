package efg_test

import (
	"testing"

	"github.com/efg-tools/efg/efg"
)

// A call inside another one comes before it, and starts after it.
func TestNesting(t *testing.T) {
	type event struct {
		depth, gap, dur   int
		start, end, first int
	}
	events := []event{
		{0, 5, 10, 5, 15, 0},
		{2, 9, 1, 24, 25, 1}, // two calls inside one that is inside the last one
		{2, 1, 2, 26, 28, 2},
		{1, 6, 10, 21, 31, 1},
		{1, 2, 3, 33, 36, 4},
		{0, 5, 30, 20, 50, 1},
		{0, 1, 1, 51, 52, 6},
		{1, 3, 1, 55, 56, 7}, // the call around it was never recorded
	}
	var n efg.Nesting[int]
	now := 0
	for i, e := range events {
		before, first := n.Enter(e.depth, uint64(i), now)
		start := before + e.gap
		now = start + e.dur
		if start != e.start || now != e.end || first != uint64(e.first) {
			t.Errorf("event %d: from %d to %d, first %d; want %d, %d, %d", i, start, now, first, e.start, e.end, e.first)
		}
	}
}
