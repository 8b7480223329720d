package check

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// reader translates the steps of a stream into symbols.
type reader struct {
	t     *tally
	i     int // number of the stream
	fold  *efg.FoldedWalk
	roles []*collRoles
	// failed are the roles of nodes of failed calls; nil if there are none
	failed []*collRoles
	cache  map[[2]int]call
	// pairs: some calls are compared for each pair of members
	pairs bool
	// both: some calls both send and receive data
	both bool
}

// call is a collective call.
type call struct {
	scope  scopeKey
	word   uint64 // of the communicator or window
	symbol symbol
	hash   uint64
	pairs  bool      // it is compared for each pair of members
	moves  *exchange // if it is, and that is known
}

// newReader returns nil if the stream has no collective calls.
func (t *tally) newReader(i int) *reader {
	s := &t.p.Data.Streams[i]
	r := &reader{t: t, i: i, roles: make([]*collRoles, len(s.Nodes)), cache: map[[2]int]call{}}
	masks := make([]uint64, len(s.Nodes))
	found := false
	for k := range s.Nodes {
		if s.Nodes[k].Counted > 0 {
			continue
		}
		if c := failedRoles(&s.Nodes[k]); c != nil {
			if r.failed == nil {
				r.failed = make([]*collRoles, len(s.Nodes))
			}
			r.failed[k], masks[k], found = c, mask(c.scope), true
		}
		if c := collectiveOf(rolesOf(&s.Nodes[k])); c != nil {
			r.roles[k], masks[k], found = c, c.mask()|c.arrayMask(&s.Nodes[k]), true
			r.both = r.both || c.gives()
		}
	}
	if !found {
		return nil
	}
	r.fold = efg.NewFoldedWalk(s, t.p.Data.Defs, masks)
	return r
}

// call returns the collective call of a step; false if it is not one, or one of the process
// with itself.
func (r *reader) call(s *efg.Step) (call, bool) {
	role := r.roles[s.Node]
	if role == nil {
		return call{}, false
	}
	key := [2]int{s.Node, s.Value}
	c, ok := r.cache[key]
	if !ok {
		words := r.fold.Words(s)
		c.word = words[role.scope]
		c.scope = r.t.scope(c.word)
		_, other := r.t.p.Members(c.word)
		c.symbol = role.symbolOf(r.t.types, words, other != nil)
		c.hash = c.symbol.hash()
		if c.pairs = role.pairwise(other != nil) && c.scope.word != 0; c.pairs {
			c.moves, r.pairs = r.exchangeOf(s, role, words), true
		}
		r.cache[key] = c
	}
	return c, c.scope.word != 0
}

// scope distinguishes the communicators and windows of a run.
func (t *tally) scope(word uint64) scopeKey {
	switch {
	case word == signature.CommWorld:
		return scopeKey{word, t.p.FirstRank()}
	case signature.IsConst(word) || word == 0:
		return scopeKey{}
	}
	if name := t.name(word); name != word {
		return scopeKey{name, 0}
	}
	return scopeKey{word, t.p.FirstRank()}
}

// add adds the sequences of steps to those of scopes.
func (r *reader) add(steps []efg.Step, to map[scopeKey]sequence, words map[scopeKey]uint64) {
	for i := range steps {
		s := &steps[i]
		if s.Times == 0 {
			if c, ok := r.call(s); ok {
				to[c.scope] = to[c.scope].then(single(c.hash))
				words[c.scope] = c.word
			}
			continue
		}
		body := map[scopeKey]sequence{}
		r.add(s.Body, body, words)
		for k, b := range body {
			to[k] = to[k].then(b.times(s.Times))
		}
	}
}

// usage is a process's use of a communicator or window.
type usage struct {
	sequence
	word      uint64
	unordered bool // made in several threads: the calls have no order
	moves     *exchanges
	// sure is the number of calls before the first that failed
	sure uint64
}

// usages are the sequences of a process's collective calls. Calls that contradict themselves
// are suspects.
func (t *tally) usages() (map[scopeKey]*usage, []candidateFault, error) {
	list, uneven := map[scopeKey]*usage{}, map[place]*candidateFault{}
	for i := range t.p.Data.Streams {
		r := t.newReader(i)
		if r == nil {
			continue
		}
		events := uint64(0)
		failed := newFailures()
		own, words, moves := map[scopeKey]sequence{}, map[scopeKey]uint64{}, map[scopeKey]*exchanges{}
		if err := r.fold.Each(func(steps []efg.Step) error {
			r.add(steps, own, words)
			if r.pairs {
				r.exchange(steps, moves)
			}
			if r.failed != nil {
				r.noteFailed(steps, failed)
			}
			if r.both {
				events += r.findUneven(steps, events, 1, uneven)
			}
			return nil
		}); err != nil {
			return nil, nil, err
		}
		for k, s := range own {
			t.total.Collectives += s.length
			u := list[k]
			if u == nil {
				list[k] = &usage{s, words[k], false, moves[k], failed.sure(k)}
				continue
			}
			u.sure = min(u.sure, failed.sure(k))
			u.length += s.length
			u.sum += s.sum
			u.unordered = true
		}
		for k, n := range failed.after {
			if list[k] == nil {
				list[k] = &usage{word: failed.words[k], sure: n}
			}
		}
	}
	var suspects []candidateFault
	for _, f := range uneven {
		suspects = append(suspects, *f)
	}
	return list, suspects, nil
}
