// Package token defines the layout of tokens: words in the form of the run file, in which what
// ranks and nodes have in common is equal. efg/FORMAT.md describes them.
package token

import "github.com/efg-tools/efg/signature"

// Kinds of tokens, their low three bits.
const (
	Number   = iota // zigzag of the number
	Const           // number of the constant
	Def             // number of the definition in the process's list
	Family          // pair of a definition's number and a sequence number
	Own             // id created by this thread: pair of the distance back to its node, and the slot
	Relative        // zigzag of the distance from the process's own rank
	ID              // id created by another thread; see PackID
	Wide            // number of a word in the block's list of wide words
)

// Of is the token of a kind with a value.
func Of(kind, value uint64) uint64 { return value<<3 | kind }

const smallPair = 1 << 6

// Pair combines two numbers, the second below 2^24, such that small ones yield small results.
func Pair(a, b uint64) uint64 {
	if b < smallPair {
		return (a*smallPair | b) << 1
	}
	return (a<<signature.SequenceBits|b)<<1 | 1
}

// Unpair is the inverse of Pair.
func Unpair(p uint64) (a, b uint64) {
	if p&1 == 0 {
		return p >> 1 / smallPair, p >> 1 % smallPair
	}
	return p >> 1 >> signature.SequenceBits, p >> 1 & signature.SequenceMask
}

// Widths of the slot and the node in the value of an id.
const (
	slotBits = 20
	nodeBits = 26
)

// PackID is the value of an id; false if it does not fit.
func PackID(id signature.ID) (value uint64, ok bool) {
	ok = id.Slot < 1<<slotBits && id.Node < 1<<nodeBits && id.Thread < 1<<signature.ThreadBits
	return uint64(id.Thread)<<(slotBits+nodeBits) | uint64(id.Node)<<slotBits | uint64(id.Slot), ok
}

// UnpackID is the inverse of PackID.
func UnpackID(value uint64) signature.ID {
	return signature.ID{
		Thread: uint32(value >> (slotBits + nodeBits) & (1<<signature.ThreadBits - 1)), Node: uint32(value >> slotBits & (1<<nodeBits - 1)),
		Slot: uint32(value & (1<<slotBits - 1)),
	}
}
