package runfile

import (
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/mix"
	"github.com/efg-tools/efg/internal/token"
	"github.com/efg-tools/efg/signature"
)

// value codes the value of an attribute stream at an event, of which hash stands for what is known.
func (e *eventCoder) value(n *eventNode, number int, a *eventAttr, hash, want uint64, some bool, v uint64) uint64 {
	w := uint64(a.word)
	l := &a.last
	guesses := [...]mix.Guess{
		{Context: mix.Hash(ctxValue, 1, a.where, l[0])},
		{Context: mix.Hash(ctxValue, 2, a.where, l[0], l[1])},
		{Context: mix.Hash(ctxValue, 3, a.where, l[0], l[1], l[2])},
		{Context: mix.Hash(ctxValue, 4, a.where, hash)},
		{Context: mix.Hash(ctxValue, 5, a.where, hash, e.events[0])},
		{Context: mix.Hash(ctxValue, 6, a.site, hash, e.events[0], e.events[1])},
		{Context: mix.Hash(ctxValue, 7, a.site, a.at.last)},
		{None: !some, Value: want, Sure: uint8(min(e.matched, 15))},
		{Value: 2*l[0] - l[1], Sure: 1},
		{Context: mix.Hash(ctxValue, 8, n.header&0xffff, w, e.events[0])},
		{Value: a.at.last, Sure: 1},
		{None: true},
		{None: true},
		{None: true},
	}
	switch {
	case a.form == signature.IdentForm:
		guesses[11] = mix.Guess{Value: e.ident, Sure: 2}
		next, _ := e.nextDefs()
		guesses[12] = mix.Guess{Value: 2 * next, Sure: 3}
	case a.tag:
		t := e.tag(n)
		guesses[11] = mix.Guess{Value: t[0], Sure: 2}
		guesses[12] = mix.Guess{Value: t[0] + t[1], Sure: 3}
	case a.form == signature.ScalarForm:
		guesses[11] = e.requests.after(number, 4)
		guesses[12] = e.requests.latest(number, 5)
	}
	v = e.c.Value(kindValue+8*int(a.form)+min(a.word, 7), guesses[:], a.site, l[0], v)
	e.seen(n, number, a, v)
	return v
}

// seen takes a value for those that follow.
func (e *eventCoder) seen(n *eventNode, number int, a *eventAttr, v uint64) {
	a.last = [3]uint64{v, a.last[0], a.last[1]}
	a.at.last = v
	switch {
	case a.form == signature.SlotForm:
		e.requests.made(number, v)
	case a.form == signature.IdentForm && v&1 == 0:
		e.ident, e.newest = v, max(e.newest, v>>1)
	case a.tag:
		t := e.tag(n)
		*t = [2]uint64{v, v - t[0]}
	case a.form == signature.ScalarForm:
		e.requests.used(number, v)
	}
}

// tag is the last tag that was used in a node's communicator, and its difference from the one before.
func (e *eventCoder) tag(n *eventNode) *[2]uint64 {
	object := uint64(0)
	for i := range min(2, len(n.words)) {
		if n.words[i].index == signature.ObjectWord {
			object = n.words[i].token
		}
	}
	t := e.tags[object]
	if t == nil {
		t = &[2]uint64{}
		e.tags[object] = t
	}
	return t
}

// elem codes element k of a vector, of which those before are known.
func (e *eventCoder) elem(number int, a *eventAttr, hash uint64, before []uint64, k int, want uint64, some bool, v uint64) uint64 {
	var p [2]uint64
	for i := range min(k, 2) {
		p[i] = before[k-1-i]
	}
	l := &a.elems
	guesses := [...]mix.Guess{
		{Context: mix.Hash(ctxElem, 1, a.where, l[0])},
		{Context: mix.Hash(ctxElem, 2, a.where, l[0], l[1])},
		{Context: mix.Hash(ctxElem, 3, a.where, l[0], l[1], l[2])},
		{Context: mix.Hash(ctxElem, 4, a.where, hash)},
		{Context: mix.Hash(ctxElem, 5, a.where, uint64(k), p[0])},
		{Context: mix.Hash(ctxElem, 6, a.site, hash, e.events[0])},
		{Context: mix.Hash(ctxElem, 7, a.site, a.at.elem)},
		{None: !some, Value: want, Sure: uint8(min(e.matched, 15))},
		{Value: 2*l[0] - l[1], Sure: 1},
		{None: true},
		{Value: a.at.elem, Sure: 1},
		e.requests.after(number, 4),
		{None: true},
		{None: true},
	}
	if k < len(a.array) {
		guesses[9] = mix.Guess{Value: a.array[k], Sure: 3}
	}
	if k > 0 && k < len(a.array)+1 {
		// where the vector before had the last element, and what followed it there
		guesses[12] = mix.Guess{Context: mix.Hash(ctxElem, 8, a.where, p[0], a.array[k-1])}
	}
	v = e.c.Value(kindElem+int(min(k, 3)), guesses[:], mix.Hash(ctxElem, a.site), l[0], v)
	e.seenElem(number, a, v)
	return v
}

func (e *eventCoder) seenElem(number int, a *eventAttr, v uint64) {
	a.elems = [3]uint64{v, a.elems[0], a.elems[1]}
	a.at.elem = v
	e.requests.used(number, v)
}

// requestOrder guesses which request comes next: programs complete them in the order in which
// they were made.
type requestOrder struct {
	order  [][2]uint64 // node and slot
	number map[uint64]int
	at     int // the last one that was used
}

func (r *requestOrder) made(node int, slot uint64) {
	if slot >= 1<<24 {
		return
	}
	r.number[uint64(node)<<24|slot] = len(r.order)
	r.order = append(r.order, [2]uint64{uint64(node), slot})
}

// used notes a value that may be a request's token, at a node.
func (r *requestOrder) used(node int, v uint64) {
	if v&7 != token.Own {
		return
	}
	back, slot := token.Unpair(v >> 3)
	if k, ok := r.number[(uint64(node)-uint64(block.Unzigzag(back)))<<24|slot]; ok && slot < 1<<24 {
		r.at = k
	}
}

// after guesses the request that was made after the last one that was used.
func (r *requestOrder) after(node int, sure uint8) mix.Guess { return r.guess(node, r.at+1, sure) }

// latest guesses the request that was made last.
func (r *requestOrder) latest(node int, sure uint8) mix.Guess {
	return r.guess(node, len(r.order)-1, sure)
}

func (r *requestOrder) guess(node, k int, sure uint8) mix.Guess {
	if k < 0 || k >= len(r.order) {
		return mix.Guess{None: true}
	}
	back := int64(node) - int64(r.order[k][0])
	return mix.Guess{Value: token.Of(token.Own, token.Pair(uint64(back<<1^back>>63), r.order[k][1])), Sure: sure}
}
