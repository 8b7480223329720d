package seq

import "slices"

// Skipping. A long repeat is skipped without being expanded: its values are periodic, so only
// the rings and, for differences, the sum have to be updated. At level 0 the period is the
// distance. At the levels above, one period is expanded; if it leaves all rings unchanged, so
// do the others.

// Skip skips up to n values.
func (it *Iter) Skip(n uint64) {
	for it.after > 0 && n > it.left {
		n -= it.left
		it.left = 0
		for len(it.parts) > 0 && n >= it.parts[0].n && it.after > it.parts[0].n {
			n -= it.parts[0].n // without reading it
			it.after -= it.parts[0].n
			it.parts = it.parts[1:]
		}
		if !it.nextPart() {
			return
		}
	}
	for n = min(n, it.left); n > 0; {
		if k := it.skipBelow(Levels, n); k > 0 {
			n -= k
			continue
		}
		if _, ok := it.Next(); !ok {
			return
		}
		n--
	}
}

// skipBelow skips up to n values, but stops where a symbol of a level, or of one above it, is
// needed: the repeats below have ended.
func (it *Iter) skipBelow(level int, n uint64) (passed uint64) {
	for passed < n && it.err == nil {
		if it.rem0 > 0 {
			passed += it.skipValues(min(n-passed, it.rem0))
			continue
		}
		running := 0
		for l := level - 1; l > 0; l-- {
			if it.upper[l].rem > 0 {
				running = l // the lowest
			}
		}
		if running == 0 {
			return passed
		}
		if k := it.skipPeriods(running, n-passed); k > 0 {
			passed += k
			continue
		}
		if _, ok := it.Next(); !ok {
			return passed
		}
		passed++
	}
	return passed
}

// skipValues skips n values of the running repeat of level 0.
func (it *Iter) skipValues(n uint64) uint64 {
	ring := uint64(len(it.ring0))
	for passed := uint64(0); ; passed++ {
		// Within the repeat for the length of the ring: everything in the ring repeats.
		if left := n - passed; passed >= ring && left > it.d0 && left > ring/4 {
			periods := left / it.d0
			it.jump(periods*it.d0, periods*it.sumOfLast(it.d0))
			it.ring0 = rotated(it.ring0, it.pos0, it.pos0+periods*it.d0)
			it.pos0 += periods * it.d0
			it.rem0 -= periods * it.d0
			passed += periods * it.d0
		}
		if passed == n {
			return n
		}
		it.Next()
	}
}

// jump counts n values with the given sum of differences as skipped.
func (it *Iter) jump(n, sum uint64) {
	it.left -= n
	if it.delta {
		it.prev += sum
	}
}

// sumOfLast is the sum of the last n differences.
func (it *Iter) sumOfLast(n uint64) (sum uint64) {
	for k := uint64(1); k <= n; k++ {
		x := it.ring0[(it.pos0-k)&it.mask0]
		sum += x>>1 ^ -(x & 1)
	}
	return sum
}

// rotated returns a ring as it is when its newest entry is at another position.
func rotated[T any](ring []T, from, to uint64) []T {
	out := make([]T, len(ring))
	mask := uint64(len(ring) - 1)
	for k := range uint64(len(ring)) {
		out[(to+k)&mask] = ring[(from+k)&mask]
	}
	return out
}

// fewPeriods is the number of periods from which it pays to check whether they repeat.
const fewPeriods = 8

// skipPeriods skips up to n values of the running repeat of a level above 0. The levels below
// are between two symbols.
func (it *Iter) skipPeriods(level int, n uint64) (passed uint64) {
	u := &it.upper[level]
	for u.rem > fewPeriods*u.d {
		before := it.rings(level)
		rem, left, prev := u.rem, it.left, it.prev
		var at [Levels]uint64
		for l := 1; l <= level; l++ {
			at[l] = it.upper[l].pos
		}
		for u.rem > rem-u.d && passed < n && it.err == nil {
			if _, ok := it.Next(); !ok {
				return passed
			}
			passed++
			passed += it.skipBelow(level, n-passed)
		}
		if passed == n || it.err != nil {
			return passed
		}
		if !it.sameRings(before, level) {
			continue
		}
		values := left - it.left
		periods := min(u.rem/u.d, (n-passed)/values)
		sum := uint64(0)
		if it.delta {
			sum = it.prev - prev
		}
		it.jump(periods*values, periods*sum)
		passed += periods * values
		it.ring0 = rotated(it.ring0, it.pos0, it.pos0+periods*values)
		it.pos0 += periods * values
		for l := 1; l <= level; l++ {
			v := &it.upper[l]
			if by := periods * (v.pos - at[l]); v.ring != nil {
				v.ring = rotated(v.ring, v.pos, v.pos+by)
				v.pos += by
			}
		}
		u.rem -= periods * u.d
		return passed
	}
	return passed
}

// ringState is the content of the rings up to a level, oldest first.
type ringState struct {
	values  []uint64
	symbols [Levels][]symbol
}

func (it *Iter) rings(level int) ringState {
	var s ringState
	s.values = rotated(it.ring0, it.pos0, 0)
	for l := 1; l <= level; l++ {
		if u := &it.upper[l]; u.ring != nil {
			s.symbols[l] = rotated(u.ring, u.pos, 0)
		}
	}
	return s
}

func (it *Iter) sameRings(s ringState, level int) bool {
	now := it.rings(level)
	if !slices.Equal(now.values, s.values) {
		return false
	}
	for l := 1; l <= level; l++ {
		if !slices.Equal(now.symbols[l], s.symbols[l]) {
			return false
		}
	}
	return true
}
