package generate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// members are the ranks of the communicator of a node's calls, in its order; nil if they are not known, and of
// intercommunicators.
func (p *process) members(n *node) []int {
	return p.membersOf(n.graph(p).Words[signature.ObjectWord])
}

// membersOf are the ranks of a communicator, in its order; nil if they are not known, and of intercommunicators.
func (p *process) membersOf(comm uint64) []int {
	d := p.definition(signature.Family(comm))
	if d == nil || d.Kind != efg.DefComm || len(d.Words) < 4 || d.Words[3] != uint64(len(d.Words)-4) {
		return nil
	}
	var ranks []int
	for r := d.Words[4:]; len(r) >= 3; r = r[3:] {
		for k := range min(r[1], uint64(p.data.Size)) {
			ranks = append(ranks, int(r[0]+k*r[2]))
		}
	}
	return ranks
}

// gridOfRows is the grid whose rows and columns are communicators of its first rank; nil: there are none.
func gridOfRows(p *process) *grid {
	rows, columns := map[int]bool{}, map[int]bool{} // lengths
	for _, n := range p.list() {
		m := p.members(n)
		if len(m) < 2 || m[0] != p.rank {
			continue
		}
		step := m[1] - m[0]
		for i := range m {
			if m[i] != m[0]+i*step {
				step = 0
			}
		}
		rows[len(m)] = rows[len(m)] || step == 1
		columns[len(m)] = columns[len(m)] || step > 1 && step*len(m) == p.data.Size
	}
	for _, length := range slices.Sorted(maps.Keys(rows)) {
		if other := p.data.Size / length; rows[length] && columns[other] && length*other == p.data.Size {
			return &grid{dims: []int{other, length}, wrap: []bool{false, false}}
		}
	}
	return nil
}

// along is the dimension of the grid in which the members of a node's communicator follow each other, as in a row
// or a column; -1: they do not.
func (g *grid) along(rank int, members []int) int {
	for d, size := range g.dims {
		if size != len(members) || size < 2 || size == g.size() {
			continue
		}
		at := g.at(rank)
		if !slices.ContainsFunc(members, func(r int) bool {
			at[d] = slices.Index(members, r)
			return !slices.Equal(g.at(r), at)
		}) {
			return d
		}
	}
	return -1
}

// along is the dimension of the grid for the communicator of the word's calls, the same on all ranks of the
// class; -1: none.
func (s *wordScaler) along() int {
	found := -1
	for i, p := range s.class.procs {
		d := s.from.along(p.rank, p.members(p.nodes[s.node.number]))
		if d < 0 || i > 0 && d != found {
			return -1
		}
		found = d
	}
	return found
}

// inLine are peers in a communicator of the ranks along dimension d: the same for all, or next to each rank.
func (s *wordScaler) inLine(words []uint64, d int) ([]uint64, error) {
	from, to := s.from.dims[d], s.to.dims[d]
	at := make([]int, len(words)) // ranks in the communicator
	for i, r := range s.oldRanks() {
		at[i] = s.from.at(r)[d]
	}
	out := make([]uint64, len(s.ranks))
	same := equal(words)
	if same && s.word == s.node.proc.Roles.Root || same && !equalInts(at) {
		if words[0] == uint64(from-1) {
			return nil, fmt.Errorf("is rank %d of a row or column: that may be this rank, or the last one", from-1)
		}
		for k := range out {
			out[k] = words[0]
		}
		return out, nil
	}
	found := false
	for _, wrap := range []bool{false, true} {
		old, line := &grid{dims: []int{from}, wrap: []bool{wrap}}, &grid{dims: []int{to}, wrap: []bool{wrap}}
		way, unclear, ok := old.distanceOfAll(at, words)
		if !ok || !near(way) {
			continue
		}
		for k, r := range s.ranks {
			w := line.neighbour(s.to.at(r)[d], way)
			if unclear >= 0 || found && out[k] != w {
				return nil, fmt.Errorf("is in a row or column of %d ranks, whose ends may be next to each other or not: record it on more", from)
			}
			out[k] = w
		}
		found = true
	}
	if !found {
		return nil, errPeer{fmt.Errorf("is no neighbour in a row or column of %d ranks: %s", from, s.examples(words))}
	}
	return out, nil
}

func equalInts(list []int) bool {
	return !slices.ContainsFunc(list, func(n int) bool { return n != list[0] })
}

// length is how many elements an array has that had one for each member of the node's communicator.
func (s *wordScaler) length() (int, error) {
	if s.class.like().ofWorld(s.node) {
		return s.to.size(), nil
	}
	if d := s.along(); d >= 0 {
		return s.to.dims[d], nil
	}
	return 0, fmt.Errorf("has an element for each of some ranks: how many these are on another number of ranks is unknown")
}
