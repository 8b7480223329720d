package efg

import (
	"slices"
	"sync"
)

// hostClocks are what CLOCK_MONOTONIC of each machine is behind the time of day:
// the median of what its processes found when they began.
type hostClocks struct {
	once sync.Once
	mono map[string]int64
	base int64 // when the run began, Unix ns
}

// clock is what the clock of a process's machine is behind the time since the run
// began.
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
	})
	if mono, ok := c.mono[p.Host]; ok {
		return mono - c.base
	}
	return 0
}
