package seq

import "math"

// State is the state of an iteration over a sequence.
type State struct {
	left, after uint64
	prev        uint64
	code        int
	rem0, d0    uint64
	rem, d      [Levels]uint64
	rings       *ringState // nil if not kept
}

// foldRing bounds the rings of which states keep copies: without copies, only repeats of values
// are found, not those of repeats.
const foldRing = 1 << 10

func StateOf(it *Iter) State {
	s := State{left: it.Left(), after: it.after, prev: it.prev, code: len(it.code), rem0: it.rem0, d0: it.d0}
	deep := false
	for l := 1; l < Levels; l++ {
		s.rem[l], s.d[l] = it.upper[l].rem, it.upper[l].d
		deep = deep || it.upper[l].rem > 0
	}
	if deep && len(it.ring0) <= foldRing {
		rings := it.rings(Levels - 1)
		s.rings = &rings
	}
	return s
}

func (m *State) Size() int {
	n := 14
	if m.rings != nil {
		n += len(m.rings.values) + 16
		for _, s := range m.rings.symbols {
			n += 2 * len(s)
		}
	}
	return n
}

// Used is the number of values since then.
func (m *State) Used(it *Iter) uint64 { return m.left - it.Left() }

// Again is the minimum number of times that the values since then recur.
func (m *State) Again(it *Iter) uint64 {
	if m.Used(it) == 0 {
		return math.MaxUint64
	}
	if m.after != it.after || m.code != len(it.code) || it.delta && m.prev != it.prev {
		return 0
	}
	level := Levels - 1
	for level > 0 && m.rem[level] == it.upper[level].rem {
		level--
	}
	if level == 0 {
		return repeatsAgain(m.rem0, it.rem0, m.d0, it.d0)
	}
	u := &it.upper[level]
	if m.rem0 != it.rem0 || it.rem0 > 0 && m.d0 != it.d0 || m.rings == nil {
		return 0
	}
	for l := 1; l < level; l++ {
		if v := &it.upper[l]; m.rem[l] != v.rem || v.rem > 0 && m.d[l] != v.d {
			return 0
		}
	}
	times := repeatsAgain(m.rem[level], u.rem, m.d[level], u.d)
	if times == 0 || !it.sameRings(*m.rings, level-1) {
		return 0
	}
	return times
}

// repeatsAgain is the number of times that the output of a repeat recurs if it is still the
// same repeat and has advanced by whole periods.
func repeatsAgain(before, now, d, dNow uint64) uint64 {
	if before <= now || d != dNow || d == 0 || (before-now)%d != 0 {
		return 0
	}
	return now / (before - now)
}
