package efficiency

import (
	"bytes"
	"math"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// countedRun is a run of so many ranks that compute 1,000 ns each in two parts.
func countedRun(t *testing.T, ranks int, instructions, cycles uint64, states ...efg.CounterState) *Run {
	t.Helper()
	s := testrun.NewScript(t, ranks)
	s.Each(func(r *testrun.ScriptRank, _ int) {
		r.Call(0, 10, "MPI_Init", nil)
		r.Call(11, 12, "MPI_Barrier", testrun.Args{})
		r.Call(13, 14, "MPI_Finalize", nil)
	})
	run := s.Run()
	var procs []*efg.Process
	for i := range run.Procs {
		p, err := run.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		p.Counters = []efg.Counter{{Name: "instructions", State: efg.CounterRead}, {Name: "cycles", State: efg.CounterRead}}
		if i < len(states) {
			p.Counters[1].State = states[i]
		}
		for k := range p.Streams[0].Nodes {
			n := &p.Streams[0].Nodes[k]
			for _, v := range []uint64{instructions, cycles} {
				c := efg.NodeCounter{Count: 1, Before: efg.Tally{Sum: v, Min: v, Max: v}}
				c.Before.Bins[efg.TallyBin(v)] = 1
				c.Call.Bins[0] = 1
				n.Counters = append(n.Counters, c)
			}
		}
		procs = append(procs, p)
	}
	meta := run.Meta
	meta.Counters = []string{"instructions", "cycles"}
	var b bytes.Buffer
	if err := runfile.EncodeRun(&b, procs, meta); err != nil {
		t.Fatal(err)
	}
	r, err := Times(testrun.Decode(t, b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Instructions and cycles are those of the computation, and the computation scaling is the product of what
// follows from them.
func TestCounted(t *testing.T) {
	first, second := countedRun(t, 2, 1000, 500), countedRun(t, 4, 600, 400)
	if first.Instructions != 2*2*1000 || first.Cycles != 2*2*500 || first.IPC() != 2 {
		t.Errorf("%d instructions, %d cycles", first.Instructions, first.Cycles)
	}
	for _, scaling := range []Scaling{StrongScaling, WeakScaling} {
		c := Compare([]*Run{first, second}, scaling)
		if got := c.Instructions[1] * c.IPC[1] * c.Frequency[1]; math.Abs(got-c.Computation[1]) > 1e-12 || c.Instructions[0] != 1 || c.IPC[0] != 1 || c.IPC[1] != 0.75 {
			t.Errorf("%v: %v × %v × %v = %v, want %v", scaling, c.Instructions, c.IPC, c.Frequency, got, c.Computation[1])
		}
	}
}

// What a rank has not counted all the time is not known of the run.
func TestUncounted(t *testing.T) {
	for _, state := range []efg.CounterState{0, efg.CounterFailed, efg.CounterRead | efg.CounterFailed, efg.CounterRead | efg.CounterMultiplexed} {
		r := countedRun(t, 3, 1000, 500, efg.CounterRead, state)
		if r.Cycles != 0 || r.IPC() != 0 || r.Frequency() != 0 || r.Instructions == 0 {
			t.Errorf("state %d: %d cycles", state, r.Cycles)
		}
	}
	if c := Compare([]*Run{{Ranks: 1, Useful: 5, Time: 9}, {Ranks: 2, Useful: 5, Time: 9}}, NoScaling); c.IPC[1] != 0 || c.Instructions[1] != 0 || c.Frequency[1] != 0 {
		t.Errorf("%+v", c)
	}
}
