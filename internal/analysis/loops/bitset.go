package loops

import "math/bits"

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }

func (b bitset) add(o bitset) {
	for i := range b {
		b[i] |= o[i]
	}
}

func (b bitset) within(o bitset) bool {
	for i := range b {
		if b[i]&^o[i] != 0 {
			return false
		}
	}
	return true
}

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// of returns the elements of a list whose positions are in the set.
func (b bitset) of(list []int) []int {
	out := make([]int, 0, b.count())
	for i, v := range list {
		if b.has(i) {
			out = append(out, v)
		}
	}
	return out
}
