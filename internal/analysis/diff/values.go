package diff

import (
	"math/bits"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// maxVec bounds arrays: a small file can hold a sequence that expands without bound.
const maxVec = 1 << 26

// values are the forms of a word at a node, visit by visit: a constant or a sequence.
type values struct {
	process *process
	node    *node
	word    int
	attr    *efg.Attr // nil: the word is not demoted
	known   form      // of the constant
	last    uint64    // the value that was decoded last, and its form
	form    form
	any     bool
}

func (s *stream) values(i, word int) *values {
	n := &s.nodes[i]
	v := &values{process: s.process, node: n, word: word}
	switch k := bits.OnesCount64(n.Mask & (1<<word - 1)); {
	case n.Mask>>word&1 == 0:
		v.known = n.constant(s.process, word)
	case k < len(n.Attrs):
		v.attr = &n.Attrs[k]
	}
	return v
}

// isVec reports whether a word is an array.
func (n *node) isVec(word int) bool {
	return n.proc != nil && n.proc.Words[word].Form == signature.VecForm
}

// decode is the form of a stored value that is not an array.
func (v *values) decode(raw uint64) form {
	if v.any && raw == v.last {
		return v.form
	}
	v.any, v.last = true, raw
	w := raw
	if v.node.proc != nil {
		switch f := v.node.proc.Words[v.word].Form; {
		case f == signature.ScalarForm || f == signature.SlotForm:
		case raw&1 != 0:
			w = signature.Const(int(raw >> 1))
		case raw>>1 < uint64(len(v.process.Data.Defs)):
			w = v.process.Data.Defs[raw>>1].Word
		}
	}
	v.form = v.node.word(v.process, v.word, w, v.process.vecs[w])
	return v.form
}

// arrays iterates over the arrays of a demoted word.
type arrays struct {
	*values
	lengths, elems seq.Iter
	room           []uint64
}

func (v *values) arrays() *arrays {
	a := &arrays{values: v}
	if v.attr != nil {
		a.lengths, a.elems = v.attr.Values.Iter(), v.attr.Elems.Iter()
	}
	return a
}

func (a *arrays) next() (form, bool) {
	if a.attr == nil {
		return a.known, true
	}
	n, ok := a.lengths.Next()
	switch {
	case !ok:
		return form{}, false
	case n&1 != 0:
		return same(signature.Const(int(n >> 1))), true
	case n>>1 > min(maxVec, a.elems.Left()):
		return form{}, false
	}
	a.room = a.room[:0]
	for range n >> 1 {
		x, ok := a.elems.Next()
		if !ok {
			return form{}, false
		}
		a.room = append(a.room, x)
	}
	if a.room == nil {
		a.room = []uint64{}
	}
	return a.node.word(a.process, a.word, 0, a.room), true
}

// otherVisit is the first of n visits at which a word has another value in b than in a; never
// if there is none.
func otherVisit(a, b *values, n uint64) uint64 {
	switch {
	case n == 0:
		return never
	case a.attr == nil && b.attr == nil:
		if a.known.equal(b.known) {
			return never
		}
		return 0
	case a.node.isVec(a.word):
		return otherArray(a.arrays(), b.arrays(), n)
	}
	var seqs []*seq.Seq
	for _, v := range []*values{a, b} {
		if v.attr != nil {
			seqs = append(seqs, v.attr.Values)
		}
	}
	z := seq.JoinRuns(seqs...)
	for raw, _, ok := z.Next(); ok && z.Position() < n; raw, _, ok = z.Next() {
		x, y := a.known, b.known
		if a.attr != nil {
			x, raw = a.decode(raw[0]), raw[1:]
		}
		if b.attr != nil {
			y = b.decode(raw[0])
		}
		if !x.equal(y) {
			return z.Position()
		}
	}
	return never
}

func otherArray(a, b *arrays, n uint64) uint64 {
	for k := range n {
		x, more := a.next()
		y, also := b.next()
		switch {
		case !more && !also:
			return never
		case more != also || !x.equal(y):
			return k
		}
	}
	return never
}

// otherArguments is the first visit at which an event at node i of a has other
// arguments or results than its partner in b, and their words.
func (m *matching) otherArguments(i int) (visit uint64, words []int) {
	visit = never
	x, y := &m.a.nodes[i], &m.b.nodes[m.to[i]]
	if x.Words[0] != y.Words[0] { // language, variant or error class
		return 0, []int{0}
	}
	n := min(x.facts.Visits, y.facts.Visits)
	for word := 2; word < len(x.Words); word++ {
		at := otherVisit(m.a.values(i, word), m.b.values(m.to[i], word), n)
		if at != never {
			words = append(words, word)
		}
		visit = min(visit, at)
	}
	return visit, words
}
