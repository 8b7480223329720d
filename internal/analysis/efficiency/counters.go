package efficiency

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/counted"
)

// counts are what the hardware counted in the computation of a thread.
type counts struct{ instructions, cycles uint64 }

// countersOf finds instructions and cycles among a process's counters, -1: they were not counted in all
// threads, all the time.
func countersOf(p *efg.Process) (at [2]int) {
	for k, name := range []string{counted.Instructions, counted.Cycles} {
		at[k] = slices.IndexFunc(p.Counters, func(c efg.Counter) bool { return c.Name == name && c.State == efg.CounterRead })
	}
	return at
}

// count adds what was counted in the computation before a node's calls.
func (t *times) count(n *analysis.Node, list []efg.NodeCounter, at [2]int) {
	if n.Proc != nil && n.Proc.Begins {
		return
	}
	for k, to := range []*uint64{&t.instructions, &t.cycles} {
		if i := at[k]; i >= 0 && i < len(list) && list[i].Count > 0 {
			*to += list[i].Before.Sum
		}
	}
}

// dropUncounted forgets what some ranks did not count.
func (r *Run) dropUncounted(missing [2]bool) {
	if missing[0] {
		r.Instructions = 0
	}
	if missing[1] {
		r.Cycles = 0
	}
}

// IPC are the instructions of a cycle of the computation; 0 if that is not known.
func (r *Run) IPC() float64 {
	if r.Cycles == 0 {
		return 0
	}
	return float64(r.Instructions) / float64(r.Cycles)
}

// Frequency is cycles per ns of the computation; 0 if that is not known.
func (r *Run) Frequency() float64 { return ratio(float64(r.Cycles), r.Useful) }

// factors are those of the computation scaling of a run, work times as much as that of the first one should be;
// each is 0 if it is not known.
func factors(first, r *Run, work float64) (instructions, ipc, frequency float64) {
	if r.Instructions > 0 {
		instructions = float64(first.Instructions) * work / float64(r.Instructions)
	}
	if v := first.IPC(); v > 0 {
		ipc = r.IPC() / v
	}
	if v := first.Frequency(); v > 0 {
		frequency = r.Frequency() / v
	}
	return instructions, ipc, frequency
}
