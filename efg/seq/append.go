package seq

import "fmt"

// First returns a sequence of the first n values whose code ends with them, so that values can
// be appended.
func (s *Seq) First(n uint64) (*Seq, error) {
	w := NewWriter(s.delta)
	it := s.Iter()
	for range n {
		v, ok := it.Next()
		if !ok {
			return nil, fmt.Errorf("%w: %d values, want %d", ErrBroken, w.Len(), n)
		}
		w.Push(v)
	}
	return w.Seq(), nil
}

// Plus returns the sequence, or none, with one more value, which must not be a
// difference, nor may the code hold more values than the sequence has: a literal at
// the end of the code stands for itself at all levels.
func (s *Seq) Plus(v uint64) *Seq {
	if s == nil {
		s = &Seq{}
	}
	code := appendSymbol(append([]byte(nil), s.code...), symbol{value: v})
	return &Seq{n: s.n + 1, code: code, reach: s.reach}
}
