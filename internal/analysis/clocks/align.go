package clocks

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/efg-tools/efg/efg"
)

// aligner finds lines that make the clocks of machines agree.
type aligner struct {
	passages map[[2]int]*passages
	near     [][]int // of each machine those that it has exchanged something with, ascending
	machines []Machine
	lines    []efg.Line
	placed   []bool
	known    pairHeap // machines that may be aligned next, with parents that are aligned
}

// align finds the lines of machines, and what is known of them. Machines that
// have exchanged something in both directions, directly or over others, are aligned to the first
// of them.
func align(machines int, found map[[2]int]*passages) ([]efg.Line, []Machine) {
	a := &aligner{passages: found, near: neighbours(machines, found), machines: make([]Machine, machines), lines: make([]efg.Line, machines), placed: make([]bool, machines)}
	for m := range machines {
		if a.placed[m] {
			continue
		}
		a.machines[m].Reference = m
		a.reach(m)
		for {
			parent, child := a.next()
			if child < 0 {
				break
			}
			a.place(child, parent, m)
		}
	}
	return a.lines, a.machines
}

// neighbours returns, for each machine, those with which it has exchanged something in either direction, ascending.
func neighbours(machines int, found map[[2]int]*passages) [][]int {
	near := make([][]int, machines)
	for pair := range found {
		near[pair[0]] = append(near[pair[0]], pair[1])
		near[pair[1]] = append(near[pair[1]], pair[0])
	}
	for m := range near {
		slices.Sort(near[m])
		near[m] = slices.Compact(near[m])
	}
	return near
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

// reach makes a machine, which is aligned now, a parent of those that it has exchanged something with.
func (a *aligner) reach(m int) {
	a.placed[m] = true
	for _, n := range a.near[m] {
		if k := a.count(m, n); k > 0 && !a.placed[n] {
			heap.Push(&a.known, knownPair{k, m, n})
		}
	}
}

// next returns the machine that is not aligned yet and that one of those aligned to the same reference
// knows best; -1 if there is none.
func (a *aligner) next() (parent, child int) {
	for len(a.known) > 0 {
		if p := heap.Pop(&a.known).(knownPair); !a.placed[p.child] {
			return p.parent, p.child
		}
	}
	return -1, -1
}

// place aligns a machine. All that are aligned to the same reference limit its line, unless that
// takes more windows than its parent alone.
func (a *aligner) place(child, parent, reference int) {
	x := &a.machines[child]
	x.Reference, x.Aligned = reference, true
	windows, shape := fit(a.limits(child, []int{parent}))
	all := a.limits(child, slices.DeleteFunc(slices.Clone(a.near[child]), func(m int) bool { return !a.placed[m] || a.machines[m].Reference != reference }))
	x.Limits = len(all)
	if w, s := fit(all); len(w) <= len(windows) {
		windows, shape = w, s
	}
	x.Windows, a.lines[child] = windows, shape
	a.reach(child)
}

// limits are what aligned machines say about a machine's clock.
func (a *aligner) limits(child int, from []int) []limit {
	var list []limit
	for _, m := range from {
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

// knownPair is a machine that is aligned, another one, and how much they say about each other's clocks.
type knownPair struct {
	count         uint64
	parent, child int
}

// pairHeap has the pair that says most first; of several the one of the first machines.
type pairHeap []knownPair

func (h pairHeap) Len() int      { return len(h) }
func (h pairHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h pairHeap) Less(i, j int) bool {
	x, y := &h[i], &h[j]
	return cmp.Or(cmp.Compare(y.count, x.count), cmp.Compare(x.parent, y.parent), cmp.Compare(x.child, y.child)) < 0
}

// Push implements heap.Interface.
func (h *pairHeap) Push(x any) { *h = append(*h, x.(knownPair)) }

// Pop implements heap.Interface.
func (h *pairHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
