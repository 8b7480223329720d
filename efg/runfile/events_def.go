package runfile

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/mix"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/token"
	"github.com/efg-tools/efg/signature"
)

// Contexts of definitions, after ctxDef.
const (
	ctxDefCount = iota
	ctxDefKinds
	ctxDefFlags
	ctxDefText
	ctxDefWordCount
	ctxDefWord
	ctxDefWordAfter
	ctxDefWordAfterTwo
	ctxDefWordLike
	ctxDefWordOfKind
	ctxDefWordOfLength
	ctxDefWide
	ctxDefForm
	ctxDefLength
	ctxDefElem
	ctxDefElemAt
	ctxDefElemAtAfter
	ctxDefElemBelow
	ctxDefElemBelowAfter
)

// Contexts of own requests among elements, after those of call paths.
const (
	ctxDefOwn = ctxPathFar + 1 + iota
	ctxDefOwnNode
	ctxDefOwnSlot
)

// definitions codes a list.
func (e *eventCoder) definitions(given []eventDef) []eventDef {
	o := &e.defs
	e.countDef(1)
	n := e.c.Number(mix.Hash(ctxDef, ctxDefCount), uint64(len(given)))
	o.begun, o.match, o.matched, o.kinds, o.own = len(o.all), 0, 0, [3]uint64{}, nil
	o.path.begin()
	o.request = 0
	for i := uint64(0); i < n && e.err == nil; i++ {
		var d eventDef
		if e.c.Encoding() {
			d = given[i]
		}
		o.add(e.definition(&d))
		e.countDef(1)
	}
	list := o.all[o.begun:]
	o.path.end(list)
	return list
}

// countDef counts definitions, their words, and elements of vectors, which are bounded like the
// values of attributes.
func (e *eventCoder) countDef(n uint64) {
	if e.defs.size += min(n, maxBlockValues+1); e.defs.size > maxBlockValues || e.c.Overrun() {
		e.failf("definitions do not end")
	}
}

// defCoder codes a definition.
type defCoder struct {
	*eventCoder
	d            eventDef  // as far as it is coded
	like         *eventDef // one that it may resemble
	last, before *eventDef // of its kind
}

func (e *eventCoder) definition(given *eventDef) eventDef {
	x := &defCoder{eventCoder: e, like: e.defs.guess()}
	kind := given.kind
	if x.paths && x.c.Encoding() && x.isPath(given) {
		kind = kindPathDef
	}
	if x.kind(kind); x.paths && x.d.kind == kindPathDef {
		x.path(given)
		x.defs.own = append(x.defs.own, 0)
		return x.d
	}
	x.flags(given.flags)
	if x.d.flags&defData != 0 {
		x.text(given.text)
	}
	if efg.DefKind(x.d.kind) == efg.DefVec {
		x.elements(given)
	}
	x.words(given.words)
	if x.d.flags&defDerived == 0 {
		x.d.word = x.word(given.word, 0, 0)
	}
	x.defs.own = append(x.defs.own, x.identity())
	return x.d
}

func (x *defCoder) kind(v uint64) {
	k := &x.defs.kinds
	guesses := []mix.Guess{
		{Context: mix.Hash(ctxDef, ctxDefKinds, k[0])},
		{Context: mix.Hash(ctxDef, ctxDefKinds, k[0], k[1])},
		{Context: mix.Hash(ctxDef, ctxDefKinds, k[0], k[1], k[2])},
		x.likely((*eventDef).coding),
	}
	if x.paths {
		guesses = append(guesses,
			mix.Guess{Context: mix.Hash(ctxDef, ctxPathKind, 1, x.defs.hash)},
			mix.Guess{Context: mix.Hash(ctxDef, ctxPathKind, 2, x.defs.hash, k[1])},
			mix.Guess{Context: mix.Hash(ctxDef, ctxPathKind, 3, x.defs.path.at(x.defs.path.last).site, k[0])})
	}
	x.d.kind = x.c.Value(kindDef, guesses, mix.Hash(ctxDef, ctxDefKinds), 0, v)
	if x.like != nil && x.like.coding() != x.d.kind {
		x.like = nil
	}
	x.last, x.before = x.defs.last(x.d.kind, 0), x.defs.last(x.d.kind, 1)
}

// coding is the definition's kind, or what stands for it.
func (d *eventDef) coding() uint64 {
	if d.path.id != 0 {
		return kindPathDef
	}
	return d.kind
}

// likely guesses what the definition has that this one may resemble.
func (x *defCoder) likely(of func(*eventDef) uint64) mix.Guess {
	if x.like == nil {
		return mix.Guess{None: true}
	}
	return mix.Guess{Value: of(x.like), Sure: x.defs.sure()}
}

// again guesses what the last definition of the kind has.
func (x *defCoder) again(of func(*eventDef) uint64) mix.Guess {
	if x.last == nil {
		return mix.Guess{None: true}
	}
	return mix.Guess{Value: of(x.last), Sure: 1}
}

func (x *defCoder) flags(v uint64) {
	last := uint64(0)
	if x.last != nil {
		last = x.last.flags
	}
	guesses := []mix.Guess{{Context: mix.Hash(ctxDef, ctxDefFlags, x.d.kind)}, {Context: mix.Hash(ctxDef, ctxDefFlags, x.d.kind, last)}}
	x.d.flags = x.c.Value(kindDefCount, guesses, mix.Hash(ctxDef, ctxDefFlags), 0, v)
}

func (x *defCoder) text(v uint64) {
	t := x.defs.text
	guesses := []mix.Guess{{Value: t + 1, Sure: 1}, x.likely(func(d *eventDef) uint64 { return d.text })}
	x.d.text = x.c.Value(kindDefText, guesses, mix.Hash(ctxDef, ctxDefText), t, v)
	x.defs.text = x.d.text
}

// words codes how many words there are, and these.
func (x *defCoder) words(given []eventWord) {
	count := func(d *eventDef) uint64 { return uint64(len(d.words)) }
	guesses := []mix.Guess{{Context: mix.Hash(ctxDef, ctxDefWordCount, x.d.kind)}, x.likely(count), x.again(count)}
	n := x.c.Value(kindDefCount, guesses, mix.Hash(ctxDef, ctxDefWordCount, x.d.kind), 0, uint64(len(given)))
	if x.countDef(n); x.err != nil {
		return
	}
	for k := range int(n) {
		var w eventWord
		if x.c.Encoding() {
			w = given[k]
		}
		x.d.words = append(x.d.words, x.word(w, k+1, n))
		if k&255 == 0 && x.c.Overrun() {
			x.failf("definitions do not end")
			return
		}
	}
}

// word codes word k, 0 its own, of a definition of so many.
func (x *defCoder) word(w eventWord, k int, count uint64) eventWord {
	var p [2]uint64
	for i := range min(max(k-1, 0), 2) {
		p[i] = x.d.words[k-2-i].token
	}
	kind, i := x.d.kind, uint64(min(k, 15))
	own := uint64(len(x.defs.all) - x.defs.begun)
	near, some := x.last.token(k)
	further, more := x.before.token(k)
	alike, like := x.like.token(k)
	guesses := []mix.Guess{
		{Context: mix.Hash(ctxDef, ctxDefWord, kind, i)},
		{Context: mix.Hash(ctxDef, ctxDefWordAfter, kind, i, p[0])},
		{Context: mix.Hash(ctxDef, ctxDefWordAfterTwo, kind, i, p[0], p[1])},
		{None: !like, Value: alike, Sure: x.defs.sure()},
		{None: !some, Value: near, Sure: 1},
		{None: !some || !more, Value: 2*near - further, Sure: 1},
		{None: own == 0, Value: token.Of(token.Def, own-1), Sure: 1},
		{Context: mix.Hash(ctxDef, ctxDefWordLike, kind, i, near)},
		{Value: p[0] + 16, Sure: 1},
		{None: k < 3, Value: 2*p[0] - p[1], Sure: 1},
		{Context: mix.Hash(ctxDef, ctxDefWordOfKind, kind, p[0])},
		{Context: mix.Hash(ctxDef, ctxDefWordOfLength, kind, i, count)},
	}
	t := x.c.Value(kindDefWord+int(min(kind, 11)), guesses, mix.Hash(ctxDef, ctxDefWord, kind, min(i, 7)), near, w.token)
	out := eventWord{token: t, alt: t}
	if t&7 == token.Wide {
		guesses := []mix.Guess{{Context: mix.Hash(ctxDef, ctxDefWide, kind, i)}, {None: true}}
		if k == 0 {
			guesses[1] = x.family()
		}
		out.wide = x.c.Value(kindDefWide, guesses, mix.Hash(ctxDef, ctxDefWide), 0, w.wide)
	}
	return out
}

// identity is the definition's own word, 0 if it is not known without the strings.
func (x *defCoder) identity() uint64 {
	if x.d.flags&defDerived != 0 {
		return 0
	}
	w, _ := x.wordOf(&x.d.word)
	return w
}

// wordOf is the word that a token stands for, if that is known.
func (x *defCoder) wordOf(w *eventWord) (uint64, bool) {
	v := w.token >> 3
	switch w.token & 7 {
	case token.Number:
		return uint64(block.Unzigzag(v)), true
	case token.Const:
		return signature.ConstBit | v, true
	case token.Def:
		if v < uint64(len(x.defs.own)) {
			return x.defs.own[v], x.defs.own[v] != 0
		}
	case token.Wide:
		return w.wide, true
	}
	return 0, false
}

// family guesses the word of a communicator, window or file: the hash of its words and, of a
// communicator, of the tag that it was created with, mostly 0, in the place of a family's hash.
func (x *defCoder) family() mix.Guess {
	kind := efg.DefKind(x.d.kind)
	if kind != efg.DefComm && kind != efg.DefWin && kind != efg.DefFile {
		return mix.Guess{None: true}
	}
	var words []uint64
	for i := range x.d.words {
		w, ok := x.wordOf(&x.d.words[i])
		if !ok {
			return mix.Guess{None: true}
		}
		words = append(words, w)
	}
	if kind == efg.DefComm {
		words = append(words, 0)
	}
	return mix.Guess{Value: signature.Hash(words...) << signature.SequenceBits &^ (3 << 62), Sure: 4}
}

// elements codes the elements of a vector.
func (x *defCoder) elements(given *eventDef) {
	form := mix.Hash(ctxDef, ctxDefForm)
	x.d.form = uint8(min(x.c.Value(kindDefCount, []mix.Guess{{Context: form}}, form, 0, uint64(given.form)), 0xff))
	if x.d.form&^seq.TokenForms != 0 {
		x.failf("form %d of elements", x.d.form)
		return
	}
	count, length := func(d *eventDef) uint64 { return uint64(len(d.elems)) }, mix.Hash(ctxDef, ctxDefLength)
	n := x.c.Value(kindDefCount, []mix.Guess{{Context: length}, x.likely(count), x.again(count)}, length, 0, uint64(len(given.elems)))
	if x.countDef(n); x.err != nil {
		return
	}
	for k := range int(n) {
		v := uint64(0)
		if x.c.Encoding() {
			v = given.elems[k]
		}
		x.d.elems = append(x.d.elems, x.element(k, v))
		if k&255 == 0 && x.c.Overrun() {
			x.failf("definitions do not end")
			return
		}
	}
}

// element codes element k of a vector.
func (x *defCoder) element(k int, v uint64) uint64 {
	var p [3]uint64
	for i := range min(k, 3) {
		p[i] = x.d.elems[k-1-i]
	}
	form, at := uint64(x.d.form), uint64(k)
	guesses := []mix.Guess{
		{Context: mix.Hash(ctxDef, ctxDefElem, form, p[0])},
		{Context: mix.Hash(ctxDef, ctxDefElem, form, p[0], p[1])},
		{Context: mix.Hash(ctxDef, ctxDefElem, form, p[0], p[1], p[2])},
		{Value: 2*p[0] - p[1], Sure: 1},
		{None: true},
		{None: true},
		{Value: p[0], Sure: 1},
		{Context: mix.Hash(ctxDef, ctxDefElemAt, form, at)},
		{Context: mix.Hash(ctxDef, ctxDefElemAtAfter, form, at, p[0])},
		{None: true},
		{None: true},
		{None: true},
	}
	if x.like != nil && k < len(x.like.elems) {
		guesses[4] = mix.Guess{Value: x.like.elems[k], Sure: x.defs.sure()}
	}
	if x.last != nil && k < len(x.last.elems) {
		below := x.last.elems[k]
		guesses[5] = mix.Guess{Value: below, Sure: 1}
		guesses[9] = mix.Guess{Context: mix.Hash(ctxDef, ctxDefElemBelow, form, below)}
		guesses[10] = mix.Guess{Context: mix.Hash(ctxDef, ctxDefElemBelowAfter, form, below, p[0])}
		if k > 0 {
			guesses[11] = mix.Guess{Value: p[0] + below - x.last.elems[k-1], Sure: 1}
		}
	}
	rest := mix.Hash(ctxDef, ctxDefElem, form)
	if !x.byPath {
		return x.c.Value(kindDefElem, guesses, rest, p[0], v)
	}
	return x.c.ValueOr(kindDefElem, guesses, v, func(v uint64) uint64 {
		if !x.c.Bit(mix.Hash(ctxDef, ctxDefOwn, form), isOwn(v)) {
			return x.c.Value(kindDefElem, nil, rest, p[0], v)
		}
		return x.ownRequest(v)
	})
}

// isOwn reports whether an element is the token of an own request: other numbers may look like one.
func isOwn(v uint64) bool { return v&7 == token.Own && token.Pair(token.Unpair(v>>3)) == v>>3 }

// ownRequest codes the token of an own request: its node, which is near that of the one before in the list, and
// the slot.
func (x *defCoder) ownRequest(v uint64) uint64 {
	last := &x.defs.request
	node, slot := token.Unpair(v >> 3)
	node = *last + uint64(block.Unzigzag(x.c.Number(mix.Hash(ctxDef, ctxDefOwnNode), block.Zigzag(int64(node-*last)))))
	slot = x.c.Number(mix.Hash(ctxDef, ctxDefOwnSlot), slot)
	*last = node
	return token.Of(token.Own, token.Pair(node, slot))
}
