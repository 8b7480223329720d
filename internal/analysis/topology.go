package analysis

import "github.com/efg-tools/efg/signature"

// layouts holds the topologies that a process attached to communicators: by word and, if all
// communicators of a family have the same, by family.
type layouts struct {
	byWord   map[uint64]*layout
	byFamily map[uint64]*layout // nil for different ones
}

// layout holds the arguments of the call that made a topology.
type layout struct {
	grid          bool
	sub           bool // of MPI_Cart_sub, before its parent is known
	parent        uint64
	dims, periods []uint64 // Cartesian
	keep          []uint64 // dimensions that a subgrid keeps
	in, out       []uint64 // distributed graph
	index, edges  []uint64 // graph
}

// findLayouts reads the calls that made topologies.
func (p *Process) findLayouts() error {
	p.layouts = &layouts{map[uint64]*layout{}, map[uint64]*layout{}}
	for _, s := range p.streams {
		for i := range s.Nodes {
			proc := procOf(&s.Nodes[i])
			if proc == nil || !describesTopology(proc) {
				continue
			}
			if err := s.findLayout(i, proc); err != nil {
				return err
			}
		}
	}
	return nil
}

// describesTopology reports whether the arguments of a call tell its process the neighbours in
// the new communicator.
func describesTopology(p *signature.Proc) bool {
	t := &p.Roles.Topology
	return t.Dims != 0 || t.Remain != 0 || t.Edges != 0 || t.Sources != 0 && t.Degrees == 0
}

func (s *stream) findLayout(node int, proc *signature.Proc) error {
	t, made := &proc.Roles.Topology, proc.Roles.Made
	mask := uint64(1)<<signature.ObjectWord | 1<<made
	for _, w := range []int{t.Dims, t.Periods, t.Remain, t.Index, t.Edges, t.Sources, t.Destinations} {
		mask |= 1 << w
	}
	return s.instances(node, mask&^1, func(c *instance) error {
		list := func(word int) []uint64 {
			if word == 0 {
				return nil
			}
			v, _ := c.vec(word)
			return append([]uint64{}, v...)
		}
		s.process.layouts.add(c.words[made], &layout{
			grid: t.Dims != 0, sub: t.Remain != 0, parent: c.words[signature.ObjectWord],
			dims: list(t.Dims), periods: list(t.Periods), keep: list(t.Remain), index: list(t.Index), edges: list(t.Edges),
			in: list(t.Sources), out: list(t.Destinations),
		}, s.process)
		return nil
	})
}

// add enters a layout. A communicator's word is reused only after 2²⁴ others of its family.
func (l *layouts) add(word uint64, a *layout, p *Process) {
	if signature.IsConst(word) {
		return
	}
	a = p.derive(a)
	l.byWord[word] = a
	family := signature.Family(word)
	if b, ok := l.byFamily[family]; ok && !sameLayout(a, b) {
		a = nil
	}
	l.byFamily[family] = a
}

func sameLayout(a, b *layout) bool {
	equal := func(x, y []uint64) bool { return signature.Hash(x...) == signature.Hash(y...) }
	return a != nil && b != nil && equal(a.dims, b.dims) && equal(a.periods, b.periods) &&
		equal(a.in, b.in) && equal(a.out, b.out) && equal(a.index, b.index) && equal(a.edges, b.edges)
}

// derive makes the layout of a Cartesian subgrid.
func (p *Process) derive(a *layout) *layout {
	if !a.sub {
		return a
	}
	b := p.layoutOf(a.parent)
	if b == nil || len(b.dims) != len(a.keep) || len(b.periods) != len(a.keep) {
		return nil
	}
	sub := &layout{grid: true}
	for i, keep := range a.keep {
		if keep != 0 {
			sub.dims, sub.periods = append(sub.dims, b.dims[i]), append(sub.periods, b.periods[i])
		}
	}
	return sub
}

// layoutOf finds the topology of a communicator; a duplicate has that of its
// parent.
func (p *Process) layoutOf(word uint64) *layout {
	for range 64 {
		if l, ok := p.layouts.byWord[word]; ok {
			return l
		}
		family := signature.Family(word)
		if l, ok := p.layouts.byFamily[family]; ok {
			return l
		}
		def := p.families[family]
		if signature.IsConst(word) || def == nil || len(def.Words) < 2 {
			return nil
		}
		if way := signature.ConstantOf(def.Words[1]); way == nil || !way.Copies {
			return nil
		}
		word = def.Words[0]
	}
	return nil
}

// Neighbours returns the ranks of a communicator from which and to which a neighbourhood
// collective moves data, in their order; NoRank stands for MPI_PROC_NULL. ok is
// false if they are unknown.
func (p *Process) Neighbours(word uint64) (in, out []int, ok bool) {
	if p.layouts == nil && p.findLayouts() != nil {
		return nil, nil, false
	}
	l, c := p.layoutOf(word), p.comm(word)
	switch {
	case l == nil || c == nil || c.rank < 0:
		return nil, nil, false
	case l.grid:
		out = l.cartesian(c.rank)
		return out, out, true
	case l.index != nil:
		out = l.graph(c.rank)
		return out, out, true
	}
	return p.renumbered(ranksOf(l.in), l.parent, c), p.renumbered(ranksOf(l.out), l.parent, c), true
}

// renumbered translates ranks of a communicator into those of another one that was made from
// it, possibly in another order.
func (p *Process) renumbered(list []int, parent uint64, made *comm) []int {
	old := p.comm(parent)
	if old == nil || newMembers(&old.local, 0).key == newMembers(&made.local, 0).key {
		return list
	}
	for i, r := range list {
		if r != outside {
			list[i] = made.local.index(old.local.at(r))
		}
	}
	return list
}

func ranksOf(list []uint64) []int {
	r := make([]int, len(list))
	for i, w := range list {
		r[i] = outside
		if !signature.IsConst(w) {
			r[i] = int(w)
		}
	}
	return r
}

// cartesian lists for each dimension the neighbours at −1 and +1.
func (l *layout) cartesian(rank int) []int {
	list := make([]int, 0, 2*len(l.dims))
	size := 1
	for _, d := range l.dims {
		if d == 0 || d > maxRanks || size > maxRanks {
			return nil
		}
		size *= int(d)
	}
	if len(l.periods) < len(l.dims) {
		return nil
	}
	for i, d := range l.dims {
		n := int(d)
		size /= n // ranks between neighbours
		at := rank / size % n
		for _, to := range [2]int{at - 1, at + 1} {
			if to < 0 || to >= n {
				if l.periods[i] == 0 {
					list = append(list, outside)
					continue
				}
				to = (to + n) % n
			}
			list = append(list, rank+(to-at)*size)
		}
	}
	return list
}

func (l *layout) graph(rank int) []int {
	if rank >= len(l.index) {
		return nil
	}
	low, high := uint64(0), l.index[rank]
	if rank > 0 {
		low = l.index[rank-1]
	}
	if low > high || high > uint64(len(l.edges)) {
		return nil
	}
	return ranksOf(l.edges[low:high])
}
