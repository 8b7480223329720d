package waits

import (
	"github.com/efg-tools/efg/internal/analysis/match"
)

// pair names two threads, the one with the lower index first; never 0.
type pair uint64

func pairOf(a, b *match.Thread) (p pair, swapped bool) {
	low, high := a.Index, b.Index
	if swapped = low > high; swapped {
		low, high = high, low
	}
	return pair(low)<<32 | pair(high+1), swapped
}

// contact is where two threads stood when the last message between them was received.
type contact struct{ low, high uint64 }

// contacts has those of pairs: a hash table. A thread communicates with few others, but does so with every
// message.
type contacts struct {
	table []contactOf // of a power of two, at most half full
	pairs int
}

type contactOf struct {
	pair pair // 0: none
	contact
}

// find returns where in the table a pair is, or would be.
func (c *contacts) find(p pair) *contactOf {
	const multiplier = 0x9e3779b97f4a7c15
	mask := uint64(len(c.table) - 1)
	for i := uint64(p) * multiplier >> 32 & mask; ; i = (i + 1) & mask {
		if x := &c.table[i]; x.pair == p || x.pair == 0 {
			return x
		}
	}
}

// of returns the contact of a pair; false if there was none.
func (c *contacts) of(p pair) (contact, bool) {
	if c.pairs == 0 {
		return contact{}, false
	}
	x := c.find(p)
	return x.contact, x.pair != 0
}

func (c *contacts) put(p pair, x contact) {
	if 2*(c.pairs+1) > len(c.table) {
		old := c.table
		c.table = make([]contactOf, max(2*len(old), 64))
		for _, x := range old {
			if x.pair != 0 {
				*c.find(x.pair) = x
			}
		}
	}
	at := c.find(p)
	if at.pair == 0 {
		c.pairs++
	}
	*at = contactOf{p, x}
}
