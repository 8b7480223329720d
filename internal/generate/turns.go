package generate

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/signature"
)

// callPlace is a word of the calls from one callsite.
type callPlace struct {
	proc *signature.Proc
	site uint64
	word int
}

// turns returns an error if the calls from one place of a process go through several ranks that are not all
// next to it: how many they are on another number of ranks is unknown.
func (s *scaler) turns(p *process) error {
	named := map[callPlace][]uint64{}
	for _, n := range p.list() {
		for i := signature.FirstWord; i < len(n.values); i++ {
			q := n.param(i)
			if q == nil || !isRank(q) || n.proc.Words[i].Out || n.values[i].vecs != nil {
				continue
			}
			at := callPlace{n.proc, p.site(n), i}
			n.values[i].series.each(func(w uint64) {
				if !special(w) && !slices.Contains(named[at], w) {
					named[at] = append(named[at], w)
				}
			})
			if list := named[at]; len(list) > 1 && (i == n.proc.Roles.Root || !s.nextTo(p, n, list)) {
				return fmt.Errorf("%s: argument %s: takes several ranks in turn (%d, %d): which ones they are on another number of ranks is unknown",
					n.proc.Name, n.proc.Words[i].Name, list[0], list[1])
			}
		}
	}
	return nil
}

// nextTo reports whether all peers of a node are next to the process, in the grid or in a row or column of it.
func (s *scaler) nextTo(p *process, n *node, peers []uint64) bool {
	if p.ofWorld(n) {
		return s.allNear(p.rank, peers)
	}
	d := s.from.along(p.rank, p.members(n))
	if d < 0 {
		return false
	}
	at, size := s.from.at(p.rank)[d], s.from.dims[d]
	return !slices.ContainsFunc(peers, func(w uint64) bool {
		way := (int(w) - at + size) % size
		return way > 1 && way < size-1
	})
}

func (s *scaler) allNear(rank int, peers []uint64) bool {
	return !slices.ContainsFunc(peers, func(w uint64) bool {
		way, _ := s.from.distance(rank, int(w))
		return !near(way)
	})
}
