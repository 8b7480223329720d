package seq

import (
	"fmt"
	"iter"

	"github.com/efg-tools/efg/efg/block"
)

// Form says what a sequence's symbols hold.
type Form uint8

const (
	Delta    Form = formDelta    // differences, zigzag
	OfTokens Form = formWords    // tokens of words
	Relative Form = formRelative // ranks among the tokens are relative; with OfTokens
)

func (f Form) check() error {
	if f >= formLimit || f&Relative != 0 && f&OfTokens == 0 {
		return fmt.Errorf("%w: form %d", ErrBroken, f)
	}
	return nil
}

// Endless is the length of a repeat that continues to the end of its sequence.
const Endless = endless

// Symbol is a literal (Distance 0), with its value, or a repeat of Length symbols
// at a level.
type Symbol struct {
	Value            uint64
	Level            int
	Distance, Length uint64
}

// Form says what the symbols hold.
func (s *Seq) Form() Form { return Form(s.form&^formDelta | uint8(block.Bit(s.delta))) }

// Symbols are the symbols of the code.
func (s *Seq) Symbols() iter.Seq[Symbol] {
	return func(yield func(Symbol) bool) {
		for _, y := range codeSymbols(s.code) {
			out := Symbol{Value: y.value}
			if y.kind != 0 {
				out = Symbol{Level: int(y.kind&3) - 1, Distance: uint64(y.kind >> 2), Length: y.value}
			}
			if !yield(out) {
				return
			}
		}
	}
}

// Make returns the sequence of n values with these symbols. A sequence of tokens has values
// only after it was bound to its process.
func Make(n uint64, form Form, symbols []Symbol) (*Seq, error) {
	if err := form.check(); err != nil {
		return nil, err
	}
	var code []byte
	for _, y := range symbols {
		switch {
		case y.Distance == 0:
			code = appendSymbol(code, symbol{value: y.Value})
		case y.Level < 0 || y.Level >= Levels || y.Distance >= uint64(PackWindow[y.Level]):
			return nil, fmt.Errorf("%w: repeat of level %d and distance %d", ErrBroken, y.Level, y.Distance)
		case y.Length == 0 || y.Length > endless:
			return nil, fmt.Errorf("%w: repeat of %d symbols", ErrBroken, y.Length)
		default:
			code = appendSymbol(code, symbol{value: y.Length, kind: uint32(y.Distance)<<2 | uint32(y.Level+1)})
		}
	}
	s, err := New(n, form&Delta != 0, code)
	if err == nil {
		s.form = uint8(form)
	}
	return s, err
}

// Parts returns the parts of a long sequence of a run file, which has no symbols of its own;
// nil for others.
func (s *Seq) Parts() ([]*Seq, error) {
	var parts []*Seq
	for _, p := range s.parts {
		b, err := p.load()
		if err != nil {
			return nil, err
		}
		part := b.Seq(p.n, nil)
		parts = append(parts, part)
	}
	return parts, nil
}

// MakeLong returns the sequence of n values in parts. The form is that of the whole: parts may
// or may not hold differences.
func MakeLong(n uint64, form Form, parts []*Seq) (*Seq, error) {
	if err := form.check(); err != nil {
		return nil, err
	}
	s := &Seq{n: n, delta: form&Delta != 0, form: uint8(form)}
	left := n
	for i, p := range parts {
		if p.n == 0 || p.n > left || p.parts != nil {
			return nil, fmt.Errorf("%w: part %d has %d values of %d that are left", ErrBroken, i, p.n, left)
		}
		left -= p.n
		b := NewBody(p.form&^formDelta|uint8(block.Bit(p.delta)), codeSymbols(p.code))
		s.parts = append(s.parts, Part{p.n, func() (*Body, error) { return b, nil }})
	}
	if left > 0 || s.parts == nil {
		return nil, fmt.Errorf("%w: %d values without a part", ErrBroken, left)
	}
	return s, nil
}

// CheckLimit is the number of values of a sequence that are read to check it. Sequences expand
// without bound, so a small file can hold more than can be read; Stream.Verify reads them all.
const CheckLimit = 1 << 22

// Check reads the first values of a sequence, but not so many that a small file could keep a
// reader busy, and returns the error that it finds.
func (s *Seq) Check() error {
	parts, err := s.Parts()
	for _, p := range parts {
		if err := p.Check(); err != nil {
			return err
		}
	}
	if parts != nil || err != nil {
		return err
	}
	it := s.Iter()
	it.Skip(CheckLimit)
	return it.Err()
}
