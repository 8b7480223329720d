package efg

import (
	"encoding/binary"
	"fmt"
)

// AppendTo appends the sequence's stored form: the number of values times two
// plus the delta flag, the length of the code, and the code.
func (s *Seq) AppendTo(b []byte) []byte {
	flag := uint64(0)
	if s.delta {
		flag = 1
	}
	b = binary.AppendUvarint(b, s.n<<1|flag)
	b = binary.AppendUvarint(b, uint64(len(s.code)))
	return append(b, s.code...)
}

// DecodeSeq reads what AppendTo wrote from the front of b and returns the rest.
// The sequence keeps its part of b.
func DecodeSeq(b []byte) (s *Seq, rest []byte, err error) {
	head, n1 := binary.Uvarint(b)
	if n1 <= 0 {
		return nil, b, fmt.Errorf("%w: no length", ErrSeq)
	}
	size, n2 := binary.Uvarint(b[n1:])
	if n2 <= 0 {
		return nil, b, fmt.Errorf("%w: no size", ErrSeq)
	}
	b = b[n1+n2:]
	if size > uint64(len(b)) {
		return nil, b, fmt.Errorf("%w: %d bytes of code, %d left", ErrSeq, size, len(b))
	}
	s, err = NewSeq(head>>1, head&1 != 0, b[:size:size])
	return s, b[size:], err
}

// first returns a sequence of the first n values whose code ends with them, so
// that it can be added to.
func (s *Seq) first(n uint64) (*Seq, error) {
	w := NewSeqWriter(s.delta)
	it := s.Iter()
	for range n {
		v, ok := it.Next()
		if !ok {
			return nil, fmt.Errorf("%w: %d values, want %d", ErrSeq, w.Len(), n)
		}
		w.Push(v)
	}
	return w.Seq(), nil
}

// plus returns the sequence, or none, with one more value, which must not be a
// difference, nor may the code hold more values than the sequence has: a literal at the end of the code stands for itself at all levels.
func (s *Seq) plus(v uint64) *Seq {
	if s == nil {
		s = &Seq{}
	}
	code := appendSymbol(append([]byte(nil), s.code...), symbol{value: v})
	return &Seq{n: s.n + 1, code: code, reach: s.reach}
}
