package runfile

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/mix"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/token"
)

// eventDef is a definition as an event block codes it.
type eventDef struct {
	kind, flags uint64
	word        eventWord // its own, unless that follows from the content
	text        uint64    // number of the string that has its bytes
	words       []eventWord
	form        uint8 // of a vector's elements
	elems       []uint64
	path        callPath // if it is coded as one
}

// definitions returns member m, of a group of lists.
func (p *readGroup) definitions(m uint64) ([]eventDef, error) {
	vals, err := p.memberCells(nil, m)
	if err != nil {
		return nil, err
	}
	u := &unflatten{group: p, vals: vals, raw: true}
	list := make([]eventDef, p.shape[0])
	shape := p.shape[1:]
	for i := range list {
		list[i] = u.eventDef(shape[0], shape[1], shape[2])
		shape = shape[3:]
	}
	return list, u.err
}

func (u *unflatten) eventDef(kind, flags, words uint64) eventDef {
	d := eventDef{kind: kind, flags: flags}
	if flags&defDerived == 0 {
		d.word = u.eventWord()
	}
	if flags&defData != 0 {
		d.text = u.number()
	}
	if efg.DefKind(kind) == efg.DefVec {
		u.elements(&d)
	}
	for range words {
		d.words = append(d.words, u.eventWord())
	}
	return d
}

func (u *unflatten) eventWord() eventWord {
	t := u.vals[u.at]
	w := eventWord{token: t, alt: t}
	if v := u.word(nil); t&7 == token.Wide {
		w = eventWord{token: token.Wide, alt: token.Wide, wide: v}
	}
	return w
}

// elements takes the elements of a vector.
func (u *unflatten) elements(d *eventDef) {
	s := u.seq(nil)
	u.expect(s, 0)
	if s.Len() > maxDefVec {
		u.failf("vector of %d elements", s.Len())
		return
	}
	d.form = seq.FormOf(s)
	it := s.Iter()
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		d.elems = append(d.elems, v)
	}
	if err := it.Err(); err != nil {
		u.failf("%w", err)
	}
}

// recordOf makes the record of a list of definitions.
func recordOf(list []eventDef) *record {
	f := &flatten{record{kind: recordDefs, shape: []uint64{uint64(len(list))}}}
	for i := range list {
		d := &list[i]
		f.shape = append(f.shape, d.kind, d.flags, uint64(len(d.words)))
		if d.flags&defDerived == 0 {
			f.eventWord(&d.word)
		}
		if d.flags&defData != 0 {
			f.number(d.text)
		}
		if efg.DefKind(d.kind) == efg.DefVec {
			f.folded(d.elems, 0, roleVec, d.form)
		}
		for k := range d.words {
			f.eventWord(&d.words[k])
		}
	}
	f.key = keyOf(f.kind, f.shape)
	return &f.record
}

func (f *flatten) eventWord(w *eventWord) {
	if w.token&7 == token.Wide {
		f.cells = append(f.cells, cell{kind: cellWide, v: w.wide})
		return
	}
	f.cells = append(f.cells, cell{kind: cellWord, v: w.token})
}

// defOrder is the context of a definition: the definitions before it.
type defOrder struct {
	all     []eventDef        // of all lists
	begun   int               // how many there were before the current list
	match   int               // the definition that the next one may resemble; -1: none
	matched uint64            // how many in a row were as predicted
	ofKind  map[uint64][2]int // the last two of each kind: their numbers, and 1
	after   map[uint64]int    // by what stands for two definitions: the one that followed them
	kinds   [3]uint64         // of the last definitions
	hash    uint64            // of the last one
	text    uint64            // the last one
	own     []uint64          // of the current list: the definitions' own words that are known, else 0
	size    uint64            // definitions, their words, and elements of vectors
	request uint64            // node of the last own request in the current list that was spelled out
	path    pathOrder
}

func newDefOrder() defOrder {
	return defOrder{ofKind: map[uint64][2]int{}, after: map[uint64]int{}, path: newPathOrder()}
}

// guess is the definition that the next one may resemble; nil if there is none.
func (o *defOrder) guess() *eventDef {
	if o.match < 0 || o.match >= len(o.all) {
		return nil
	}
	return &o.all[o.match]
}

// last is the last definition of a kind, or the one before it; nil if there is none.
func (o *defOrder) last(kind uint64, back int) *eventDef {
	k := o.ofKind[kind][back]
	if k == 0 {
		return nil
	}
	return &o.all[k-1]
}

// sure is how sure a guess is that the next definition resembles the one that it may.
func (o *defOrder) sure() uint8 { return uint8(min(o.matched, 15)) }

// add takes a definition for those that follow.
func (o *defOrder) add(d eventDef) {
	like, hash := o.guess(), d.hash()
	both := mix.Hash(hash, o.hash)
	at, known := o.after[both]
	switch {
	case like != nil && like.equal(&d):
		o.matched++
		o.match++
	case known:
		o.matched, o.match = 0, at
	case o.match >= 0:
		o.matched = 0
		o.match++
	}
	if efg.DefKind(d.kind) == efg.DefModule {
		o.path.modules[hash] = uint64(len(o.all) - o.begun)
	}
	o.all = append(o.all, d)
	o.after[both], o.hash = len(o.all), hash
	o.ofKind[d.kind] = [2]int{len(o.all), o.ofKind[d.kind][0]}
	o.kinds = [3]uint64{d.kind, o.kinds[0], o.kinds[1]}
}

func (d *eventDef) equal(other *eventDef) bool {
	if d.path.id != 0 || other.path.id != 0 {
		return d.path.id == other.path.id
	}
	return d.kind == other.kind && d.flags == other.flags && d.text == other.text && d.word == other.word &&
		slices.Equal(d.words, other.words) && slices.Equal(d.elems, other.elems)
}

// hash is a definition's hash.
func (d *eventDef) hash() uint64 {
	if d.path.id != 0 {
		return d.path.id
	}
	h := mix.Hash(d.kind, d.flags, d.text, d.word.token, d.word.wide)
	for i := range d.words {
		h = mix.Hash(h, d.words[i].token, d.words[i].wide)
	}
	for _, v := range d.elems {
		h = mix.Hash(h, v)
	}
	return h
}

// token is that of word k, 0 its own; if there is one.
func (d *eventDef) token(k int) (uint64, bool) {
	switch {
	case d == nil || k > len(d.words):
		return 0, false
	case k == 0:
		return d.word.token, d.flags&defDerived == 0
	}
	return d.words[k-1].token, true
}
