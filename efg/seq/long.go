package seq

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/efg-tools/efg/efg/block"
)

// Sequences that do not fold well are long. In a run file a long sequence is divided into
// parts, each in a block of its own, so that reading a few values does not require reading all
// of them.

// partCode is the size of the code of a part of a long sequence. A sequence with less is not
// divided.
const partCode = 16 << 10

// Part is a part of a long sequence: n values, read when needed.
type Part struct {
	n    uint64
	load func() (*Body, error)
}

// nextPart continues with the next part of a long sequence.
func (it *Iter) nextPart() bool {
	if len(it.parts) == 0 {
		it.after = 0
		return it.fail("parts end early")
	}
	p := it.parts[0]
	b, err := p.load()
	if err != nil {
		it.left, it.after = 0, 0
		if it.err == nil {
			it.err = err
		}
		return false
	}
	n := min(p.n, it.after)
	next := b.Seq(n, nil).Iter()
	if n == 0 || len(b.code) == 0 || b.parts != nil {
		it.left, it.after = 0, 0
		return it.fail("empty part")
	}
	next.after, next.parts, next.words = it.after-n, it.parts[1:], it.words
	*it = next
	return true
}

// partWriter folds values into one sequence or, if that is long, into parts.
type partWriter struct {
	delta bool
	now   *Writer
	done  []Part
	form  uint8
	size  int // of the parts' code
	sum   xxhash.Digest
}

func newPartWriter(delta bool, form uint8) *partWriter {
	f := &partWriter{delta: delta, form: form, now: NewWindowWriter(delta, PackWindow)}
	f.sum.Reset()
	return f
}

func (f *partWriter) push(v uint64) {
	f.now.Push(v)
	if len(f.now.code) >= partCode {
		f.cut()
	}
}

// cut ends the current part.
func (f *partWriter) cut() {
	b := f.body()
	f.done = append(f.done, Part{f.now.n, func() (*Body, error) { return b, nil }})
	f.size += len(b.code)
	f.sum.WriteString(b.Key)
	f.sum.Write(block.AppendU64(nil, f.now.n))
	f.now = NewWindowWriter(f.delta, PackWindow)
}

func (f *partWriter) body() *Body {
	s := f.now.Seq()
	return NewBody(f.form&^formDelta|uint8(block.Bit(f.delta)), codeSymbols(s.code))
}

// finish returns the body of all values, and the size of its code.
func (f *partWriter) finish() (*Body, int) {
	if len(f.done) == 0 {
		b := f.body()
		return b, len(b.code)
	}
	if f.now.n > 0 {
		f.cut()
	}
	first := f.sum.Sum64()
	f.sum.Write(block.AppendU64(nil, first))
	return longBody(f.form&^formDelta|uint8(block.Bit(f.delta)), f.done, [2]uint64{first, f.sum.Sum64()}), f.size
}

// longBody is a body in parts; sum distinguishes it from others.
func longBody(form uint8, parts []Part, sum [2]uint64) *Body {
	return &Body{form: form, parts: parts, sum: sum, Key: fmt.Sprintf("long %d %x", form, sum)}
}
