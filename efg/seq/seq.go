// Package seq compresses sequences of 64-bit integers with runs, strides and nested periods,
// such as branch runs and attribute streams, as they are appended, in constant amortised time
// per value and bounded memory. Sequences are read without being expanded: Iter iterates over
// the values and skips long repeats at once, and JoinRuns iterates over several sequences
// together, repeats only once.
//
// FORMAT.md specifies the code; the recorder writes the same in C.
package seq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Levels is the number of folding levels of a sequence.
const Levels = 3

// recorderWindow is the maximum distance of a recorder's repeats in symbols, per level. (In a
// run file it is packWindow.)
var recorderWindow = [Levels]uint32{256, 64, 64}

// Seq is a folded sequence of 64-bit values: the compressed form of branch runs, run lengths
// and attribute streams. FORMAT.md describes the code. A Seq is immutable.
type Seq struct {
	n     uint64
	delta bool
	code  []byte
	reach [Levels]uint32 // farthest distance of a repeat, per level
	form  uint8          // of the packed sequence
	words Tokens         // converts tokens into words; nil if the values are not tokens
	parts []Part         // of a long sequence, in place of code
}

// Tokens converts words into tokens, which are equal where ranks and nodes have something in
// common, and back.
type Tokens interface {
	// Word returns the word of a token; 0 if the token refers to nothing.
	Word(token uint64) uint64
	// Token returns the token of a word; false if it has none.
	Token(word uint64) (token uint64, ok bool)
	// IsNumber reports whether a token stands for a number.
	IsNumber(token uint64) bool
	// HasRanks reports whether words can be ranks relative to the process's own.
	HasRanks() bool
	// Relative returns the token of a rank, as its distance from the process's own; false if
	// the word is not a rank.
	Relative(word uint64) (token uint64, ok bool)
}

// symbol is a value (kind 0) or a repeat (kind distance<<2 | level+1, value
// length).
type symbol struct {
	value uint64
	kind  uint32
}

// ErrBroken is wrapped by all errors about a sequence's code.
var ErrBroken = errors.New("broken sequence")

// New checks code and returns the sequence of its first n values. The code
// must hold at least n values; that is found out when iterating, not here. The
// sequence keeps code.
func New(n uint64, delta bool, code []byte) (*Seq, error) {
	s := &Seq{n: n, delta: delta, code: code}
	for at := 0; at < len(code); {
		y, size, err := decodeSymbol(code[at:])
		if err != nil {
			return nil, fmt.Errorf("%w: at code byte %d: %v", ErrBroken, at, err)
		}
		at += size
		if y.kind == 0 {
			continue
		}
		level, d := y.kind&3-1, y.kind>>2
		if d >= PackWindow[level] {
			return nil, fmt.Errorf("%w: at code byte %d: distance %d beyond the window", ErrBroken, at, d)
		}
		s.reach[level] = max(s.reach[level], d)
	}
	if len(code) == 0 {
		s.code = nil
		if n > 0 {
			return nil, fmt.Errorf("%w: %d values without code", ErrBroken, n)
		}
	}
	return s, nil
}

// decodeSymbol reads one symbol from the front of code.
func decodeSymbol(code []byte) (y symbol, size int, err error) {
	x, size := binary.Uvarint(code)
	if size <= 0 {
		return y, 0, errors.New("cut short")
	}
	if x&3 == 0 {
		return symbol{value: x >> 2}, size, nil
	}
	if x>>2 > 1<<16 {
		return y, 0, errors.New("distance too large")
	}
	v, more := binary.Uvarint(code[size:])
	if more <= 0 {
		return y, 0, errors.New("cut short")
	}
	if x == 3 {
		return symbol{value: v}, size + more, nil
	}
	if x>>2 == 0 || v == 0 {
		return y, 0, errors.New("empty repeat")
	}
	return symbol{value: v, kind: uint32(x)}, size + more, nil
}

func appendSymbol(b []byte, y symbol) []byte {
	switch {
	case y.kind != 0:
		b = binary.AppendUvarint(b, uint64(y.kind))
		return binary.AppendUvarint(b, y.value)
	case y.value>>61 == 0:
		return binary.AppendUvarint(b, y.value<<2)
	default:
		return binary.AppendUvarint(append(b, 3), y.value)
	}
}

// Len is the number of values; 0 for nil.
func (s *Seq) Len() uint64 {
	if s == nil {
		return 0
	}
	return s.n
}

// Delta says whether the code holds differences.
func (s *Seq) Delta() bool { return s.delta }

// Code is the sequence's code; not to be changed.
func (s *Seq) Code() []byte { return s.code }

// Bind sets what the sequence's tokens refer to, unless that is set.
func (s *Seq) Bind(c Tokens) {
	if s != nil && s.form&formWords != 0 && s.words == nil {
		s.words = c
	}
}

// Tokens converts its tokens into words; nil if its values are not tokens.
func (s *Seq) Tokens() Tokens { return s.words }

// With returns the sequence with other words for its tokens.
func (s *Seq) With(words Tokens) *Seq {
	c := *s
	c.words = words
	return &c
}

// Extend makes the sequence n values longer. It reports whether there is code for them;
// otherwise the sequence is empty.
func (s *Seq) Extend(n uint64) bool {
	s.n += n
	if s.n > 0 && len(s.code) == 0 && s.parts == nil {
		s.n = 0
		return false
	}
	return true
}

// Prefix returns the sequence of the first n values of s.
func (s *Seq) Prefix(n uint64) *Seq {
	if n >= s.n {
		return s
	}
	c := *s
	c.n = n
	return &c
}

// Equal reports whether two sequences have equal code and length; long ones of a run file have
// no code of their own and are not equal. (Sequences made by the same recorder from the same
// values are equal.)
func (s *Seq) Equal(o *Seq) bool {
	if s == nil || o == nil {
		return s == o
	}
	return s.n == o.n && s.delta == o.delta && string(s.code) == string(o.code) && s.parts == nil && o.parts == nil
}

// EqualValues reports whether two sequences have the same values.
func (s *Seq) EqualValues(o *Seq) bool {
	if s == nil || o == nil {
		return s == o
	}
	a, b := s.Iter(), o.Iter()
	for s.Len() == o.Len() {
		x, more := a.Next()
		y, also := b.Next()
		if x != y || more != also {
			return false
		}
		if !more {
			return true
		}
	}
	return false
}

// Iter iterates over a sequence without expanding it: it needs memory for the reach of the
// sequence's repeats, or for the values passed if those are fewer.
type Iter struct {
	left  uint64 // in the current part
	after uint64 // in the parts after it
	parts []Part
	rem0  uint64
	d0    uint64
	pos0  uint64
	mask0 uint64
	ring0 []uint64
	full0 uint64 // maximum size of the ring
	prev  uint64
	delta bool
	words Tokens
	upper [Levels]iterLevel // 1…: levels above 0
	code  []byte
	err   error
}

type iterLevel struct {
	rem  uint64
	d    uint64
	pos  uint64
	ring []symbol
	full uint64 // 0: no repeat at this level, symbols pass through
}

// Iter starts an iteration; s may be nil.
func (s *Seq) Iter() Iter {
	if s == nil {
		return Iter{}
	}
	if s.parts != nil {
		return Iter{after: s.n, parts: s.parts, words: s.words}
	}
	it := Iter{left: s.n, delta: s.delta, code: s.code, words: s.words}
	it.full0 = ringSize(s.reach[0])
	for l := 1; l < Levels; l++ {
		if s.reach[l] > 0 {
			it.upper[l].full = ringSize(s.reach[l])
		}
	}
	return it
}

func ringSize(reach uint32) uint64 { return 1 << bits.Len32(reach) }

const firstRing = 8

// grown returns a ring that holds what is needed after n more entries follow the first pos: all
// of them, or full.
func grown[T any](ring []T, pos, n, full uint64) []T {
	size := uint64(max(len(ring), firstRing))
	for size < full && size-min(size, pos) < n {
		size *= 2
	}
	out := make([]T, min(size, full))
	for p := pos - min(pos, uint64(len(ring))); p < pos; p++ {
		out[p&uint64(len(out)-1)] = ring[p&uint64(len(ring)-1)]
	}
	return out
}

// makeRoom prepares level 0 for n more values.
func (it *Iter) makeRoom(n uint64) {
	if size := uint64(len(it.ring0)); size < it.full0 && size-min(size, it.pos0) < n {
		it.ring0 = grown(it.ring0, it.pos0, n, it.full0)
		it.mask0 = uint64(len(it.ring0) - 1)
	}
}

func (u *iterLevel) makeRoom(n uint64) {
	if size := uint64(len(u.ring)); size < u.full && size-min(size, u.pos) < n {
		u.ring = grown(u.ring, u.pos, n, u.full)
	}
}

// Left is the number of values still to come.
func (it *Iter) Left() uint64 { return it.left + it.after }

// Err is the error that ended the iteration early, if any.
func (it *Iter) Err() error { return it.err }

// Next returns the next value; false at the end or on an error.
func (it *Iter) Next() (uint64, bool) {
	if it.left == 0 && (it.after == 0 || !it.nextPart()) {
		return 0, false
	}
	var x uint64
	if it.rem0 > 0 {
		it.rem0--
		x = it.ring0[(it.pos0-it.d0)&it.mask0]
	} else if !it.refill(&x) {
		it.left, it.after = 0, 0
		return 0, false
	}
	it.ring0[it.pos0&it.mask0] = x
	it.pos0++
	it.left--
	if it.delta {
		it.prev += x>>1 ^ -(x & 1)
		x = it.prev
	}
	if it.words != nil {
		x = it.words.Word(x)
	}
	return x, true
}

// refill takes symbols from the level above until there is a value.
func (it *Iter) refill(x *uint64) bool {
	y, ok := it.symbol(1)
	if !ok {
		return false
	}
	if y.kind == 0 {
		it.makeRoom(1)
		*x = y.value
		return true
	}
	it.makeRoom(y.value)
	it.d0, it.rem0 = uint64(y.kind>>2), y.value-1
	if y.kind&3 != 1 || it.d0 > it.pos0 {
		return it.fail("repeat before the start")
	}
	*x = it.ring0[(it.pos0-it.d0)&it.mask0]
	return true
}

// symbol returns the next symbol that level l passes down.
func (it *Iter) symbol(l int) (symbol, bool) {
	if l == Levels {
		return it.decode()
	}
	u := &it.upper[l]
	if u.full == 0 {
		return it.symbol(l + 1)
	}
	var y symbol
	if u.rem > 0 {
		u.rem--
		y = u.ring[(u.pos-u.d)&uint64(len(u.ring)-1)]
	} else {
		var ok bool
		if y, ok = it.symbol(l + 1); !ok {
			return y, false
		}
		if y.kind != 0 && int(y.kind&3-1) == l {
			u.d, u.rem = uint64(y.kind>>2), y.value-1
			if u.d > u.pos {
				return y, it.fail("repeat before the start")
			}
			u.makeRoom(y.value)
			y = u.ring[(u.pos-u.d)&uint64(len(u.ring)-1)]
		} else {
			u.makeRoom(1)
		}
	}
	u.ring[u.pos&uint64(len(u.ring)-1)] = y
	u.pos++
	return y, true
}

func (it *Iter) decode() (symbol, bool) {
	y, size, err := decodeSymbol(it.code)
	if err != nil {
		return y, it.fail(fmt.Sprintf("%d values missing: %v", it.left, err))
	}
	it.code = it.code[size:]
	return y, true
}

func (it *Iter) fail(cause string) bool {
	if it.err == nil {
		it.err = fmt.Errorf("%w: %s", ErrBroken, cause)
	}
	return false
}

// At returns value i, counted from 0; false if there is none.
func (s *Seq) At(i uint64) (uint64, bool) {
	it := s.Iter()
	it.Skip(i)
	return it.Next()
}
