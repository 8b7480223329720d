package seq

import (
	"math"
	"slices"
	"unsafe"

	"github.com/efg-tools/efg/efg/block"
)

// Sequences are folded again when they are packed: with wider windows than a recorder can
// afford, and with their values as tokens if that makes ranks and nodes alike.

var PackWindow = [Levels]uint32{4096, 256, 256}

// Sequences of up to refoldLimit values are always folded again. Longer ones are if they have
// fewer than refoldRatio values per byte; the others are folded well enough.
const (
	refoldLimit = 1 << 22
	refoldRatio = 64
)

// Forms of a packed sequence: bit 0 says that it holds differences.
const (
	formDelta    = 1
	formWords    = 2 // values are tokens
	formRelative = 4 // ranks among them are relative; with formWords
	formLimit    = 8
)

// Body is a folded sequence without its length. A repeat at its end continues to the end of the
// sequence; its length is 0 here.
type Body struct {
	form uint8
	syms []symbol
	Key  string
	// the code of all sequences with this body
	code  []byte
	reach [Levels]uint32
	// parts of a long sequence, in place of symbols and code; sum distinguishes it from others.
	parts []Part
	sum   [2]uint64
	block int // number of the first part's block among those of parts, when it is written
}

const endless = uint64(math.MaxUint64 >> 1)

func NewBody(form uint8, syms []symbol) *Body {
	b := &Body{form: form, syms: syms}
	if n := len(syms); n > 0 && syms[n-1].kind != 0 {
		syms[n-1].value = 0
	}
	key := []byte{form}
	for _, y := range syms {
		key = appendSymbol(key, y)
		if y.kind != 0 {
			level := y.kind&3 - 1
			b.reach[level] = max(b.reach[level], y.kind>>2)
			if y.value == 0 {
				y.value = endless
			}
		}
		b.code = appendSymbol(b.code, y)
	}
	b.Key = string(key)
	return b
}

// bodyOf returns the body of a sequence that has no parts, unchanged.
func bodyOf(s *Seq) *Body {
	return NewBody(s.form&^formDelta|uint8(block.Bit(s.delta)), codeSymbols(s.code))
}

// SmallerBody returns the body of the shorter one of two sequences of the same values.
func SmallerBody(raw, delta *Writer) *Body {
	r, d := raw.Seq(), delta.Seq()
	if len(d.code) < len(r.code) {
		return bodyOf(d)
	}
	return bodyOf(r)
}

// Constant reports whether the sequence repeats one value.
func (b *Body) Constant() bool {
	return len(b.syms) == 2 && b.form == 0 && b.syms[1].kind == 1<<2|1 && b.syms[1].value == 0
}

// Relative reports whether ranks among the values are relative.
func (b *Body) Relative() bool {
	return b.form&(formWords|formRelative) == formWords|formRelative
}

// TokenForms are the bits of a form that say how to read values.
const TokenForms = formWords | formRelative

// Form says how to read the values: as they are, or as tokens, possibly relative ones.
func (b *Body) Form() uint8 { return b.form & TokenForms }

// FormOf is the form of the body of a sequence.
func FormOf(s *Seq) uint8 { return s.form & TokenForms }

// Fold returns the body of values that have a form, as Pack folds them.
func Fold(values []uint64, form uint8) *Body {
	raw, delta := newPartWriter(false, form), newPartWriter(true, form)
	for _, v := range values {
		raw.push(v)
		delta.push(v)
	}
	return smaller(raw, delta)
}

// Size is the number of bytes of the body in a block before compression.
func (b *Body) Size() int { return len(b.Key) }

// Memory is the approximate number of bytes of the body in memory.
func (b *Body) Memory() int {
	return int(unsafe.Sizeof(*b)) + int(unsafe.Sizeof(symbol{}))*len(b.syms) + len(b.Key) + len(b.code)
}

// PartBlocks lists the numbers of the blocks with the parts of a long sequence.
func (b *Body) PartBlocks() []int {
	list := make([]int, len(b.parts))
	for i := range list {
		list[i] = b.block + i
	}
	return list
}

// WriteParts calls store to write the parts of a long sequence, which it numbers consecutively;
// it writes all of them, and returns the first error.
func (b *Body) WriteParts(store func(*Body) (int, error)) (first error) {
	for i, p := range b.parts {
		body, err := p.load()
		n := 0
		if err == nil {
			n, err = store(body)
		}
		if first == nil {
			first = err
		}
		if i == 0 {
			b.block = n
		}
	}
	return first
}

// Seq returns the sequence of n values with this body.
func (b *Body) Seq(n uint64, words Tokens) *Seq {
	s := &Seq{n: n, delta: b.form&formDelta != 0, code: b.code, reach: b.reach, form: b.form, parts: b.parts}
	if b.form&formWords != 0 {
		s.words = words
	}
	return s
}

// Pack returns the body of s. c, if not nil, says how values become tokens; relative requests
// ranks relative to the process's own.
func Pack(s *Seq, c Tokens, relative bool) *Body {
	if s.parts == nil && s.n > refoldLimit && s.n/refoldRatio > uint64(len(s.code)) && len(s.code) < partCode {
		return bodyOf(s)
	}
	form := packForm(s, c, relative)
	raw, delta := newPartWriter(false, form), newPartWriter(true, form)
	if s.n > refoldLimit { // as recorded, or as packed before
		if s.delta && form == 0 {
			raw = nil
		} else {
			delta = nil
		}
	}
	it := s.Iter()
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		if form&formWords != 0 {
			v = tokenOf(v, c, form&formRelative != 0)
		}
		if raw != nil {
			raw.push(v)
		}
		if delta != nil {
			delta.push(v)
		}
	}
	return smaller(raw, delta)
}

// smaller returns the body of the way of folding that yields less code.
func smaller(raw, delta *partWriter) *Body {
	if raw == nil {
		b, _ := delta.finish()
		return b
	}
	r, size := raw.finish()
	if delta != nil {
		if d, less := delta.finish(); less < size {
			return d
		}
	}
	return r
}

// packForm decides whether the values of s become tokens: if some are ids or
// constants, and if they are ranks.
func packForm(s *Seq, c Tokens, relative bool) uint8 {
	if c == nil {
		return 0
	}
	special, ranks := false, relative && c.HasRanks()
	it := s.Iter()
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		t, ok := c.Token(v)
		if !ok {
			return 0
		}
		special = special || !c.IsNumber(t) || int64(v) < 0
	}
	switch {
	case ranks:
		return formWords | formRelative
	case special:
		return formWords
	}
	return 0
}

func tokenOf(v uint64, c Tokens, relative bool) uint64 {
	if relative {
		if t, ok := c.Relative(v); ok {
			return t
		}
	}
	t, _ := c.Token(v)
	return t
}

func codeSymbols(code []byte) []symbol {
	var syms []symbol
	for len(code) > 0 {
		y, n, err := decodeSymbol(code)
		if err != nil {
			panic("seq: sequence with bad code: " + err.Error()) // New has checked it
		}
		code = code[n:]
		syms = append(syms, y)
	}
	return syms
}

// Columns of a body, from its first on.
const (
	bodyForm    = iota
	bodyKind    // of a symbol: 0 literal, level+1, or bodyEnd, or bodyOpen+level
	bodyLiteral // of sequences of values
	bodyDelta   // of sequences of differences
	bodyDistance
	bodyLength
	BodyColumns // number of these columns
)

const (
	bodyEnd  = 4
	bodyOpen = 5 // a repeat that ends the sequence
	bodyLong = bodyOpen + Levels
)

// PutBody appends a body to the columns of s from first on.
func PutBody(s *block.Columns, first int, b *Body) {
	s.Put(first+bodyForm, uint64(b.form))
	literal := first + bodyLiteral + int(b.form&formDelta)
	if b.parts != nil {
		s.Put(first+bodyKind, bodyLong)
		s.Put(first+bodyDistance, uint64(len(b.parts)))
		for _, p := range b.parts {
			s.Put(first+bodyLength, p.n)
		}
		for _, v := range []uint64{uint64(b.block), b.sum[0], b.sum[1]} {
			s.Put(first+bodyLiteral, v)
		}
		return
	}
	for _, y := range b.syms {
		switch {
		case y.kind == 0:
			s.Put(first+bodyKind, 0)
			s.Put(literal, y.value)
			continue
		case y.value == 0:
			s.Put(first+bodyKind, bodyOpen+uint64(y.kind&3-1))
			s.Put(first+bodyDistance, uint64(y.kind>>2))
			return
		}
		s.Put(first+bodyKind, uint64(y.kind&3))
		s.Put(first+bodyDistance, uint64(y.kind>>2))
		s.Put(first+bodyLength, y.value)
	}
	s.Put(first+bodyKind, bodyEnd)
}

// LoadPart reads a part of a long sequence by its number.
type LoadPart func(n uint64) (*Body, error)

// TakeBody reads a body from the columns of b from first on. load reads parts of long
// sequences; it is nil where there can be none.
func TakeBody(b *block.Block, first int, load LoadPart) *Body {
	form := uint8(b.Below(first+bodyForm, formLimit, "form of a sequence"))
	literal := first + bodyLiteral + int(form&formDelta)
	var syms []symbol
	for b.Err == nil {
		k := b.Below(first+bodyKind, bodyLong+1, "kind of a symbol")
		if k == bodyLong && len(syms) == 0 {
			return takeLongBody(b, first, form, load)
		}
		if k == bodyLong {
			b.Failf("a long sequence within another")
			break
		}
		if k == bodyEnd {
			break
		}
		if k == 0 {
			syms = append(syms, symbol{value: b.Get(literal)})
			continue
		}
		open := k >= bodyOpen
		if open {
			k -= bodyOpen - 1
		}
		d := b.Below(first+bodyDistance, uint64(PackWindow[k-1]), "distance")
		y := symbol{kind: uint32(d)<<2 | uint32(k)}
		if d == 0 {
			b.Failf("distance 0")
		}
		if !open {
			if y.value = b.Get(first + bodyLength); y.value == 0 || y.value > endless {
				b.Failf("repeat of %d symbols", y.value)
			}
		}
		syms = append(syms, y)
		if open {
			break
		}
	}
	return NewBody(form, slices.Clip(syms))
}

// takeLongBody reads a body in parts from the columns from first on.
func takeLongBody(b *block.Block, first int, form uint8, load LoadPart) *Body {
	parts := make([]Part, b.Count(first+bodyDistance, first+bodyLength, "parts"))
	for i := range parts {
		if parts[i].n = b.Get(first + bodyLength); parts[i].n == 0 {
			b.Failf("an empty part")
		}
	}
	at, sum := b.Get(first+bodyLiteral), [2]uint64{b.Get(first + bodyLiteral), b.Get(first + bodyLiteral)}
	if load == nil || len(parts) == 0 || at > 1<<40 {
		b.Failf("a long sequence out of place")
		return NewBody(form, nil)
	}
	for i := range parts {
		parts[i].load = func() (*Body, error) { return load(at + uint64(i)) }
	}
	body := longBody(form, parts, sum)
	body.block = int(at)
	return body
}
