package generate

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// value is what a word holds, over all visits of its node.
type value struct {
	// series are words or, of arrays, numbers of vecs; constant words stand for themselves.
	series series
	vecs   [][]uint64
}

// constant is the one word of a value that does not vary; not that of an array.
func (v *value) constant() (uint64, bool) {
	w, ok := v.series.constant()
	if ok && v.vecs != nil && !special(w) {
		return 0, false
	}
	return w, ok
}

// vec is the one array of a value that does not vary.
func (v *value) vec() ([]uint64, bool) {
	w, ok := v.series.constant()
	if !ok || v.vecs == nil || special(w) {
		return nil, false
	}
	return v.vecs[w], true
}

func (v *value) equal(o *value) bool {
	return slices.Equal(v.series, o.series) && slices.EqualFunc(v.vecs, o.vecs, slices.Equal)
}

// each calls f for every distinct word, or element of an array, possibly several times.
func (v *value) each(f func(uint64)) {
	for _, e := range v.vecs {
		for _, w := range e {
			f(w)
		}
	}
	v.series.each(func(w uint64) {
		if v.vecs == nil || special(w) {
			f(w)
		}
	})
}

// mapped returns the value with other words.
func (v *value) mapped(f func(uint64) (uint64, error)) (value, error) {
	out := *v
	if v.vecs == nil {
		var err error
		out.series, err = v.series.mapped(f)
		return out, err
	}
	out.vecs = make([][]uint64, len(v.vecs))
	for i, e := range v.vecs {
		out.vecs[i] = make([]uint64, len(e))
		for k, w := range e {
			var err error
			if out.vecs[i][k], err = f(w); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// largest is the largest number among the words, 0 if there is none.
func (v *value) largest() int64 {
	most := int64(0)
	v.each(func(w uint64) {
		if !special(w) {
			most = max(most, int64(w))
		}
	})
	return most
}

// valueReader reads the values of a process's nodes.
type valueReader struct {
	data *efg.Process
	vecs map[uint64][]uint64
}

func newValueReader(p *efg.Process) *valueReader {
	r := &valueReader{data: p, vecs: map[uint64][]uint64{}}
	for i := range p.Defs {
		if d := &p.Defs[i]; d.Kind == efg.DefVec {
			r.vecs[d.Word] = d.Words
		}
	}
	return r
}

// values reads all words of a node.
func (r *valueReader) values(n *efg.Node) ([]value, error) {
	h := signature.Header(n.Words[0])
	out := make([]value, len(n.Words))
	for i, w := range n.Words {
		if n.Mask>>i&1 == 0 {
			out[i] = r.fixed(h, i, w)
		}
	}
	if p := signature.ProcByID(h.Proc()); p != nil && p.Poll && n.Mask>>p.PollWord()&1 != 0 {
		return out, r.successful(n, p.PollWord(), out)
	}
	for k := range n.Attrs {
		i := word(n.Mask, k)
		var err error
		if h.Form(i) == signature.VecForm {
			out[i], err = r.arrays(&n.Attrs[k])
		} else {
			out[i].series, err = readSeries(n.Attrs[k].Values, func(v uint64) (uint64, error) { return r.data.AttrWord(n, i, v), nil })
		}
		if err != nil {
			return nil, wordError(h, i, err)
		}
	}
	return out, nil
}

// word is the word of attribute stream k.
func word(mask uint64, k int) int {
	for range k {
		mask &= mask - 1
	}
	return bits.TrailingZeros64(mask)
}

func wordError(h signature.Header, i int, err error) error {
	p := signature.ProcByID(h.Proc())
	if p == nil || i >= len(p.Words) {
		return err
	}
	return fmt.Errorf("%s: argument %s: %w", p.Name, p.Words[i].Name, err)
}

func (r *valueReader) fixed(h signature.Header, i int, w uint64) value {
	v := value{series: series{{Value: w, Count: 1}}}
	if h.Form(i) == signature.VecForm && !signature.IsConst(w) {
		v.vecs = [][]uint64{r.vecs[w]}
		v.series[0].Value = 0
	}
	return v
}

// vecTable numbers the distinct arrays of a word.
type vecTable struct {
	value
	index map[uint64]int
}

func (t *vecTable) number(e []uint64) uint64 {
	h := signature.Hash(e...)
	i, ok := t.index[h]
	if !ok {
		i = len(t.vecs)
		t.index[h] = i
		t.vecs = append(t.vecs, slices.Clone(e))
	}
	return uint64(i)
}

// arrays reads the arrays of an attribute stream.
func (r *valueReader) arrays(a *efg.Attr) (value, error) {
	t := vecTable{index: map[uint64]int{}}
	t.vecs = [][]uint64{}
	it := a.Elems.Iter()
	total, elems := 0, []uint64{}
	var err error
	t.series, err = readAll(a.Values, func(v uint64) (uint64, error) {
		if v&1 != 0 {
			return signature.ConstBit | v>>1, nil
		}
		if total += int(v >> 1); total > 16*maxSeries {
			return 0, fmt.Errorf("takes more than %d elements without a pattern", 16*maxSeries)
		}
		elems = elems[:0]
		for range v >> 1 {
			x, _ := it.Next()
			elems = append(elems, x)
		}
		return t.number(elems), nil
	})
	return t.value, err
}

// successful reads the words of a node at which some polls found nothing: those of the others.
func (r *valueReader) successful(n *efg.Node, poll int, out []value) error {
	h := signature.Header(n.Words[0])
	var found []bool
	for k := range n.Attrs {
		if word(n.Mask, k) != poll {
			continue
		}
		_, err := readAll(n.Attrs[k].Values, func(v uint64) (uint64, error) {
			found = append(found, v != 0)
			return v, nil
		})
		if err != nil {
			return wordError(h, poll, err)
		}
	}
	for k := range n.Attrs {
		i := word(n.Mask, k)
		at, all := 0, n.Attrs[k]
		keep := func(v uint64, ok bool) (uint64, bool) {
			at++
			return v, ok && found[at-1]
		}
		var err error
		if h.Form(i) == signature.VecForm {
			var v value
			if v, err = r.arrays(&all); err == nil {
				out[i].vecs, out[i].series = v.vecs, v.series.filtered(keep)
			}
		} else {
			var s series
			s, err = readAll(all.Values, func(v uint64) (uint64, error) { return r.data.AttrWord(n, i, v), nil })
			out[i].series = s.filtered(keep)
		}
		if err != nil {
			return wordError(h, i, err)
		}
	}
	return nil
}
