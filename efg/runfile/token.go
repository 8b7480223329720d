package runfile

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/internal/token"
	"github.com/efg-tools/efg/signature"
)

// wordContext is what the tokens of a node's words depend on.
type wordContext struct {
	defs   *defIndex
	thread uint32
	node   uint32
	// rank and size of the process in the communicator; size 0 if unknown
	rank, size int64
	// symbol, if not nil, returns what represents a relative rank in place of the rank.
	symbol func(token uint64) uint64
}

// defIndex finds definitions by word, and words by the number of a definition.
type defIndex struct {
	list   []efg.Def
	byWord map[uint64]uint32 // first definition with the word
	below  uint32            // only definitions below this one may be referred to
}

func newDefIndex(list []efg.Def) *defIndex {
	x := &defIndex{list: list, byWord: make(map[uint64]uint32, len(list)), below: uint32(len(list))}
	for i := range list {
		if _, ok := x.byWord[list[i].Word]; !ok {
			x.byWord[list[i].Word] = uint32(i)
		}
	}
	return x
}

func (x *defIndex) find(w uint64) (n uint64, ok bool) {
	d, ok := x.byWord[w]
	return uint64(d), ok && d < x.below
}

// Token returns the token of a word; false if it has only a wide one.
func (c *wordContext) Token(w uint64) (uint64, bool) {
	switch w >> 62 {
	case 2:
		k := w &^ signature.ConstBit
		return token.Of(token.Const, k), k < 1<<40
	case 1:
		return c.idToken(w)
	case 0:
		if w <= 1<<20 { // no identity is that small
			break
		}
		if d, ok := c.defs.find(w); ok {
			return token.Of(token.Def, d), true
		}
		if d, ok := c.defs.find(w &^ signature.SequenceMask); ok && w > 1<<32 {
			return token.Of(token.Family, token.Pair(d, w&signature.SequenceMask)), true
		}
	}
	z := block.Zigzag(int64(w))
	return token.Of(token.Number, z), z < 1<<60
}

// IsNumber reports whether a token is that of a number.
func (c *wordContext) IsNumber(t uint64) bool { return t&7 == token.Number }

func (c *wordContext) HasRanks() bool { return c.size > 0 }

func (c *wordContext) idToken(w uint64) (uint64, bool) {
	id, ok := signature.ParseID(w)
	switch {
	case !ok || id.Word() != w:
		return 0, false
	case id.Thread == c.thread:
		return token.Of(token.Own, token.Pair(block.Zigzag(int64(c.node)-int64(id.Node)), uint64(id.Slot))), true
	}
	v, ok := token.PackID(id)
	return token.Of(token.ID, v), ok
}

// Relative returns the token of a peer as its distance from the process's own rank, in
// (-size/2, size/2]; false if w is not a rank of the communicator.
func (c *wordContext) Relative(w uint64) (uint64, bool) {
	if int64(w) < 0 || int64(w) >= c.size || c.rank < 0 || c.rank >= c.size {
		return 0, false
	}
	d := int64(w) - c.rank
	if 2*d > c.size {
		d -= c.size
	}
	if 2*d <= -c.size {
		d += c.size
	}
	return token.Of(token.Relative, block.Zigzag(d)), true
}

// Word returns the word of a token that is not wide. It is 0 for a token that refers to
// nothing.
func (c *wordContext) Word(t uint64) uint64 {
	v := t >> 3
	switch t & 7 {
	case token.Number:
		return uint64(block.Unzigzag(v))
	case token.Const:
		return signature.ConstBit | v
	case token.Def:
		return c.defWord(v)
	case token.Family:
		d, seq := token.Unpair(v)
		return c.defWord(d)&^signature.SequenceMask | seq
	case token.Own:
		back, slot := token.Unpair(v)
		return signature.ID{Thread: c.thread, Node: uint32(int64(c.node) - block.Unzigzag(back)), Slot: uint32(slot)}.Word()
	case token.Relative:
		if c.symbol != nil {
			return c.symbol(t)
		}
		r := c.rank + block.Unzigzag(v)
		if r >= c.size {
			r -= c.size
		}
		if r < 0 {
			r += c.size
		}
		return uint64(r)
	case token.ID:
		return token.UnpackID(v).Word()
	}
	return 0
}

func (c *wordContext) defWord(n uint64) uint64 {
	if n >= uint64(len(c.defs.list)) {
		return 0
	}
	return c.defs.list[n].Word
}
