package efg

import (
	"fmt"
	"iter"

	"github.com/efg-tools/efg/efg/block"
)

// What follows takes sequences and processes apart and puts them together as a
// run file holds them, for package text.

// SeqForm says what a sequence's symbols hold.
type SeqForm uint8

const (
	SeqDelta    SeqForm = formDelta    // differences, zigzag
	SeqTokens   SeqForm = formWords    // tokens of words
	SeqRelative SeqForm = formRelative // ranks among the tokens are relative; with SeqTokens
)

func (f SeqForm) check() error {
	if f >= formLimit || f&SeqRelative != 0 && f&SeqTokens == 0 {
		return fmt.Errorf("%w: form %d", ErrSeq, f)
	}
	return nil
}

// Endless is the length of a repeat that goes on as long as its sequence.
const Endless = endless

// Symbol is a literal (Distance 0), with its value, or a repeat of Length symbols
// at a level.
type Symbol struct {
	Value            uint64
	Level            int
	Distance, Length uint64
}

// Form tells what the symbols hold.
func (s *Seq) Form() SeqForm { return SeqForm(s.form&^formDelta | uint8(block.Bit(s.delta))) }

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

// MakeSeq returns the sequence of n values with these symbols. One of tokens has
// values once its process was bound.
func MakeSeq(n uint64, form SeqForm, symbols []Symbol) (*Seq, error) {
	if err := form.check(); err != nil {
		return nil, err
	}
	var code []byte
	for _, y := range symbols {
		switch {
		case y.Distance == 0:
			code = appendSymbol(code, symbol{value: y.Value})
		case y.Level < 0 || y.Level >= SeqLevels || y.Distance >= uint64(packWindow[y.Level]):
			return nil, fmt.Errorf("%w: repeat of level %d and distance %d", ErrSeq, y.Level, y.Distance)
		case y.Length == 0 || y.Length > endless:
			return nil, fmt.Errorf("%w: repeat of %d symbols", ErrSeq, y.Length)
		default:
			code = appendSymbol(code, symbol{value: y.Length, kind: uint32(y.Distance)<<2 | uint32(y.Level+1)})
		}
	}
	s, err := NewSeq(n, form&SeqDelta != 0, code)
	if err == nil {
		s.form = uint8(form)
	}
	return s, err
}

// Parts are the parts of a long sequence of a run file, which has no symbols of
// its own; nil of others.
func (s *Seq) Parts() ([]*Seq, error) {
	var parts []*Seq
	for _, p := range s.parts {
		b, err := p.load()
		if err != nil {
			return nil, err
		}
		part := b.seq(p.n, nil)
		parts = append(parts, part)
	}
	return parts, nil
}

// MakeLongSeq returns the sequence of n values that are in parts. The form is
// that of the whole: parts may be of differences or not.
func MakeLongSeq(n uint64, form SeqForm, parts []*Seq) (*Seq, error) {
	if err := form.check(); err != nil {
		return nil, err
	}
	s := &Seq{n: n, delta: form&SeqDelta != 0, form: uint8(form)}
	left := n
	for i, p := range parts {
		if p.n == 0 || p.n > left || p.parts != nil {
			return nil, fmt.Errorf("%w: part %d has %d values of %d that are left", ErrSeq, i, p.n, left)
		}
		left -= p.n
		b := newBody(p.form&^formDelta|uint8(block.Bit(p.delta)), codeSymbols(p.code))
		s.parts = append(s.parts, seqPart{p.n, func() (*seqBody, error) { return b, nil }})
	}
	if left > 0 || s.parts == nil {
		return nil, fmt.Errorf("%w: %d values without a part", ErrSeq, left)
	}
	return s, nil
}

// Check goes through the first values of a sequence, at most so many that a
// small file cannot keep anybody busy, and returns the error that it meets.
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
	it.skip(checkLimit)
	return it.Err()
}

// Bind gives the sequences of tokens that MakeSeq made what the tokens refer to:
// definitions, threads, nodes and ranks of the process.
func (p *Process) Bind() {
	defs := newDefIndex(p.Defs)
	in := ranksOf(p.WorldRank(), p.Size, p.Defs)
	for i := range p.Streams {
		s := &p.Streams[i]
		for j := range s.Nodes {
			n := &s.Nodes[j]
			c := &wordContext{defs: defs, thread: s.Thread, node: uint32(j)}
			c.rank, c.size = in.in(n)
			for k := range n.Attrs {
				n.Attrs[k].Values.bind(c)
				n.Attrs[k].Elems.bind(c)
			}
		}
	}
}

// Identity is the word that follows from a definition's content. That of a
// definition that the recorder names in another way is not.
func (d *Def) Identity() uint64 { return derivedWord(d) }

// CheckDefs checks the rules of a process's definitions. It returns the number of
// the one at fault.
func CheckDefs(defs []Def) (int, error) {
	type key struct {
		kind DefKind
		word uint64
	}
	seen := make(map[key]bool, len(defs))
	for i, d := range defs {
		if d.Word>>62 != 0 && d.Kind != DefUnknown {
			return i, fmt.Errorf("word %#x is not an identity", d.Word)
		}
		k := key{d.Kind, d.Word}
		if seen[k] {
			return i, fmt.Errorf("second definition of %#x", d.Word)
		}
		seen[k] = true
	}
	return 0, nil
}

// Module is the callsite's module, as its definition has it, and the offset of
// the call in it; "" if the file does not tell.
func (s *Site) Module() (module string, offset uint64) { return s.ref.module, s.ref.offset }

// MakeSite returns the site of a call at an offset of a module.
func MakeSite(module string, offset uint64) Site {
	ref := siteRef{module, offset}
	return Site{Word: ref.word(), ref: ref}
}
