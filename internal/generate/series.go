package generate

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg/seq"
)

// maxSeries bounds the values of a series that has no pattern.
const maxSeries = 1 << 20

// run is a part of a series: Count values, each Step more than the one before. If Count is 0, the
// Back runs before are repeated Times times more.
type run struct {
	Value       uint64
	Step        int64
	Count       uint64
	Back, Times uint64
}

// series are the values of a word that varies, in the order of the visits.
type series []run

// readSeries reads a sequence; convert maps its values.
func readSeries(s *seq.Seq, convert func(uint64) (uint64, error)) (series, error) {
	var out series
	it := s.Iter()
	read := func(n uint64) (series, error) {
		var part series
		for range n {
			v, ok := it.Next()
			if !ok {
				if err := it.Err(); err != nil {
					return nil, err
				}
				break
			}
			w, err := convert(v)
			if err != nil {
				return nil, err
			}
			part = part.add(w)
		}
		return part, nil
	}
	for it.Left() > 0 {
		period, room := it.Periodic()
		n := uint64(1)
		if period > 0 {
			n = min(period, it.Left())
		}
		part, err := read(n)
		if err != nil {
			return nil, err
		}
		repeats := uint64(0)
		if period > 0 && room/period > 1 {
			repeats = room/period - 1
			it.Pass(repeats * period)
		}
		out = out.join(part, repeats)
		if len(out) > maxSeries {
			return nil, fmt.Errorf("takes more than %d values without a pattern", maxSeries)
		}
	}
	return out.fold(), nil
}

// add appends a value.
func (s series) add(v uint64) series {
	if len(s) > 0 {
		switch r := &s[len(s)-1]; {
		case r.Count == 0:
		case r.Count == 1 && !special(r.Value) && !special(v):
			if step := int64(v - r.Value); step == 0 || len(s) == 1 || step == 1 || step == -1 {
				r.Step, r.Count = step, 2
				return s
			}
		case v == r.Value+uint64(r.Step)*r.Count && (r.Step == 0 || !special(v)):
			r.Count++
			return s
		case r.Count == 1 && r.Value == v:
			r.Count = 2
			return s
		}
	}
	return append(s, run{Value: v, Count: 1})
}

// special reports whether a word is a constant's, which is no number.
func special(w uint64) bool { return w>>62 == 2 }

// join appends a part that occurs repeats times more.
func (s series) join(part series, repeats uint64) series {
	if len(part) == 1 && part[0].Step == 0 {
		part[0].Count *= repeats + 1
		repeats = 0
	}
	for _, r := range part {
		if n := len(s); n > 0 && r.Step == 0 && s[n-1].Count > 0 && s[n-1].Step == 0 && s[n-1].Value == r.Value && repeats == 0 {
			s[n-1].Count += r.Count
			continue
		}
		if r.Count == 1 && repeats == 0 {
			s = s.add(r.Value)
			continue
		}
		s = append(s, r)
	}
	if repeats > 0 {
		s = append(s, run{Back: uint64(len(part)), Times: repeats})
	}
	return s
}

// maxBack is the number of runs that can be repeated together.
const maxBack = 64

// fold replaces runs that recur one after another, except those that a repeat refers to: repeats
// do not nest.
func (s series) fold() series {
	repeated := make([]bool, len(s))
	for i, r := range s {
		for k := i - int(r.Back); r.Count == 0 && k <= i; k++ {
			repeated[k] = true
		}
	}
	var out series
	for i := 0; i < len(s); {
		back, times := s.repeats(i, repeated)
		if times == 0 || back*times < 3 {
			out = append(out, s[i])
			i++
			continue
		}
		out = append(out, s[i:i+back]...)
		out = append(out, run{Back: uint64(back), Times: uint64(times)})
		i += back * (times + 1)
	}
	return out
}

// repeats finds runs from i on that recur: how many, and how often.
func (s series) repeats(i int, repeated []bool) (back, times int) {
	for n := 1; n <= maxBack && i+2*n <= len(s); n++ {
		if slices.Contains(repeated[i:i+n], true) {
			break
		}
		k := 0
		for j := i + n; j+n <= len(s) && slices.Equal(s[i:i+n], s[j:j+n]) && !slices.Contains(repeated[j:j+n], true); j += n {
			k++
		}
		if k*n > back*times {
			back, times = n, k
		}
	}
	return back, times
}

// repeated reports for each run whether a repeat goes back to it.
func (s series) repeated() []bool {
	list := make([]bool, len(s))
	for i, r := range s {
		if r.Count == 0 {
			list[i-int(r.Back)] = true
		}
	}
	return list
}

// maxListed is the number of values that are listed where a run of them takes no less space.
const maxListed = 3

// listed is the number of runs from i on whose values are best written as a list: few each, and
// with no repeat that goes back to one of them but the first. 0: the run is no such one.
func (s series) listed(i int, repeated []bool) int {
	n := 0
	for k := i; k < len(s) && s[k].Count > 0 && s[k].Count <= maxListed && (k == i || !repeated[k]); k++ {
		n++
	}
	return n
}

// constant returns the one value of a series.
func (s series) constant() (uint64, bool) {
	if len(s) != 1 || s[0].Step != 0 && s[0].Count > 1 {
		return 0, false
	}
	return s[0].Value, true
}

// each calls f for every distinct value, possibly several times.
func (s series) each(f func(uint64)) {
	for _, r := range s {
		if r.Step == 0 && r.Count > 0 {
			f(r.Value)
			continue
		}
		for k := range r.Count {
			f(r.Value + k*uint64(r.Step))
		}
	}
}

// mapped returns the series with other values.
func (s series) mapped(f func(uint64) (uint64, error)) (series, error) {
	var out series
	for _, r := range s {
		switch {
		case r.Count == 0:
			out = append(out, r)
			continue
		case r.Step == 0:
			v, err := f(r.Value)
			if err != nil {
				return nil, err
			}
			out = append(out, run{Value: v, Count: r.Count})
			continue
		}
		first, err := f(r.Value)
		if err != nil {
			return nil, err
		}
		next, err := f(r.Value + uint64(r.Step))
		if err != nil {
			return nil, err
		}
		last, err := f(r.Value + (r.Count-1)*uint64(r.Step))
		if err != nil {
			return nil, err
		}
		if last != first+(r.Count-1)*(next-first) {
			return nil, fmt.Errorf("handles without order")
		}
		out = append(out, run{Value: first, Step: int64(next - first), Count: r.Count})
	}
	return out, nil
}

// readAll is readSeries without skipping repeats: convert is called for every value.
func readAll(s *seq.Seq, convert func(uint64) (uint64, error)) (series, error) {
	if s.Len() > maxSeries {
		return nil, fmt.Errorf("takes %d values", s.Len())
	}
	var out series
	it := s.Iter()
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		w, err := convert(v)
		if err != nil {
			return nil, err
		}
		out = out.add(w)
	}
	return out.fold(), it.Err()
}

// filtered returns the values that keep accepts.
func (s series) filtered(keep func(uint64, bool) (uint64, bool)) series {
	var out series
	for _, v := range s.expand() {
		if w, ok := keep(v, true); ok {
			out = out.add(w)
		}
	}
	return out.fold()
}

// expand returns all values.
func (s series) expand() []uint64 {
	var out []uint64
	starts := make([]int, 0, len(s)+1)
	for i, r := range s {
		starts = append(starts, len(out))
		if r.Count == 0 {
			part := slices.Clone(out[starts[i-int(r.Back)]:])
			for range r.Times {
				out = append(out, part...)
			}
			continue
		}
		for k := range r.Count {
			out = append(out, r.Value+k*uint64(r.Step))
		}
	}
	return out
}

// mappedEach is mapped for values without order.
func (s series) mappedEach(f func(uint64) (uint64, error)) (series, error) {
	if w, ok := s.constant(); ok {
		v, err := f(w)
		return series{{Value: v, Count: s[0].Count}}, err
	}
	var out series
	for _, w := range s.expand() {
		v, err := f(w)
		if err != nil {
			return nil, err
		}
		out = out.add(v)
	}
	return out.fold(), nil
}
