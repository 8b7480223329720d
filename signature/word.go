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
	// ConstBit marks a constant, whose number is in the low bits.
	ConstBit = 1 << 63
	idBit    = 1 << 62
)

// Words of constants that efg itself defines or that programs need; the numbers are those in
// constants.tbl.
const (
	Absent   uint64 = ConstBit + 0 // EFG_ABSENT: missing, or not significant in this call
	Same     uint64 = ConstBit + 1 // EFG_SAME: an array as the previous call left it
	AsPosted uint64 = ConstBit + 2 // EFG_AS_POSTED: a status that follows from the call that posted the receive

	AnySource     uint64 = ConstBit + 3  // MPI_ANY_SOURCE
	AnyTag        uint64 = ConstBit + 4  // MPI_ANY_TAG
	ProcNull      uint64 = ConstBit + 5  // MPI_PROC_NULL
	RootHere      uint64 = ConstBit + 6  // MPI_ROOT
	Undefined     uint64 = ConstBit + 7  // MPI_UNDEFINED
	InPlace       uint64 = ConstBit + 14 // MPI_IN_PLACE
	CommNull      uint64 = ConstBit + 23 // MPI_COMM_NULL
	CommWorld     uint64 = ConstBit + 24 // MPI_COMM_WORLD
	CommSelf      uint64 = ConstBit + 25 // MPI_COMM_SELF
	MessageNoProc uint64 = ConstBit + 37 // MPI_MESSAGE_NO_PROC
	RequestNull   uint64 = ConstBit + 38 // MPI_REQUEST_NULL
	OpNoOp        uint64 = ConstBit + 54 // MPI_NO_OP
	TypeByte      uint64 = ConstBit + 56 // MPI_BYTE
	TypePacked    uint64 = ConstBit + 57 // MPI_PACKED

	Unknown uint64 = ConstBit + 321 // EFG_UNKNOWN: a handle that no recorded call created, or that of a completed request
	Freed   uint64 = ConstBit + 322 // EFG_FREED: a handle that the program has freed

	NotReturned uint64 = ConstBit + 323 // EFG_NOT_RETURNED: in place of an error class: the call was left by longjmp or an exception
)

// IsConst reports whether w is the word of a constant.
func IsConst(w uint64) bool { return w>>62 == 2 }

// IsID reports whether w is an id word; see ParseID.
func IsID(w uint64) bool { return w>>62 == 1 }

// IsPlain reports whether w is neither: a number from 0 to 2^62, or an identity.
func IsPlain(w uint64) bool { return w>>62 == 0 }

// Const is the word of the MPI constant with number k.
func Const(k int) uint64 { return ConstBit | uint64(k) }

// ConstNumber returns the number of the constant whose word is w.
func ConstNumber(w uint64) (k int, ok bool) {
	if !IsConst(w) {
		return 0, false
	}
	return int(w &^ ConstBit), true
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
func Ident(hash uint64) uint64 { return hash &^ (ConstBit | idBit) }

// SequenceBits is the width of the sequence number in the word of a communicator, window or
// file that a program made: the bits above it are those of its family, the objects that the
// same call created with the same members.
const SequenceBits = 24

// SequenceMask has the bits of a sequence number.
const SequenceMask uint64 = 1<<SequenceBits - 1

// Family returns the word of the family of a communicator, window or file; the family has the
// definition.
func Family(w uint64) uint64 { return w &^ SequenceMask }

// Widths of the fields of an id word.
const (
	SlotBits   = 24
	NodeBits   = 26
	ThreadBits = 12
)

// ID identifies an object created by a recorded event: a request, message, info, errhandler,
// keyval or session.
type ID struct {
	Thread, Node, Slot uint32
}

// Word packs id.
func (id ID) Word() uint64 {
	return idBit | uint64(id.Thread)<<(SlotBits+NodeBits) | uint64(id.Node)<<SlotBits | uint64(id.Slot)
}

// ParseID unpacks an id word.
func ParseID(w uint64) (id ID, ok bool) {
	if !IsID(w) {
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

// Large reports whether it was the large-count variant.
func (h Header) Large() bool { return h>>18&1 != 0 }

const countedBit = 1 << 19

// Counted reports whether this is the header of unsuccessful polls that are only counted: they
// are not in the order of events.
func (h Header) Counted() bool { return h&countedBit != 0 }

// AsCounted returns the header of such a poll.
func (h Header) AsCounted() Header { return h | countedBit }

// Form is the form of word i of an event with this header; ScalarForm if the procedure is
// unknown.
func (h Header) Form(i int) Form {
	p := ProcByID(h.Proc())
	if p == nil || i < FirstWord || i >= len(p.Words) {
		return ScalarForm
	}
	return p.Words[i].Form
}

const pmpiBit = 1 << 20

// ByPMPI reports whether the program called the procedure by its PMPI_ name.
func (h Header) ByPMPI() bool { return h&pmpiBit != 0 }

// AsByPMPI returns the header of such a call.
func (h Header) AsByPMPI() Header { return h | pmpiBit }

// MaxDepth is the depth that headers have of calls that are this deep or deeper.
const MaxDepth = 7

const depthShift = 21

// Depth is the number of recorded calls that the call was made inside of, from callbacks of the
// program; MaxDepth stands for more, too. The event of the call around it is the next one of its
// thread with a smaller depth.
func (h Header) Depth() int { return int(h >> depthShift & MaxDepth) }

// AtDepth returns the header of such a call.
func (h Header) AtDepth(depth int) Header {
	return h&^(MaxDepth<<depthShift) | Header(min(depth, MaxDepth))<<depthShift
}

// WithoutError returns the header of a call that succeeded, or has not returned yet.
func (h Header) WithoutError() Header { return h & (1<<32 - 1) }

// FoundNothing reports whether words are those of an unsuccessful poll.
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

// ErrorClass is 0 for success; otherwise see the package comment.
func (h Header) ErrorClass() uint16 { return uint16(h >> 32) }
