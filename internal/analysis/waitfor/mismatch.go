package waitfor

import (
	"cmp"
	"maps"
	"slices"
)

// Difference says in what the calls of a mismatch differ.
type Difference string

const (
	OtherProcedure Difference = "procedure"
	OtherRoot      Difference = "root"
	OtherOperation Difference = "operation"
	OtherData      Difference = "data"
)

// Mismatch is a set of calls at the same position in the order of a communicator's collectives
// that do not match.
type Mismatch struct {
	Difference Difference // of the first two
	Object     uint64     // word of the communicator, window or file
	Calls      []Matching // by rank
}

// Matching is a set of calls that match each other.
type Matching struct {
	Calls []CollectiveCall // by rank
	kind  kind
	op    uint64
	data  amount
}

// CollectiveCall is the call of a rank.
type CollectiveCall struct {
	Rank  *Rank
	Words []uint64
	In    bool // the rank is in the call; otherwise it has returned, or does not block
}

// note records a turn that a rank waits in. The calls of all members in it are compared.
func (n *needs) note(at turn, r *Rank, words []uint64, members *set) {
	if at.object&^1 == startObject || !n.made(r, at.order).ordered() || r.dropped() {
		return
	}
	key := matching{turn: at, members: members}
	calls := n.waited[key]
	if calls == nil {
		calls = map[*Rank][]uint64{}
		n.waited[key] = calls
	}
	calls[r] = words
}

// mismatches compares the calls of the turns that some rank waits in. What follows the first
// mismatch in an order is out of step.
func (n *needs) mismatches() []Mismatch {
	first := map[matching]uint64{}
	found := map[matching]Mismatch{}
	for key, waited := range n.waited {
		at := key
		at.k = 0
		if k, ok := first[at]; ok && k < key.k {
			continue
		}
		if groups := n.compare(key, waited); len(groups) > 1 {
			first[at] = key.k
			found[at] = Mismatch{groups[0].difference(&groups[1]), key.object, groups}
		}
	}
	list := slices.Collect(maps.Values(found))
	slices.SortFunc(list, func(a, b Mismatch) int {
		return cmp.Or(cmp.Compare(a.Calls[0].Calls[0].Rank.Number, b.Calls[0].Calls[0].Rank.Number), cmp.Compare(a.Object, b.Object))
	})
	return list
}

// compare groups the calls of a turn by what matches.
func (n *needs) compare(key matching, waited map[*Rank][]uint64) (groups []Matching) {
	for _, rank := range key.members.ranks {
		r := n.byRank[rank]
		if r == nil {
			continue
		}
		words, in := waited[r], true
		if words == nil {
			words, in = n.callAt(r, key.turn)
		}
		if words != nil {
			groups = n.join(groups, CollectiveCall{r, words, in})
		}
	}
	return groups
}

// join adds a call to the group of those that it matches.
func (n *needs) join(groups []Matching, c CollectiveCall) []Matching {
	g := Matching{kind: n.kindOf(c.Rank, c.Words), op: reductionOf(c.Words), data: n.amountOf(c.Rank, c.Words)}
	for i := range groups {
		if groups[i].difference(&g) == "" {
			groups[i].Calls = append(groups[i].Calls, c)
			return groups
		}
	}
	g.Calls = []CollectiveCall{c}
	return append(groups, g)
}

// difference says in what two groups of calls differ; "" if they match.
func (m *Matching) difference(o *Matching) Difference {
	switch {
	case m.kind.proc != o.kind.proc:
		return OtherProcedure
	case m.kind.root != o.kind.root:
		return OtherRoot
	case m.op != o.op && m.op != 0 && o.op != 0:
		return OtherOperation
	case m.data.differs(o.data):
		return OtherData
	}
	return ""
}
