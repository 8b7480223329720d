package loops

import "math"

// cycleSkipper makes the pass skip what repeats. If all branch runs that decide are within
// repeats of their sequences, the path itself repeats: it returns to a node in the same state,
// except for the whole periods of the sequences that were used. Each cycle then adds the same
// counts, and as many cycles as the sequences have room for are counted at once. A program that
// ran ten times as long therefore takes no longer to analyse.
type cycleSkipper struct {
	deciding []int  // nodes
	anchor   int    // node where the snapshot was made
	age      int    // decisions since the snapshot
	checked  int    // age at the last look
	limit    int    // age at which a snapshot is given up
	least    uint64 // how often a path must repeat to be skipped
	states   []state
	sums     []sum // of all counters, as they were
}

// state is the position of a deciding node in its sequences.
type state struct {
	edge         int
	left         uint64
	runs, counts sequence
	fixed        []uint64 // by edge
	// Values of the sequences used since the snapshot, and steps of a run that was in progress
	// then and still is.
	usedRuns, usedCounts, usedSteps uint64
}

// sequence is the position of an iteration: values left, and how the next room of them repeat.
type sequence struct{ left, period, room uint64 }

const (
	firstLimit = 64
	fewCycles  = 16
)

func (l *cycleSkipper) init(p *pass, least uint64) {
	l.least = least
	for v := range p.nodes {
		if p.nodes[v].decides && len(p.nodes[v].edges) > 0 {
			l.deciding = append(l.deciding, v)
		}
	}
	l.states = make([]state, len(l.deciding))
	l.sums = make([]sum, len(p.sums))
	l.anchor, l.limit = -1, firstLimit
}

// at is called before a deciding node takes its next step.
func (l *cycleSkipper) at(p *pass, v int) {
	l.age++
	cost := len(l.deciding) + len(l.sums)
	switch {
	case l.anchor < 0 || l.age > max(l.limit, 4*cost):
		if l.anchor >= 0 {
			l.limit = min(2*l.limit, math.MaxInt/2)
		}
		l.takeSnapshot(p, v)
	case v == l.anchor && l.age-l.checked >= cost:
		l.checked = l.age
		cycles, same := l.cycles(p)
		switch {
		case !same || cycles < l.least:
		case l.repeat(p, cycles):
			l.limit = firstLimit
			l.takeSnapshot(p, v)
		default: // the next cycle may be the first that is like the previous one
			l.takeSnapshot(p, v)
		}
	}
}

// takeSnapshot records the state of all nodes and counters.
func (l *cycleSkipper) takeSnapshot(p *pass, v int) {
	l.anchor, l.age, l.checked = v, 0, 0
	for i, d := range l.deciding {
		n, s := &p.nodes[d], &l.states[i]
		s.edge, s.left = n.edge, n.left
		s.runs.left, s.counts.left = n.runs.Left(), n.counts.Left()
		s.runs.period, s.runs.room = n.runs.Periodic()
		s.counts.period, s.counts.room = n.counts.Periodic()
		s.fixed = s.fixed[:0]
		for k := range n.edges {
			s.fixed = append(s.fixed, n.edges[k].fixed)
		}
	}
	copy(l.sums, p.sums)
}

// cycles reports whether the path since the snapshot will repeat, and how often.
func (l *cycleSkipper) cycles(p *pass) (cycles uint64, same bool) {
	cycles = math.MaxUint64
	for i, d := range l.deciding {
		n, s := &p.nodes[d], &l.states[i]
		s.usedRuns, s.usedCounts = s.runs.left-n.runs.Left(), s.counts.left-n.counts.Left()
		s.usedSteps = 0
		if s.usedRuns == 0 { // the run continues
			if s.usedSteps = s.left - n.left; s.usedSteps > 0 {
				cycles = min(cycles, n.left/s.usedSteps)
			}
			continue
		}
		if n.left != s.left || n.left > 0 && n.edge != s.edge {
			return 0, false
		}
		for _, q := range []struct {
			*sequence
			used uint64
		}{{&s.runs, s.usedRuns}, {&s.counts, s.usedCounts}} {
			if q.used == 0 {
				continue
			}
			if q.period == 0 || q.used%q.period != 0 {
				return 0, false
			}
			cycles = min(cycles, max(q.room/q.used, 1)-1)
		}
		for k := range n.edges {
			if used := s.fixed[k] - n.edges[k].fixed; used > 0 {
				cycles = min(cycles, n.edges[k].fixed/used)
			}
		}
	}
	if cycles == math.MaxUint64 {
		return 0, false
	}
	return cycles, true
}

// repeat multiplies the counts since the snapshot. If they are not the same each time it does
// nothing and returns false.
func (l *cycleSkipper) repeat(p *pass, cycles uint64) bool {
	for i := range p.sums {
		if !p.sums[i].repeats(&l.sums[i]) {
			return false
		}
	}
	for i := range p.sums {
		p.sums[i].repeat(&l.sums[i], cycles)
	}
	for i, d := range l.deciding {
		n, s := &p.nodes[d], &l.states[i]
		n.left -= cycles * s.usedSteps
		if s.usedRuns == 0 {
			continue
		}
		n.runs.Pass(cycles * s.usedRuns)
		if s.usedCounts > 0 {
			n.counts.Pass(cycles * s.usedCounts)
		}
		for k := range n.edges {
			n.edges[k].fixed -= cycles * (s.fixed[k] - n.edges[k].fixed)
		}
	}
	return true
}

// repeats reports whether what was added since before counts the same each time.
func (s *sum) repeats(before *sum) bool {
	if s.entries == before.entries {
		return s.open == before.open
	}
	return before.entries > 2 && s.open == before.open && s.now == before.now
}

// repeat multiplies the counts since before.
func (s *sum) repeat(before *sum, times uint64) {
	if s.entries == before.entries {
		s.now += times * (s.now - before.now)
		return
	}
	s.entries += times * (s.entries - before.entries)
	s.total += times * (s.total - before.total)
	s.middleLeast, s.middleMost = min(s.middleLeast, s.last), max(s.middleMost, s.last)
}
