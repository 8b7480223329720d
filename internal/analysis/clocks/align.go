package clocks

import (
	"github.com/efg-tools/efg/efg"
)

// aligner finds lines that make the clocks of machines agree.
type aligner struct {
	passages map[[2]int]*passages
	machines []Machine
	lines    []efg.Line
	placed   []bool
}

// align finds the lines of machines, and what is known of them. Machines that
// have exchanged something in both directions, directly or over others, are aligned to the first
// of them.
func align(machines int, found map[[2]int]*passages) ([]efg.Line, []Machine) {
	a := &aligner{passages: found, machines: make([]Machine, machines), lines: make([]efg.Line, machines), placed: make([]bool, machines)}
	for m := range machines {
		if a.placed[m] {
			continue
		}
		a.machines[m].Reference = m
		a.placed[m] = true
		for {
			parent, child := a.next(m)
			if child < 0 {
				break
			}
			a.place(child, parent, m)
		}
	}
	return a.lines, a.machines
}

// count is how much two machines say about each other's clocks: as much as in the direction that
// says less.
func (a *aligner) count(m, n int) uint64 {
	there, back := a.passages[[2]int{m, n}], a.passages[[2]int{n, m}]
	if there == nil || back == nil {
		return 0
	}
	return min(there.count, back.count)
}

// next returns the machine that is not aligned yet and that one of those aligned to a reference
// knows best; -1 if there is none.
func (a *aligner) next(reference int) (parent, child int) {
	most := uint64(0)
	parent, child = -1, -1
	for m := range a.machines {
		if !a.placed[m] || a.machines[m].Reference != reference {
			continue
		}
		for n := range a.machines {
			if k := a.count(m, n); !a.placed[n] && k > most {
				most, parent, child = k, m, n
			}
		}
	}
	return parent, child
}

// place aligns a machine. All that are aligned to the same reference limit its line, unless that
// takes more windows than its parent alone.
func (a *aligner) place(child, parent, reference int) {
	x := &a.machines[child]
	x.Reference, x.Aligned = reference, true
	windows, shape := fit(a.limits(child, parent, nil))
	all := a.limits(child, parent, func(m int) bool { return a.placed[m] && a.machines[m].Reference == reference })
	x.Limits = len(all)
	if w, s := fit(all); len(w) <= len(windows) {
		windows, shape = w, s
	}
	x.Windows, a.lines[child] = windows, shape
	a.placed[child] = true
}

// limits are what a parent, and others if they are also to be used, say about a machine's clock.
func (a *aligner) limits(child, parent int, also func(int) bool) []limit {
	var list []limit
	for m := range a.machines {
		if m != parent && (also == nil || !also(m)) {
			continue
		}
		known := a.lines[m]
		for _, p := range a.passages[[2]int{m, child}].list() {
			list = append(list, limit{at: p.received, value: known.Time(p.sent) - p.received})
		}
		for _, p := range a.passages[[2]int{child, m}].list() {
			list = append(list, limit{at: p.sent, value: known.Time(p.received) - p.sent, upper: true})
		}
	}
	return list
}
