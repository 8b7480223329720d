package runfile

import (
	"math/bits"

	"github.com/efg-tools/efg/efg/mix"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/token"
	"github.com/efg-tools/efg/signature"
)

// node codes the node of an event and returns its number in the stream.
func (e *eventCoder) node(g *eventGraph, actual int, guessed *eventNode) int {
	b := &e.before
	guesses := [...]mix.Guess{
		{Context: mix.Hash(ctxNode, 1, b[0])},
		{Context: mix.Hash(ctxNode, 2, b[0], b[1])},
		{Context: mix.Hash(ctxNode, 3, b[0], b[1], b[2])},
		{Context: mix.Hash(ctxNode, 4, b[0], b[1], b[2], b[3])},
		{Context: mix.Hash(ctxNode, 6, b[0], b[1], b[2], b[3], b[4], b[5])},
		{Context: mix.Hash(ctxNode, 7, e.longer)},
		{Context: mix.Hash(ctxNode, 8, e.events[0], e.events[1], e.events[2])},
		{Context: mix.Hash(ctxNode, 9, e.events[0])},
		{None: true},
	}
	if guessed != nil {
		guesses[8] = mix.Guess{Value: uint64(e.byKey[guessed.key]) + 1, Sure: uint8(min(e.matched, 15))}
	}
	// What is coded is the number of the node among those known, and 1; 0 of a node that is new.
	known := uint64(0)
	if e.c.Encoding() {
		known = e.knownAs(g, actual, guesses[:])
	}
	fresh := -1
	known = e.c.ValueOr(kindNode, guesses[:], known, func(known uint64) uint64 {
		known, fresh = e.unexpected(g, actual, known)
		return known
	})
	switch {
	case fresh >= 0:
		return fresh
	case known == 0 || known > uint64(len(e.known)):
		e.failf("node %d of %d", known, len(e.known))
		return 0
	}
	k := int(known - 1)
	number, ok := e.numberOf[k]
	if !ok {
		number = e.addLocal(k)
	}
	return number
}

// unexpected codes a node that no expert guessed: its header, and which of the stream's nodes with
// this header it is. fresh is its number if it is new in the stream, else -1.
func (e *eventCoder) unexpected(g *eventGraph, actual int, known uint64) (_ uint64, fresh int) {
	header, back := uint64(0), uint64(0)
	if e.c.Encoding() {
		if actual < len(e.local) {
			n := e.known[known-1]
			header = n.header
			back = e.recent.rank(actual, header)
		} else {
			header = g.nodes[actual].header
		}
	}
	header = e.header(header)
	guesses := []mix.Guess{{Context: mix.Hash(ctxOld, header)}, {Context: mix.Hash(ctxOld, header, e.before[0])}}
	if p := &e.places; e.byPath {
		guesses = append(guesses, mix.Guess{Context: mix.Hash(ctxOld, 2, header, p[0])}, mix.Guess{Context: mix.Hash(ctxOld, 3, header, p[0], p[1])})
	}
	back = e.c.Value(kindOld, guesses, mix.Hash(ctxOld, header), 0, back)
	if back > 0 {
		k := e.recent.at(back, header)
		if k < 0 || e.known[e.local[k]].header != header {
			e.failf("node %d with a header", back)
			return 0, 0
		}
		return uint64(e.local[k]) + 1, -1
	}
	fresh = e.newNode(g, actual, header)
	if e.err != nil {
		return 0, 0
	}
	return uint64(e.local[fresh]) + 1, fresh
}

// knownAs is what is coded of a node: its number among those known, and 1, or 0.
func (e *eventCoder) knownAs(g *eventGraph, actual int, guesses []mix.Guess) uint64 {
	if actual < len(e.local) {
		return uint64(e.local[actual]) + 1
	}
	if actual > len(e.local) {
		e.failf("nodes are not in the order of their first events")
		return 0
	}
	n := g.nodes[actual]
	for i := range guesses {
		x := &guesses[i]
		e.c.Recall(x)
		if v := x.Value; !x.None && v > 0 && v <= uint64(len(e.known)) && e.isLike(n, e.known[v-1]) {
			return v
		}
	}
	n.again = e.likes[n.content()]
	if k, ok := e.byKey[n.identity()]; ok {
		return uint64(k) + 1
	}
	return 0
}

// isLike reports whether a new node of the stream is a known one.
func (e *eventCoder) isLike(n, known *eventNode) bool {
	if n.header != known.header || n.mask != known.mask || len(n.words) != len(known.words) || string(n.forms) != string(known.forms) {
		return false
	}
	for i := range n.words {
		a, b := &n.words[i], &known.words[i]
		if a.wide != b.wide || a.token != b.token && a.alt != b.token {
			return false
		}
	}
	return known.again == e.likes[known.content()]
}

// content is the hash of what a node's events have in common.
func (n *eventNode) content() uint64 {
	h := mix.Hash(n.header, n.mask)
	for i := range n.words {
		h = mix.Hash(h, n.words[i].token, n.words[i].wide)
	}
	for _, f := range n.forms {
		h = mix.Hash(h, uint64(f))
	}
	return h
}

func (n *eventNode) identity() uint64 { return mix.Hash(n.content(), n.again) }

// addLocal makes a known node the stream's next one.
func (e *eventCoder) addLocal(k int) int {
	number := len(e.local)
	e.local = append(e.local, k)
	e.numberOf[k] = number
	n := e.known[k]
	e.named(n)
	e.recent.add(n.header)
	e.likes[n.content()]++
	e.sites[n.site()] = n
	classes := e.classes[n.header]
	for i := range n.words {
		e.seenWord(n.words[i].token, classes[n.words[i].index])
	}
	return number
}

// site is the hash of a node's procedure and callsite.
func (n *eventNode) site() uint64 {
	if len(n.words) == 0 || n.words[0].index != 1 {
		return mix.Hash(n.header)
	}
	return mix.Hash(n.header, n.words[0].token)
}

// newNode codes a node that is not known.
func (e *eventCoder) newNode(g *eventGraph, actual int, header uint64) int {
	n := &eventNode{}
	var given *eventNode
	if e.c.Encoding() {
		given = g.nodes[actual]
	}
	e.content(n, given, header)
	if e.err != nil {
		return 0
	}
	n.again = e.likes[n.content()]
	n.key = n.identity()
	if k, ok := e.byKey[n.key]; ok {
		return e.addLocal(k) // known, but with other tokens of its words
	}
	if e.attrsOf(n); e.byPath {
		n.place = e.placeOf(n)
	}
	e.byKey[n.key] = len(e.known)
	e.known = append(e.known, n)
	return e.addLocal(len(e.known) - 1)
}

// content codes mask and words of a node with a header, and the forms of its attribute streams.
func (e *eventCoder) content(n, given *eventNode, header uint64) {
	n.header = header
	if given != nil {
		n.mask, n.forms = given.mask, given.forms
	}
	b := &e.before
	count := signature.Header(n.header).Words()
	like := e.sites[mix.Hash(n.header)]
	near := uint64(0)
	if like != nil {
		near = like.mask
	}
	n.mask = e.c.Value(kindForm, []mix.Guess{{Value: near, Sure: 1}, {Context: mix.Hash(ctxMask, n.header)}, {Context: mix.Hash(ctxMask, b[0], n.header)}},
		mix.Hash(ctxMask), 0, n.mask)
	if n.mask>>count != 0 || n.mask&1 != 0 {
		e.failf("mask %#x of %d words", n.mask, count)
		return
	}
	classes := e.classesOf(header)
	for k := 1; k < count; k++ {
		if n.mask>>k&1 == 0 {
			e.word(n, given, k, classes[k])
		}
	}
	e.forms(n)
	e.sites[mix.Hash(n.header)] = n
}

// word codes word k of a new node, which is of a class.
func (e *eventCoder) word(n, given *eventNode, k int, class uint8) {
	at := len(n.words)
	var before [2]uint64
	for i := range min(at, 2) {
		before[i] = n.words[at-1-i].token
	}
	like := e.sites[n.site()]
	if k == 1 || like == nil {
		like = e.sites[mix.Hash(n.header)]
	}
	h, i, b, c := n.header, uint64(k), &e.before, &e.ofClass[class]
	callsite := uint64(0)
	if at > 0 {
		callsite = n.words[0].token
	}
	next, second := e.nextDefs()
	guesses := []mix.Guess{
		{Context: mix.Hash(ctxWord, 4, h, i)},
		{Context: mix.Hash(ctxWord, 5, h, i, callsite)},
		{Context: mix.Hash(ctxWord, 6, h, i, before[0])},
		{Context: mix.Hash(ctxWord, 7, h, i, before[0], before[1])},
		{Context: mix.Hash(ctxWord, 8, h, i, b[0])},
		{Context: mix.Hash(ctxWord, 9, h, i, b[0], b[1])},
		{None: true},
		{None: true},
		{Context: mix.Hash(ctxWord, 10, i, h&0xffff, uint64(len(e.local)))},
		{Value: token.Of(token.Def, next), Sure: 1},
		{Value: token.Of(token.Def, second), Sure: 1},
		{Value: c[0], Sure: 1},
		{Value: c[1], Sure: 1},
		{Context: mix.Hash(ctxWord, 12, uint64(class), c[0])},
		{Context: mix.Hash(ctxWord, 13, uint64(class), before[0])},
	}
	near := uint64(0)
	if like != nil && at < len(like.words) {
		near = like.words[at].token
		guesses[6] = mix.Guess{Value: near, Sure: 1}
		guesses[7] = mix.Guess{Context: mix.Hash(ctxWord, 11, h, i, near)}
	}
	if e.byPath {
		guesses, near = e.guessByPath(n, k, class, guesses, near)
	}
	w := eventWord{index: k}
	if given != nil {
		w = given.words[at]
		w.token = e.chosen(&w, guesses)
	}
	w.token = e.c.Value(kindWord+int(class), guesses, mix.Hash(ctxWord, uint64(class)), near, w.token)
	w.alt = w.token
	if w.token&7 == token.Wide {
		w.wide = e.c.Value(kindWord+int(class), []mix.Guess{{Context: mix.Hash(ctxWide, h, i)}}, mix.Hash(ctxWide, i), 0, w.wide)
	}
	n.words = append(n.words, w)
	e.seenWord(w.token, class)
}

// guessByPath adds to the guesses of word k of a new node what its call path, or that of the next new path, tells.
func (e *eventCoder) guessByPath(n *eventNode, k int, class uint8, guesses []mix.Guess, near uint64) ([]mix.Guess, uint64) {
	if k == 1 {
		if next := e.nextPath(); next != 0 {
			guesses[expertNext] = mix.Guess{Value: next, Sure: 1}
			near = next
		}
		return guesses, near
	}
	w := n.callsite()
	if w == nil {
		return guesses, near
	}
	if p := e.pathOf(w.token); p != nil {
		guesses[expertTwoBefore] = mix.Guess{Context: mix.Hash(ctxWord, 16, uint64(class), p.parent)}
	}
	return append(guesses, mix.Guess{Context: mix.Hash(ctxWord, 14, n.header, uint64(k), e.lastCall(w.token))}), near
}

// Experts on words of new nodes that call paths replace.
const (
	expertTwoBefore = 5
	expertNext      = 9
)

// seenWord takes a token of a word of a new node for those that follow.
func (e *eventCoder) seenWord(t uint64, class uint8) {
	if t&7 == token.Def && t>>3&pathToken != 0 && e.byPath {
		e.seenPath(t)
	} else if t&7 == token.Def {
		e.newest = max(e.newest, t>>3)
	}
	if c := &e.ofClass[class]; c[0] != t {
		*c = [2]uint64{t, c[0]}
	}
}

// chosen is the predicted one of the two tokens that a word may have.
func (e *eventCoder) chosen(w *eventWord, guesses []mix.Guess) uint64 {
	if w.alt == w.token {
		return w.token
	}
	for i := range guesses {
		if e.c.Recall(&guesses[i]); !guesses[i].None && guesses[i].Value == w.alt {
			return w.alt
		}
	}
	return w.token
}

// forms codes how the values of a new node's attribute streams are to be read.
func (e *eventCoder) forms(n *eventNode) {
	given := n.forms
	n.forms = nil
	for m, i := n.mask, 0; m != 0 && !signature.Header(n.header).Counted(); m &= m - 1 {
		k := bits.TrailingZeros64(m)
		for elems := range 2 {
			if elems == 1 && signature.Header(n.header).Form(k) != signature.VecForm {
				break
			}
			v := uint64(0)
			if i < len(given) {
				v = uint64(given[i])
			}
			i++
			v = e.c.Value(kindForm, []mix.Guess{{Context: mix.Hash(ctxForm, n.header, uint64(k), uint64(elems))}}, mix.Hash(ctxForm), 0, v)
			if v&^seq.TokenForms != 0 {
				e.failf("form %d of values", v)
				return
			}
			n.forms = append(n.forms, uint8(v))
		}
	}
}

// attrsOf prepares what is to be known of a new node's attribute streams.
func (e *eventCoder) attrsOf(n *eventNode) {
	if signature.Header(n.header).Counted() {
		return
	}
	classes := e.classesOf(n.header)
	for m := n.mask; m != 0; m &= m - 1 {
		k := bits.TrailingZeros64(m)
		a := eventAttr{word: k, form: signature.Header(n.header).Form(k), tag: classes[k] == tagClass, where: mix.Hash(n.key, uint64(k)), site: mix.Hash(n.site(), uint64(k))}
		if a.at = e.atSites[a.site]; a.at == nil {
			a.at = &siteValues{}
			e.atSites[a.site] = a.at
		}
		n.attrs = append(n.attrs, a)
	}
}
