package efg

import (
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/efg-tools/efg/signature"
)

// slotWord returns the index of the slot word of an event, or 0.
func slotWord(header uint64) int {
	p := signature.ProcByID(signature.Header(header).Proc())
	if p == nil {
		return 0
	}
	for i := range p.Words {
		if p.Words[i].Form == signature.SlotForm {
			return i
		}
	}
	return 0
}

// Roll adds v to a stream's rolling hash. Each event adds the XXH64 of its words with the
// demoted ones zero, and then each demoted word, lowest first.
func Roll(h, v uint64) uint64 {
	return (bits.RotateLeft64(h, 5) ^ v) * 0x9E3779B185EBCA87
}

// HashWords is the hash of a node: XXH64 of its words.
func HashWords(w []uint64) uint64 {
	var b [8 * signature.MaxWords]byte
	buf := b[:0]
	for _, x := range w {
		buf = append(buf, byte(x), byte(x>>8), byte(x>>16), byte(x>>24), byte(x>>32), byte(x>>40), byte(x>>48), byte(x>>56))
	}
	return xxhash.Sum64(buf)
}
