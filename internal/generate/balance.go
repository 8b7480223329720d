package generate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/efg-tools/efg/signature"
)

// link are the messages from one rank to another; from: -1 of those whose receiver names no source.
type link struct{ from, to int }

// balance returns an error if the new processes do not receive what they send each other, and those of the run did.
func (s *scaler) balance(list []*process) error {
	if unmatched(s.procs) != nil {
		return nil // by persistent requests, matched probes and others that are not counted
	}
	if l := unmatched(list); l != nil {
		return fmt.Errorf("rank %d would send to rank %d of %d what that does not receive, or the other way round: the run's messages do not follow from the places of ranks", l.from, l.to, len(list))
	}
	return nil
}

// unmatched returns the first link on which another number of messages is sent than received, nil if there is none.
func unmatched(procs []*process) *link {
	sent, received := map[link]uint64{}, map[link]uint64{}
	wild := map[int]bool{}
	for _, p := range procs {
		for _, n := range p.list() {
			if !p.ofWorld(n) {
				continue
			}
			r := &n.proc.Roles
			if r.Dest != 0 {
				n.tally(r.Dest, func(to int, times uint64) { sent[link{p.rank, to}] += times })
			}
			if r.Source != 0 && r.Recv.Present() {
				n.tally(r.Source, func(from int, times uint64) {
					wild[p.rank] = wild[p.rank] || from < 0
					received[link{from, p.rank}] += times
				})
			}
		}
	}
	sent, received = merged(sent, wild), merged(received, wild)
	for _, m := range []map[link]uint64{sent, received} {
		for _, l := range slices.SortedFunc(maps.Keys(m), func(a, b link) int { return (a.to-b.to)<<20 + a.from - b.from }) {
			if sent[l] != received[l] {
				return &l
			}
		}
	}
	return nil
}

// merged adds what goes to receivers that name no source.
func merged(m map[link]uint64, wild map[int]bool) map[link]uint64 {
	out := map[link]uint64{}
	for l, n := range m {
		if wild[l.to] {
			l.from = -1
		}
		out[l] += n
	}
	return out
}

// tally calls f for each rank that a word of the node's calls names, with the number of calls; -1 is any source.
func (n *node) tally(word int, f func(rank int, times uint64)) {
	add := func(w, times uint64) {
		switch {
		case w == signature.AnySource:
			f(-1, times)
		case !special(w):
			f(int(w), times)
		}
	}
	s := n.values[word].series
	if w, ok := s.constant(); ok {
		add(w, n.visits)
		return
	}
	again := make([]uint64, len(s))
	for i, r := range s {
		for k := i - int(r.Back); r.Count == 0 && k < i; k++ {
			again[k] += r.Times
		}
	}
	for i, r := range s {
		if r.Step == 0 {
			add(r.Value, r.Count*(1+again[i]))
			continue
		}
		for k := range r.Count {
			add(r.Value+k*uint64(r.Step), 1+again[i])
		}
	}
}
