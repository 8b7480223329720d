package analysis

import "github.com/efg-tools/efg/signature"

// Members returns the members of a communicator or, with the word of a window or file, of the
// communicator that it was created with: the local group and the remote group. They are nil if
// unknown, or if there is no remote group.
func (p *Process) Members(word uint64) (own, other *Members) {
	c := p.comm(word)
	if c == nil {
		c = p.window(word)
	}
	if c == nil {
		c = p.file(word)
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

// Index returns the position of a rank in the run among the members, -1 if it is not a member.
func (m *Members) Index(rank int) int { return m.index(rank) }

// AreFirst reports whether the members are the ranks 0 to n-1 of the run, in this order.
func (m *Members) AreFirst(n int) bool {
	for _, s := range m.group.spans {
		if m.first+s.first != s.at || s.count > 1 && s.stride != 1 {
			return false
		}
	}
	return m.Size() == n
}

// GroupMembers returns the members of a group, nil if it is unknown.
func (p *Process) GroupMembers(word uint64) *Members {
	def := p.groups[word]
	if def == nil {
		return nil
	}
	g := parseGroup(def.Words)
	return newMembers(&g, p.first)
}

// MadeWith returns the communicator that a window or file was made with, and how: the kind of the
// window, or the word of the file's name. It reports false if that is unknown.
func (p *Process) MadeWith(word uint64) (comm, how uint64, ok bool) {
	def := p.windows[signature.Family(word)]
	if def == nil {
		def = p.files[signature.Family(word)]
	}
	if def == nil || len(def.Words) < 2 {
		return 0, 0, false
	}
	return def.Words[0], def.Words[1], true
}
