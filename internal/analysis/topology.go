package analysis

import "github.com/efg-tools/efg/signature"

// layouts are the topologies that a process gave to communicators: by word and,
// as far as it gave all communicators of a family the same, by family.
type layouts struct {
	byWord   map[uint64]*layout
	byFamily map[uint64]*layout // nil: different ones
}

// layout holds the arguments of the call that made a topology.
type layout struct {
	kind          string
	parent        uint64
	dims, periods []uint64 // Cartesian
	keep          []uint64 // flags of MPI_Cart_sub
	in, out       []uint64 // distributed graph
	index, edges  []uint64 // graph
}

// layoutVecs are the array arguments of the procedures that make topologies.
var layoutVecs = map[string][]string{
	"MPI_Cart_create":                {"dims", "periods"},
	"MPI_Cart_sub":                   {"remain_dims"},
	"MPI_Graph_create":               {"index", "edges"},
	"MPI_Dist_graph_create_adjacent": {"sources", "destinations"},
}

// findLayouts reads the calls that made topologies.
func (p *Process) findLayouts() error {
	p.layouts = &layouts{map[uint64]*layout{}, map[uint64]*layout{}}
	for _, s := range p.streams {
		for i := range s.Nodes {
			proc := procOf(&s.Nodes[i])
			if proc == nil || layoutVecs[proc.Name] == nil {
				continue
			}
			if err := s.findLayout(i, proc); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *stream) findLayout(node int, proc *signature.Proc) error {
	w := words{proc}
	vecs := layoutVecs[proc.Name]
	made := len(proc.Words) - 1 // the new communicator is the last
	mask := uint64(1)<<2 | 1<<made
	for _, v := range vecs {
		mask |= 1 << w.in(v)
	}
	return s.instances(node, mask, func(c *instance) error {
		l := &layout{kind: proc.Name, parent: c.words[2]}
		var lists [2][]uint64
		for k, v := range vecs {
			list, _ := c.vec(w.in(v))
			lists[k] = append([]uint64{}, list...)
		}
		switch proc.Name {
		case "MPI_Cart_create":
			l.dims, l.periods = lists[0], lists[1]
		case "MPI_Cart_sub":
			l.keep = lists[0]
		case "MPI_Graph_create":
			l.index, l.edges = lists[0], lists[1]
		default:
			l.in, l.out = lists[0], lists[1]
		}
		s.process.layouts.add(c.words[made], l, s.process)
		return nil
	})
}

// add enters a layout. A communicator's word is used anew only after 2²⁴ of its
// family.
func (l *layouts) add(word uint64, a *layout, p *Process) {
	if isConst(word) {
		return
	}
	a = p.derive(a)
	l.byWord[word] = a
	family := word &^ sequenceMask
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

// derive makes the layout of MPI_Cart_sub Cartesian.
func (p *Process) derive(a *layout) *layout {
	if a.kind != "MPI_Cart_sub" {
		return a
	}
	b := p.layoutOf(a.parent)
	if b == nil || len(b.dims) != len(a.keep) || len(b.periods) != len(a.keep) {
		return nil
	}
	sub := &layout{kind: "MPI_Cart_create"}
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
		family := word &^ sequenceMask
		if l, ok := p.layouts.byFamily[family]; ok {
			return l
		}
		def := p.families[family]
		if isConst(word) || def == nil || len(def.Words) < 2 || !duplicates[def.Words[1]] {
			return nil
		}
		word = def.Words[0]
	}
	return nil
}

var duplicates = map[uint64]bool{
	constant("EFG_COMM_DUP"): true, constant("EFG_COMM_DUP_WITH_INFO"): true,
	constant("EFG_COMM_IDUP"): true, constant("EFG_COMM_IDUP_WITH_INFO"): true,
}

// Neighbours returns the ranks of a communicator from which and to which a neighbourhood
// collective moves data, in their order; NoRank stands for MPI_PROC_NULL. ok is
// false if they are not known.
func (p *Process) Neighbours(word uint64) (in, out []int, ok bool) {
	if p.layouts == nil && p.findLayouts() != nil {
		return nil, nil, false
	}
	l, c := p.layoutOf(word), p.comm(word)
	switch {
	case l == nil || c == nil || c.rank < 0:
		return nil, nil, false
	case l.dims != nil || l.kind == "MPI_Cart_create":
		out = l.cartesian(c.rank)
		return out, out, true
	case l.index != nil:
		out = l.graph(c.rank)
		return out, out, true
	}
	return p.renumbered(ranksOf(l.in), l.parent, c), p.renumbered(ranksOf(l.out), l.parent, c), true
}

// renumbered turns ranks of a communicator into those of another that was made from it,
// perhaps in another order.
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
		if !isConst(w) {
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
