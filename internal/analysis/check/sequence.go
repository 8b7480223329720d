package check

import (
	"math/bits"

	"github.com/efg-tools/efg/signature"
)

// sequence is a hash of a sequence of symbols, a polynomial modulo a prime, with which
// sequences are joined and repeated without iterating over them.
type sequence struct {
	hash, power uint64 // power: of the base, to the length
	length      uint64
	sum         uint64 // of the symbols, whatever their order
}

const (
	prime = 1<<61 - 1
	base  = 0x123456789abcdef
)

func single(h uint64) sequence {
	return sequence{h % prime, base, 1, signature.Hash(h)}
}

func (s sequence) then(o sequence) sequence {
	switch {
	case s.length == 0:
		return o
	case o.length == 0:
		return s
	}
	return sequence{(mulmod(s.hash, o.power) + o.hash) % prime, mulmod(s.power, o.power), s.length + o.length, s.sum + o.sum}
}

// times repeats the sequence n times. (All sequences joined here are powers of one sequence, so
// their order does not matter.)
func (s sequence) times(n uint64) sequence {
	var all sequence
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			all = all.then(s)
		}
		s = s.then(s)
	}
	return all
}

func mulmod(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	sum := low&prime + (low>>61 | high<<3)
	return sum % prime
}
