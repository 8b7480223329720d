package runfile

import (
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
)

// anchorProperties are those of processes in files with featureTimes, after all others: two
// anchors, the first at tick 0 if the process has none. They are set in this order.
var anchorProperties = []struct {
	get func(p *ProcInfo, a, b *efg.Anchor) uint64
	set func(p *ProcInfo, a, b *efg.Anchor, v uint64)
}{
	{func(_ *ProcInfo, a, _ *efg.Anchor) uint64 { return a.Tick },
		func(_ *ProcInfo, a, _ *efg.Anchor, v uint64) { a.Tick = v }},
	{func(_ *ProcInfo, a, _ *efg.Anchor) uint64 { return a.Mono },
		func(_ *ProcInfo, a, _ *efg.Anchor, v uint64) { a.Mono = v }},
	{func(p *ProcInfo, a, _ *efg.Anchor) uint64 { return block.Zigzag(realDrift(p, a)) },
		func(p *ProcInfo, a, _ *efg.Anchor, v uint64) {
			a.Real = int64(a.Mono) + p.Mono + block.Unzigzag(v)
		}},
	{func(_ *ProcInfo, a, _ *efg.Anchor) uint64 { return a.Width },
		func(_ *ProcInfo, a, _ *efg.Anchor, v uint64) { a.Width = v }},
	{func(_ *ProcInfo, a, b *efg.Anchor) uint64 { return b.Tick - a.Tick },
		func(_ *ProcInfo, a, b *efg.Anchor, v uint64) { b.Tick = a.Tick + v }},
	{func(_ *ProcInfo, a, b *efg.Anchor) uint64 { return b.Mono - a.Mono },
		func(_ *ProcInfo, a, b *efg.Anchor, v uint64) { b.Mono = a.Mono + v }},
	{func(p *ProcInfo, _, b *efg.Anchor) uint64 { return block.Zigzag(realDrift(p, b)) },
		func(p *ProcInfo, _, b *efg.Anchor, v uint64) {
			b.Real = int64(b.Mono) + p.Mono + block.Unzigzag(v)
		}},
	{func(_ *ProcInfo, _, b *efg.Anchor) uint64 { return b.Width },
		func(_ *ProcInfo, _, b *efg.Anchor, v uint64) { b.Width = v }},
}

// realDrift is how far the time of day of an anchor is from what Mono says, ns.
func realDrift(p *ProcInfo, a *efg.Anchor) int64 { return a.Real - int64(a.Mono) - p.Mono }

// firstAnchorColumn is the first column of the index with anchors.
func firstAnchorColumn(features uint32) int {
	return indexSeqs + (len(processProperties)+len(propertiesOf(features)))*seq.BodyColumns
}

// anchorColumns puts the processes' anchors into the index.
func (rw *runWriter) anchorColumns(cols *block.Columns) {
	if rw.features&featureTimes == 0 {
		return
	}
	for i, prop := range anchorProperties {
		var vals []uint64
		for j := range rw.procs {
			p := &rw.procs[j]
			v := uint64(0)
			if len(p.Anchors) > 0 {
				v = prop.get(p, &p.Anchors[0], &p.Anchors[len(p.Anchors)-1])
			}
			vals = append(vals, v)
		}
		seq.PutBody(cols, firstAnchorColumn(rw.features)+i*seq.BodyColumns, foldValues(vals))
	}
}

// anchors takes the processes' anchors from the index.
func (r *Run) anchors(b *block.Block, procs uint64) {
	if r.features&featureTimes == 0 {
		return
	}
	rows := newRowReader(b, firstAnchorColumn(r.features), len(anchorProperties), int(procs))
	for i := 0; i < int(procs) && rows.next(); i++ {
		if rows.values[0] == 0 {
			continue
		}
		p := &r.Procs[i]
		own := *p.ProcShared
		own.Anchors = make([]efg.Anchor, 2)
		p.ProcShared = &own
		for k, prop := range anchorProperties {
			prop.set(p, &p.Anchors[0], &p.Anchors[1], rows.values[k])
		}
	}
}

// farOff is how far, in ns, all anchors of a process are from the clock of the machine whose
// name it has if it was on another one of this name.
const farOff = 50_000

// fitMachines finds the clock of each process's machine.
func (r *Run) fitMachines() []efg.MachineClock {
	clocks := make([]efg.MachineClock, len(r.Procs))
	hosts := map[string][]int{}
	for i := range r.Procs {
		if p := &r.Procs[i]; len(p.Anchors) > 0 {
			hosts[p.Host] = append(hosts[p.Host], i)
		}
	}
	for _, list := range hosts {
		for len(list) > 0 {
			list = r.fitMachine(list, clocks)
		}
	}
	return clocks
}

// fitMachine finds the clock of processes that have the same machine, and returns those that
// do not.
func (r *Run) fitMachine(list []int, clocks []efg.MachineClock) (others []int) {
	var anchors []efg.Anchor
	for _, i := range list {
		anchors = append(anchors, r.Procs[i].Anchors...)
	}
	clock, ok := efg.FitClock(anchors)
	if !ok {
		return nil
	}
	for _, i := range list {
		if slices.ContainsFunc(r.Procs[i].Anchors, func(a efg.Anchor) bool { return clock.Distance(a) < farOff }) {
			clocks[i] = clock
		} else {
			others = append(others, i)
		}
	}
	if len(others) < len(list) {
		return others
	}
	for _, i := range others { // no two agree
		clocks[i], _ = efg.FitClock(r.Procs[i].Anchors)
	}
	return nil
}

// traceOf completes what a block says of the times of Procs[i].Streams[j].
func (r *Run) traceOf(t efg.Trace, i, j int) *efg.Trace {
	t.Clock, t.Untimed = r.machineClocks()[i], r.Procs[i].Streams[j].Untimed
	if r.corrections != nil {
		t.Correction = r.corrections[r.Procs[i].first+j]
	}
	return &t
}

// machineClocks are the clocks of the processes' machines.
func (r *Run) machineClocks() []efg.MachineClock {
	r.machines.once.Do(func() { r.machines.clocks = r.fitMachines() })
	return r.machines.clocks
}

// machineClocks are the clocks of the processes' machines, once they are needed.
type machineClocks struct {
	once   sync.Once
	clocks []efg.MachineClock // of each process
}

// Machines returns the number of each process's machine. Machines are numbered in the order of
// their first processes. Two may have the same name, if their clocks differ. A process whose clock is
// not known is on the first machine with its host's name.
func (r *Run) Machines() []int {
	type machine struct {
		host  string
		clock efg.MachineClock
	}
	clocks := r.machineClocks()
	firsts := map[string]efg.MachineClock{}
	for i, clock := range clocks {
		if _, known := firsts[r.Procs[i].Host]; !known && clock.Rate != 0 {
			firsts[r.Procs[i].Host] = clock
		}
	}
	found := map[machine]int{}
	list := make([]int, len(r.Procs))
	for i, clock := range clocks {
		m := machine{r.Procs[i].Host, clock}
		if clock.Rate == 0 {
			m.clock = firsts[m.host]
		}
		n, ok := found[m]
		if !ok {
			n = len(found)
			found[m] = n
		}
		list[i] = n
	}
	return list
}

// Corrected reports whether Correct has been called.
func (r *Run) Corrected() bool { return r.corrections != nil }

// Correct corrects the times of all streams that are read from now on: lines are for each machine,
// see Machines, warps for each stream of each process; nil changes nothing. It must not be called
// while others read the run.
func (r *Run) Correct(lines []efg.Line, warps [][]efg.Warp) {
	r.corrections = nil
	machines := r.Machines()
	for i := range r.Procs {
		for j := range r.Procs[i].Streams {
			c := &efg.Correction{Offset: r.clock(&r.Procs[i])}
			if lines != nil {
				c.Machine = lines[machines[i]]
			}
			if warps != nil {
				c.Stream = warps[i][j]
			}
			r.corrections = append(r.corrections, c)
		}
	}
	if lines == nil && warps == nil {
		r.corrections = nil
	}
}
