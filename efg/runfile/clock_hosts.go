package runfile

import (
	"math"
	"slices"
	"sync"
)

// hostClocks is, for each machine, the difference between the time of day and CLOCK_MONOTONIC:
// the median of what its processes found when they began.
type hostClocks struct {
	once sync.Once
	mono map[string]int64
	base int64 // when the run began, Unix ns; no process began earlier
}

// clock is the difference between the time since the run began and the clock of a process's
// machine.
func (r *Run) clock(p *ProcInfo) int64 {
	c := &r.clocks
	c.once.Do(func() {
		all := map[string][]int64{}
		for i := range r.Procs {
			if q := &r.Procs[i]; q.Mono != 0 {
				all[q.Host] = append(all[q.Host], q.Mono)
			}
		}
		c.mono = map[string]int64{}
		for host, list := range all {
			slices.Sort(list)
			c.mono[host] = list[(len(list)-1)/2]
		}
		c.base = r.Meta.Started
		for i := range r.worlds {
			if w := r.worlds[i].start; c.base == 0 || w != 0 && w < c.base && r.Meta.Started == 0 {
				c.base = w
			}
		}
		c.base = min(c.base, r.earliest(c.mono))
	})
	if mono, ok := c.mono[p.Host]; ok {
		return mono - c.base
	}
	return 0
}

// earliest is when the first process with a clock began, by the clocks of the machines: a
// process's own time of day may be slightly later.
func (r *Run) earliest(mono map[string]int64) int64 {
	first := int64(math.MaxInt64)
	for i := range r.Procs {
		if p := &r.Procs[i]; p.Start != 0 && p.Mono != 0 {
			first = min(first, p.Start-p.Mono+mono[p.Host])
		}
	}
	return first
}
