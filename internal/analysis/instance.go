package analysis

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// instance is one event, or all events of a node that have the same values in the words that
// matter. Its slices are valid until the next one.
type instance struct {
	process *Process
	proc    *signature.Proc
	plan    *plan
	words   []uint64   // demoted words that do not matter are 0
	vecs    [][]uint64 // content of demoted vec words
	mask    uint64     // demoted words
	times   uint64
}

// vec returns the content of vec word i; false if there is a constant in its
// place.
func (c *instance) vec(i int) ([]uint64, bool) {
	if c.mask>>i&1 != 0 {
		return c.vecs[i], !signature.IsConst(c.words[i])
	}
	if signature.IsConst(c.words[i]) {
		return nil, false
	}
	return c.process.vecs[c.words[i]], true
}

func (c *instance) isVec(i int) bool { return c.proc.Words[i].Form == signature.VecForm }

// clone copies what the next instance would overwrite.
func (c *instance) clone() *instance {
	d := *c
	d.words = append([]uint64(nil), c.words...)
	d.vecs = make([][]uint64, len(c.vecs))
	for i, v := range c.vecs {
		d.vecs[i] = append([]uint64{}, v...)
	}
	return &d
}

// instances calls f for all events of a node, grouped by equal values in the words of mask.
func (s *stream) instances(node int, mask uint64, f func(*instance) error) error {
	n := &s.Nodes[node]
	proc := procOf(n)
	c := &instance{process: s.process, proc: proc, plan: planOf(proc), words: n.Words, mask: n.Mask, times: s.visits[node]}
	mask &= n.Mask
	if mask == 0 || c.times == 0 || proc == nil {
		return f(c)
	}
	r := &rows{instance: c, node: n, defs: s.process.Data.Defs}
	r.open(mask)
	if err := r.each(s.visits[node], f); err != nil {
		return fmt.Errorf("rank %d, thread %d, node %d: %w", s.process.Data.Rank, s.Thread, node, err)
	}
	return nil
}

// rows iterates over the attribute streams of a node that matter.
type rows struct {
	*instance
	node  *efg.Node
	defs  []efg.Def
	index []int // words
	seqs  []*seq.Seq
	elems []*seq.Seq // nil for words that are not arrays
}

func (r *rows) open(mask uint64) {
	k := 0
	for m := r.node.Mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if mask>>i&1 != 0 && k < len(r.node.Attrs) {
			a := &r.node.Attrs[k]
			r.index, r.seqs, r.elems = append(r.index, i), append(r.seqs, a.Values), append(r.elems, a.Elems)
		}
		k++
	}
	r.words = append([]uint64(nil), r.node.Words...)
	r.vecs = make([][]uint64, len(r.words))
}

func (r *rows) each(visits uint64, f func(*instance) error) error {
	for _, i := range r.index {
		if r.isVec(i) {
			return r.oneByOne(visits, f)
		}
	}
	z := seq.JoinRuns(r.seqs...)
	total := uint64(0)
	for v, times, ok := z.Next(); ok; v, times, ok = z.Next() {
		for k, i := range r.index {
			if err := r.decode(i, v[k]); err != nil {
				return err
			}
		}
		total += times
		r.times = times
		if err := f(r.instance); err != nil {
			return err
		}
	}
	return checkTotal(z.Err(), total, visits)
}

func checkTotal(err error, total, visits uint64) error {
	if err == nil && total != visits {
		return fmt.Errorf("%w: %d attribute values for %d events", efg.ErrGraph, total, visits)
	}
	return err
}

// oneByOne iterates over values and elements of arrays.
func (r *rows) oneByOne(visits uint64, f func(*instance) error) error {
	values, elems := make([]seq.Iter, len(r.seqs)), make([]seq.Iter, len(r.seqs))
	for k := range r.seqs {
		values[k], elems[k] = r.seqs[k].Iter(), r.elems[k].Iter()
	}
	r.times = 1
	for range visits {
		for k, i := range r.index {
			v, ok := values[k].Next()
			if !ok {
				return errors.Join(checkTotal(values[k].Err(), 0, visits), efg.ErrGraph)
			}
			if err := r.decode(i, v); err != nil {
				return err
			}
			if r.isVec(i) && v&1 == 0 {
				if err := r.fill(i, v>>1, &elems[k]); err != nil {
					return err
				}
			}
		}
		if err := f(r.instance); err != nil {
			return err
		}
	}
	return nil
}

func (r *rows) fill(i int, n uint64, elems *seq.Iter) error {
	if n > elems.Left() || n > maxVec {
		return fmt.Errorf("%w: vector of %d elements, %d left", efg.ErrGraph, n, elems.Left())
	}
	r.vecs[i] = r.vecs[i][:0]
	for range n {
		v, ok := elems.Next()
		if !ok {
			return errors.Join(elems.Err(), efg.ErrGraph)
		}
		r.vecs[i] = append(r.vecs[i], v)
	}
	return nil
}

// maxVec bounds arrays: a small file can hold a sequence that expands without bound.
const maxVec = 1 << 26

// decode turns the stored value of word i into the word.
func (r *rows) decode(i int, raw uint64) error {
	switch form := r.proc.Words[i].Form; {
	case form == signature.ScalarForm || form == signature.SlotForm:
		r.words[i] = raw
	case raw&1 != 0:
		r.words[i] = signature.Const(int(raw >> 1))
	case form == signature.VecForm:
		r.words[i] = 0
	case raw>>1 < uint64(len(r.defs)):
		r.words[i] = r.defs[raw>>1].Word
	default:
		return fmt.Errorf("%w: definition %d of %d", efg.ErrGraph, raw>>1, len(r.defs))
	}
	return nil
}
