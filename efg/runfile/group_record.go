package runfile

import (
	"fmt"

	"github.com/efg-tools/efg/internal/token"
	"github.com/efg-tools/efg/signature"
)

// record returns member m as a record, for another group. Peers get both forms: the one that is
// not stored follows from the process's ranks in communicators.
func (p *readGroup) record(m uint64, text func(uint64) (string, error), defs *defIndex, r *ranks) (*record, error) {
	vals, err := p.memberCells(nil, m)
	if err != nil {
		return nil, err
	}
	u := &record{kind: p.kind, shape: p.shape, key: p.key, cells: make([]cell, len(vals))}
	c := wordContext{defs: defs}
	var object uint64
	for i, v := range vals {
		at := &p.places[i]
		if at.what == cellWord && at.index == signature.ObjectWord && p.masks != nil {
			object = v
		}
		if at.peer {
			c.rank, c.size = r.rank, r.size
			if p.objectOf(int(at.node)) {
				c.rank, c.size = r.of(c.Word(object))
			}
		}
		if u.cells[i], err = p.cellOf(at, v, &c, text); err != nil {
			return nil, err
		}
	}
	return u, nil
}

func (p *readGroup) cellOf(at *place, v uint64, c *wordContext, text func(uint64) (string, error)) (to cell, err error) {
	to = cell{kind: at.what, v: v, role: int(at.role)}
	switch {
	case at.what == cellSeq:
		if v >= uint64(len(p.bodies)) {
			return to, fmt.Errorf("%w: sequence %d of %d", errGroup, v, len(p.bodies))
		}
		to.body = p.bodies[v]
	case at.what == cellText:
		if to.text, err = text(v); err != nil {
			return to, err
		}
	case at.what == cellWord && v&7 == token.Wide:
		if v>>3 >= uint64(len(p.wide)) {
			return to, fmt.Errorf("%w: wide word %d of %d", errGroup, v>>3, len(p.wide))
		}
		to.kind, to.v = cellWide, p.wide[v>>3]
	case at.peer:
		if v&7 == token.Relative {
			to.v, _ = c.Token(c.Word(v))
		}
		if alt, ok := c.Relative(c.Word(to.v)); ok && to.v&7 == token.Number {
			to.kind, to.alt = cellPeer, alt
		}
	}
	return to, nil
}
