package match_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// heapAt measures the heap in the middle of a walk.
type heapAt struct {
	left  uint64 // calls
	bytes uint64
}

func (*heapAt) Enter(*match.Call) {}

func (h *heapAt) Exit(*match.Call) {
	if h.left--; h.left == 0 {
		h.bytes = heap()
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what finalizers kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// The estimate is at least what a walk has in memory, and at most three times that: the heap may grow before it is
// collected.
func TestMemory(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 512, Steps: 2, Periodic: true, Seed: 1},
		{Program: "halo", Ranks: 512, Steps: 60, Periodic: true, Seed: 1},
		{Program: "random", Ranks: 64, Steps: 100, Signatures: 64, Seed: 1},
	} {
		run := testrun.Traced(t, c)
		before := heap()
		trace, err := match.Open(run)
		if err != nil {
			t.Fatal(err)
		}
		at := &heapAt{left: trace.Events / 2}
		if _, err := trace.Walk(context.Background(), at, nil); err != nil {
			t.Fatal(err)
		}
		all := make([]int, len(run.Procs))
		for i := range all {
			all[i] = i
		}
		got := match.Memory(run, all)
		if used := at.bytes - before; got < used || got > 3*used {
			t.Errorf("%s, %d steps: %d bytes are estimated, %d used", c.Program, c.Steps, got, used)
		}
		half := match.Fit(run, all, got/2)
		if n := len(all); match.Fit(run, all, got) != n || half < n/4 || match.Memory(run, all[:half]) > got/2 || match.Memory(run, all[:half+1]) <= got/2 {
			t.Errorf("%s, %d steps: %d of %d processes fit into half of the memory", c.Program, c.Steps, half, n)
		}
		runtime.KeepAlive(trace)
	}
}
