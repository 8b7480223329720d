package check

import (
	"fmt"

	"github.com/efg-tools/efg/signature"
)

// balance holds, for each member of a communicator, the totals that it sends, according to
// itself and to the receivers, and the totals that it receives.
type balance struct {
	ranks                  int // ranks added
	unknown                bool
	sent, taken            []uint64 // sent: according to the sender, according to the others
	arriving, expectedHere []uint64 // received: according to the others, according to the receiver
}

func (b *balance) add(me int, s *exchanges) {
	if b.unknown = b.unknown || s.unknown || me < 0 || b.sent != nil && len(b.sent) != len(s.to); b.unknown {
		return
	}
	if b.sent == nil {
		n := len(s.to)
		*b = balance{sent: make([]uint64, n), taken: make([]uint64, n), arriving: make([]uint64, n), expectedHere: make([]uint64, n)}
	}
	b.ranks++
	for j := range s.to {
		out := signature.Hash(uint64(me), uint64(j), s.length, s.to[j])
		b.sent[me] += out
		b.arriving[j] += out
		in := signature.Hash(uint64(j), uint64(me), s.length, s.from[j])
		b.taken[j] += in
		b.expectedHere[me] += in
	}
}

// Bounds of the search where sums disagree.
const (
	maxSenders   = 4
	maxReceivers = 32
	maxCompared  = 1 << 20 // calls
)

// exchange finds pairs of members that disagree, if any.
func (b *builder) exchange(k scopeKey, s *scopeState) error {
	x := s.balance
	if x == nil || x.unknown || s.unordered || s.members[0] == nil || x.ranks != s.members.size() {
		return nil
	}
	found := 0
	for i := 0; i < len(x.sent) && found < maxSenders; i++ {
		if x.sent[i] == x.taken[i] {
			continue
		}
		f, err := b.unequalPair(k, s, i)
		if err != nil {
			return err
		}
		if f != nil {
			found++
			b.group(*f)
		}
	}
	return nil
}

// unequalPair finds a member that receives other data from member i than i sends to it.
func (b *builder) unequalPair(k scopeKey, s *scopeState, i int) (*candidateFault, error) {
	from, err := b.reading(s.members.at(i), k)
	if err != nil {
		return nil, err
	}
	tried := 0
	for j := 0; j < len(s.balance.arriving) && tried < maxReceivers; j++ {
		if s.balance.arriving[j] == s.balance.expectedHere[j] {
			continue
		}
		tried++
		to, err := b.reading(s.members.at(j), k)
		if err != nil {
			return nil, err
		}
		from.restart(0)
		for n := uint64(1); n <= min(maxCompared, s.sure) && from.next() && to.next(); n++ {
			x, y := from.now.moves, to.now.moves
			if x == nil || y == nil || x.to[j] == y.from[i] {
				continue
			}
			f := &candidateFault{kind: CollectiveData, count: 1, rank: s.members.at(i)}
			from.addFault(f)
			f.text = fmt.Sprintf("has %d bytes for rank %d in collective call %d on %s, and rank %d at %s takes %d",
				x.to[j], s.members.at(j), n, from.names.Handle(signature.Comm, s.word), s.members.at(j), to.place(), y.from[i])
			return f, nil
		}
	}
	return nil, nil
}
