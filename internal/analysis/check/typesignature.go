package check

import (
	"math"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// The type signature of data is the sequence of the basic datatypes of their elements,
// regardless of where they are in memory. Two amounts of data of collectives must have equal
// signatures; that of a message must be a prefix of that of its receive.

// typeSignature is the signature of one element of a datatype: a unit repeated a number of
// times.
type typeSignature struct {
	unit   []basicRun
	size   uint64 // basic datatypes in the unit
	repeat uint64
	key    uint64   // of the unit; 0 if it is unknown, or matches all others
	whole  sequence // of the whole element
}

// basicRun is a run of equal basic datatypes.
type basicRun struct{ word, count uint64 }

// maxBasics bounds the pieces of a signature, and the datatypes that one is made of.
const maxBasics = 1 << 12

// maxRepeat limits the repetitions of a unit in an element: a file can claim any number.
const maxRepeat = 1 << 31

// open reports whether the datatype is unknown, or matches all others.
func (s *typeSignature) open() bool { return s.key == 0 }

// elements is the number of basic datatypes in count elements.
func (s *typeSignature) elements(count uint64) uint64 { return s.size * s.repeat * count }

// unknown is the signature of datatypes without description, and of those that match all
// others.
var unknown = &typeSignature{}

// newSignature makes the signature of a list of pieces.
func newSignature(list []basicRun, repeat uint64) *typeSignature {
	list, repeat = reduce(list, repeat)
	s := &typeSignature{unit: list, repeat: repeat}
	var words []uint64
	var unit sequence
	for _, b := range list {
		if b.word == signature.TypeByte || b.word == signature.TypePacked {
			return unknown
		}
		s.size += b.count
		words = append(words, b.word, b.count)
		unit = unit.then(single(signature.Hash(b.word)).times(b.count))
	}
	s.whole, s.key = unit.times(repeat), signature.Hash(words...)
	return s
}

// reduce returns the shortest unit that, repeated, makes a list of pieces.
func reduce(list []basicRun, repeat uint64) ([]basicRun, uint64) {
	if len(list) == 1 {
		return []basicRun{{list[0].word, 1}}, repeat * list[0].count
	}
	for n := 1; n <= len(list)/2; n++ {
		if len(list)%n == 0 && slices.Equal(list[n:], list[:len(list)-n]) {
			return list[:n], repeat * uint64(len(list)/n)
		}
	}
	return list, repeat
}

// signatureFinder finds the signatures of the datatypes of a process.
type signatureFinder struct {
	p     *analysis.Process
	known map[uint64]*typeSignature
	depth int
}

func newSigner(p *analysis.Process) *signatureFinder {
	return &signatureFinder{p: p, known: map[uint64]*typeSignature{}}
}

// of returns the signature of a datatype.
func (x *signatureFinder) of(word uint64) *typeSignature {
	s, ok := x.known[word]
	if !ok {
		x.known[word] = unknown // a datatype that is made of itself
		s = x.find(word)
		x.known[word] = s
	}
	return s
}

func (x *signatureFinder) find(word uint64) *typeSignature {
	if k, ok := signature.ConstNumber(word); ok {
		var list []basicRun
		if c := signature.ConstantByID(k); c != nil {
			for _, b := range c.Basics() {
				list = appendPiece(list, basicRun{b.Word(), 1})
			}
		}
		return made(list)
	}
	def := x.p.TypeDef(word)
	if def == nil || x.depth > maxBasics {
		return unknown
	}
	x.depth++
	defer func() { x.depth-- }()
	t, ok := def.Datatype()
	if !ok {
		return unknown
	}
	if list, ok := x.members(&t); ok {
		return made(list)
	}
	return x.copies(&t)
}

func made(list []basicRun) *typeSignature {
	if len(list) == 0 {
		return unknown
	}
	return newSignature(list, 1)
}

// appendPiece adds a piece to a list.
func appendPiece(list []basicRun, b basicRun) []basicRun {
	if n := len(list); n > 0 && list[n-1].word == b.word {
		list[n-1].count += b.count
		return list
	}
	return append(list, b)
}

var (
	wordStruct     = signature.ConstWord("MPI_COMBINER_STRUCT")
	wordValueIndex = signature.ConstWord("MPI_COMBINER_VALUE_INDEX")
)

// members are the pieces of a datatype with members of several datatypes; false if it has none,
// or if they are unknown.
func (x *signatureFinder) members(of *efg.Datatype) (list []basicRun, ok bool) {
	lengths := of.Integers
	switch {
	case of.Combiner == wordValueIndex:
		lengths = []uint64{2, 1, 1}
	case of.Combiner != wordStruct:
		return nil, false
	case len(lengths) == 0: // the constructor with large counts
		lengths = of.Counts
	}
	if len(lengths) < 1+len(of.Types) {
		return nil, false
	}
	for i, t := range of.Types {
		n := lengths[1+i]
		size, known := x.p.TypeBytes(t)
		if n == 0 || known && size == 0 {
			continue
		}
		if list, ok = x.of(t).appendTo(list, n); !ok {
			return nil, false
		}
	}
	return list, true
}

// appendTo adds the pieces of some elements to a list; false if they are too many or unknown.
func (s *typeSignature) appendTo(list []basicRun, times uint64) ([]basicRun, bool) {
	if s.open() || times > maxRepeat || s.repeat*times > maxRepeat {
		return nil, false
	}
	if times *= s.repeat; len(s.unit) == 1 {
		return appendPiece(list, basicRun{s.unit[0].word, s.unit[0].count * times}), true
	}
	if times > maxBasics || len(list)+int(times)*len(s.unit) > maxBasics {
		return nil, false
	}
	for range times {
		for _, b := range s.unit {
			list = appendPiece(list, b)
		}
	}
	return list, true
}

// copies is the signature of a datatype that consists of elements of another one.
func (x *signatureFinder) copies(of *efg.Datatype) *typeSignature {
	size, ok := x.p.TypeBytes(of.Types[0])
	if len(of.Types) != 1 || !ok || size == 0 || of.Size == 0 || of.Size%size != 0 {
		return unknown
	}
	s := x.of(of.Types[0])
	if s.open() || of.Size/size > maxRepeat || s.repeat*(of.Size/size) > maxRepeat {
		return unknown
	}
	return newSignature(s.unit, s.repeat*(of.Size/size))
}

// agrees reports whether the first n basic datatypes of units that are repeated are equal. Two
// such sequences that are equal for the length of both units together are equal throughout.
func (s *typeSignature) agrees(o *typeSignature, n uint64) bool {
	if s.key == o.key || s.open() || o.open() {
		return true
	}
	n = min(n, s.size+o.size)
	a, b := pieceCursor{list: s.unit}, pieceCursor{list: o.unit}
	for n > 0 {
		x, y := a.next(), b.next()
		if x.word != y.word {
			return false
		}
		step := min(x.count, y.count, n)
		a.skip(step)
		b.skip(step)
		n -= step
	}
	return true
}

// pieceCursor iterates over the pieces of a unit, repeatedly.
type pieceCursor struct {
	list []basicRun
	at   int
	used uint64
}

func (p *pieceCursor) next() basicRun {
	b := p.list[p.at]
	if len(p.list) == 1 {
		return basicRun{b.word, math.MaxUint64}
	}
	return basicRun{b.word, b.count - p.used}
}

func (p *pieceCursor) skip(n uint64) {
	if p.used += n; len(p.list) > 1 && p.used == p.list[p.at].count {
		p.at, p.used = (p.at+1)%len(p.list), 0
	}
}
