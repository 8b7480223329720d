package loops

import (
	"slices"
)

// family is a component and its header: one loop or, if several share the header, more. Which
// loops these are is settled level by level, the outermost first; a level consists of the
// latches (the nodes that step back to the header) of one loop.
type family struct {
	parent, depth int // of the family around it, -1 if there is none
	header        int
	entrances     []int
	nodes         []int       // ascending
	latches       []int       // nodes
	latch         map[int]int // number of latches
	bodies        []bitset    // positions in nodes of what the step back from a latch closes; nil if unknown
	levels        int         // the settled ones, and one for the latches that are not settled
	level         []int       // of latches
	rest          []int       // latches that are not settled
	merged        bool        // most loops in it would be irreducible, and were left out
	trials        [][]int     // latches whose level depends on the counts; those with equal bodies together
}

func (a *family) irreducible() bool { return len(a.entrances) > 1 }

// trialOf is the number of the trial that a latch is in, or outside.
func (a *family) trialOf(latch int) int {
	return slices.IndexFunc(a.trials, func(t []int) bool { return slices.Contains(t, latch) })
}

// settledLevels is the number of settled levels.
func (a *family) settledLevels() int {
	if len(a.rest) > 0 {
		return a.levels - 1
	}
	return a.levels
}

const (
	// maxLevels bounds the loops that share a header.
	maxLevels = 6
	// maxTrials bounds the latches whose level is tried at a time.
	maxTrials = 8
)

// mergeAll makes it one loop, whatever is in it.
func (a *family) mergeAll() {
	a.merged, a.levels, a.rest, a.trials = true, 1, nil, nil
	clear(a.level)
}

// advance settles levels until the counts are needed.
func (a *family) advance() {
	for len(a.rest) > 0 {
		if a.bodies == nil || a.levels == maxLevels {
			a.settle(a.rest)
			return
		}
		outer := a.outermost()
		if a.ambiguous(outer) {
			a.trials = outer
			return
		}
		a.settle(slices.Concat(outer...))
	}
}

// settle puts latches into the next level.
func (a *family) settle(latches []int) {
	for _, k := range latches {
		a.level[k] = a.levels - 1
	}
	a.rest = slices.DeleteFunc(slices.Clone(a.rest), func(k int) bool { return slices.Contains(latches, k) })
	a.trials = nil
	if len(a.rest) > 0 {
		a.levels++
		for _, k := range a.rest {
			a.level[k] = a.levels - 1
		}
	}
}

// decide settles a level by the counts: if the loop around all steps back except those of one
// trial is iterated equally often each time, that trial closes the loop around it. If several
// do, the one that steps back least often is taken.
func (a *family) decide(c *counter) {
	best := -1
	for t := range a.trials {
		if s := &c.trials[t]; s.strict() && (best < 0 || s.entries < c.trials[best].entries) {
			best = t
		}
	}
	if best >= 0 {
		a.settle(a.trials[best])
	} else {
		a.settle(slices.Concat(a.trials...))
	}
	a.advance()
}

// outermost lists the latches whose bodies are within no others, those with equal bodies
// together.
func (a *family) outermost() [][]int {
	var list [][]int
	for _, k := range a.rest {
		if slices.ContainsFunc(a.rest, func(l int) bool { return a.inside(k, l) }) {
			continue
		}
		if i := slices.IndexFunc(list, func(t []int) bool { return slices.Equal(a.bodies[t[0]], a.bodies[k]) }); i >= 0 {
			list[i] = append(list[i], k)
		} else {
			list = append(list, []int{k})
		}
	}
	return list
}

// inside reports whether the body of a latch is a proper subset of that of another one.
func (a *family) inside(k, l int) bool {
	return a.bodies[k].within(a.bodies[l]) && !a.bodies[l].within(a.bodies[k])
}

// ambiguous reports whether the graph does not determine which of some latches belongs to the
// outer loop: a smaller loop is within the bodies of several.
func (a *family) ambiguous(outer [][]int) bool {
	if len(outer) < 2 || len(outer) > maxTrials {
		return false
	}
	return slices.ContainsFunc(a.rest, func(k int) bool {
		around := 0
		for _, l := range outer {
			if a.inside(k, l[0]) {
				around++
			}
		}
		return around > 1
	})
}

// body lists the nodes of the loop of a level.
func (a *family) body(level int) []int {
	if level == 0 {
		return a.nodes
	}
	union := newBitset(len(a.nodes))
	for k, b := range a.bodies {
		if a.level[k] >= level {
			union.add(b)
		}
	}
	return union.of(a.nodes)
}
