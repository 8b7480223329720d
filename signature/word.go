package signature

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// MaxWords is the largest number of words of an event.
const MaxWords = 32

// FirstWord is the index of the first word after header, callsite and object.
const FirstWord = 3

const (
	constBit = 1 << 63
	idBit    = 1 << 62
)

// Absent is the word of something that is not there: constant 0.
const Absent uint64 = constBit

// Const is the word of the MPI constant with number k.
func Const(k int) uint64 { return constBit | uint64(k) }

// ConstNumber returns the number of the constant that w is the word of.
func ConstNumber(w uint64) (k int, ok bool) {
	if w>>62 != 2 {
		return 0, false
	}
	return int(w &^ constBit), true
}

// Hash is XXH64 with seed 0 of the words in little-endian order. It equals
// efg_hash in hook/shim.
func Hash(words ...uint64) uint64 {
	var buf [256]byte
	if n := 8 * len(words); n > len(buf) {
		return hashLong(words)
	}
	b := buf[:0]
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return xxhash.Sum64(b)
}

func hashLong(words []uint64) uint64 {
	d := xxhash.New()
	var b [8]byte
	for _, w := range words {
		binary.LittleEndian.PutUint64(b[:], w)
		d.Write(b[:])
	}
	return d.Sum64()
}

// HashString is XXH64 with seed 0 of the bytes of s.
func HashString(s string) uint64 { return xxhash.Sum64String(s) }

// Ident is the identity word of a hash: its two top bits cleared.
func Ident(hash uint64) uint64 { return hash &^ (constBit | idBit) }

// Widths of the fields of an id word.
const (
	SlotBits   = 24
	NodeBits   = 26
	ThreadBits = 12
)

// ID names an object made by a recorded event: a request, message, info,
// errhandler, keyval or session.
type ID struct {
	Thread, Node, Slot uint32
}

// Word packs id.
func (id ID) Word() uint64 {
	return idBit | uint64(id.Thread)<<(SlotBits+NodeBits) | uint64(id.Node)<<SlotBits | uint64(id.Slot)
}

// ParseID unpacks an id word.
func ParseID(w uint64) (id ID, ok bool) {
	if w>>62 != 1 {
		return ID{}, false
	}
	return ID{
		Thread: uint32(w >> (SlotBits + NodeBits) & (1<<ThreadBits - 1)),
		Node:   uint32(w >> SlotBits & (1<<NodeBits - 1)),
		Slot:   uint32(w & (1<<SlotBits - 1)),
	}, true
}

// Language is the interface a program called.
type Language uint8

const (
	C       Language = iota
	Fortran          // mpif.h or use mpi
	F08              // use mpi_f08
)

// UserErrorClass marks, in a header, an error class that the program added.
const UserErrorClass = 0x8000

// Header is the first word of an event.
type Header uint64

// MakeHeader packs a header. errorClass is 0 for success.
func MakeHeader(proc int, lang Language, large bool, words int, errorClass uint16) Header {
	h := Header(proc&0xffff) | Header(lang&3)<<16 | Header(words&0xff)<<24 | Header(errorClass)<<32
	if large {
		h |= 1 << 18
	}
	return h
}

// Proc is the procedure's number.
func (h Header) Proc() int { return int(h & 0xffff) }

// Lang is the interface through which the procedure was called.
func (h Header) Lang() Language { return Language(h >> 16 & 3) }

// Large tells whether it was the large-count variant.
func (h Header) Large() bool { return h>>18&1 != 0 }

const countedBit = 1 << 19

// Counted tells whether this is the header of failed polls that are only counted:
// they are not in the order of events.
func (h Header) Counted() bool { return h&countedBit != 0 }

// AsCounted returns the header of such a poll.
func (h Header) AsCounted() Header { return h | countedBit }

// WithoutError returns the header of a call that succeeded, or has not returned yet.
func (h Header) WithoutError() Header { return h & (1<<32 - 1) }

// FoundNothing tells whether words are those of a successful poll that found
// nothing.
func FoundNothing(words []uint64) bool {
	h := Header(words[0])
	p := ProcByID(h.Proc())
	if p == nil || h.ErrorClass() != 0 {
		return false
	}
	i := p.PollWord()
	return i > 0 && i < len(words) && words[i] == 0
}

// Words is the number of words of the event.
func (h Header) Words() int { return int(h >> 24 & 0xff) }

// ErrorClass is 0 for success, else see the package comment.
func (h Header) ErrorClass() uint16 { return uint16(h >> 32) }
