package analysis

import "github.com/efg-tools/efg/signature"

// Members says who takes part in a communicator or, with the word of a window,
// in the communicator that it was made with: its own group and that of the
// other side. They are nil if nothing is known, or there is no other side.
func (p *Process) Members(word uint64) (own, other *Members) {
	c := p.comm(word)
	if c == nil {
		c = p.window(word)
	}
	if c == nil {
		return nil, nil
	}
	own = newMembers(&c.local, p.first)
	if c.inter {
		other = newMembers(&c.remote, p.first)
	}
	return own, other
}

func newMembers(g *group, first int) *Members {
	var list []uint64
	for _, s := range g.spans {
		list = append(list, uint64(s.first), uint64(s.count), uint64(s.stride))
	}
	return &Members{g, first, signature.Hash(append(list, uint64(first))...)}
}

// Key is equal for equal members.
func (m *Members) Key() uint64 { return m.key }

// Index is the position of a rank in the run among the members, -1 if it is none.
func (m *Members) Index(rank int) int { return m.index(rank) }
