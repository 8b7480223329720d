package check

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/efg-tools/efg/internal/analysis"
)

// class are the ranks with equal sequences of calls.
type class struct {
	hash, length, sum uint64
	ranks             []int
}

// scopeState is the state of a communicator or window.
type scopeState struct {
	word      uint64
	members   memberList
	unordered bool
	classes   map[[3]uint64]*class
	sure      uint64   // number of calls of each member before one that failed
	balance   *balance // of calls that are compared for each pair of members; nil if there are none
}

// use adds the calls of a process.
func (b *builder) use(p *analysis.Process, list map[scopeKey]*usage) {
	for k, u := range list {
		s := b.scopes[k]
		if s == nil {
			s = &scopeState{word: u.word, members: memberListOf(p, u.word), classes: map[[3]uint64]*class{}, sure: math.MaxUint64}
			b.scopes[k] = s
		}
		s.sure = min(s.sure, u.sure)
		s.unordered = s.unordered || u.unordered
		key := [3]uint64{u.hash, u.length, u.sum}
		c := s.classes[key]
		if c == nil {
			c = &class{u.hash, u.length, u.sum, nil}
			s.classes[key] = c
		}
		c.ranks = append(c.ranks, p.Data.Rank)
		if u.moves != nil && s.members[0] != nil {
			if s.balance == nil {
				s.balance = &balance{}
			}
			s.balance.add(s.members.index(p.Data.Rank), u.moves)
		}
	}
}

// maxClasses bounds the number of classes of a communicator that are compared.
const maxClasses = 32

// collectives compares the calls of the members of each communicator.
func (b *builder) collectives() error {
	for _, k := range slices.SortedFunc(maps.Keys(b.scopes), compareScopes) {
		s := b.scopes[k]
		list := s.list()
		list = b.addSilent(s, list)
		if len(list) < 2 {
			if err := b.exchange(k, s); err != nil {
				return err
			}
			continue
		}
		slices.SortFunc(list, func(x, y *class) int {
			return cmp.Or(cmp.Compare(b.countComplete(y), b.countComplete(x)), cmp.Compare(len(y.ranks), len(x.ranks)), cmp.Compare(x.ranks[0], y.ranks[0]))
		})
		if err := b.compare(k, s, list[:min(len(list), maxClasses)]); err != nil {
			return err
		}
	}
	return nil
}

// countComplete is 1 if all calls of at least one rank of a class are recorded.
func (b *builder) countComplete(c *class) int {
	for _, r := range c.ranks {
		if !b.short[r] {
			return 1
		}
	}
	return 0
}

// list returns the classes; if calls have no order, classes that differ only in order are
// combined.
func (s *scopeState) list() []*class {
	merged := map[[3]uint64]*class{}
	for _, c := range s.classes {
		key := [3]uint64{c.hash, c.length, c.sum}
		if s.unordered {
			key[0] = 0
		}
		if m := merged[key]; m != nil {
			m.ranks = append(m.ranks, c.ranks...)
		} else {
			merged[key] = c
		}
	}
	var list []*class
	for _, c := range merged {
		slices.Sort(c.ranks)
		list = append(list, c)
	}
	return list
}

// addSilent adds the members that made no calls.
func (b *builder) addSilent(s *scopeState, list []*class) []*class {
	seen := map[int]bool{}
	size := s.members.size()
	for _, c := range list {
		size -= len(c.ranks)
	}
	if size <= 0 {
		return list
	}
	for _, c := range list {
		for _, r := range c.ranks {
			seen[r] = true
		}
	}
	silent := &class{}
	for _, m := range s.members {
		for i := 0; m != nil && i < m.Size(); i++ {
			r := m.At(i)
			if _, there := b.number[r]; there && !seen[r] && !b.short[r] {
				silent.ranks = append(silent.ranks, r)
			}
		}
	}
	if len(silent.ranks) > 0 {
		slices.Sort(silent.ranks)
		list = append(list, silent)
	}
	return list
}
