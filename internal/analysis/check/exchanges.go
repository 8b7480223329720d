package check

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// exchanges are sequences of exchanges, as hashes for each member; see sequence.
type exchanges struct {
	length, power uint64
	to, from      []uint64
	unknown       bool // of some call
}

func (s *exchanges) then(o *exchanges) {
	switch {
	case o.length == 0 || s.unknown:
		return
	case o.unknown || s.length > 0 && len(s.to) != len(o.to):
		*s = exchanges{length: 1, unknown: true}
		return
	case s.length == 0:
		*s = exchanges{o.length, o.power, append([]uint64(nil), o.to...), append([]uint64(nil), o.from...), false}
		return
	}
	for j := range s.to {
		s.to[j] = (mulmod(s.to[j], o.power) + o.to[j]) % prime
		s.from[j] = (mulmod(s.from[j], o.power) + o.from[j]) % prime
	}
	s.length += o.length
	s.power = mulmod(s.power, o.power)
}

func (s *exchanges) times(n uint64) *exchanges {
	all, turn := &exchanges{}, &exchanges{}
	turn.then(s)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			all.then(turn)
		}
		if n > 1 {
			again := *turn
			turn = &exchanges{}
			turn.then(&again)
			turn.then(&again)
		}
	}
	return all
}

// exchange adds what steps move to the sequences of communicators.
func (r *reader) exchange(steps []efg.Step, to map[scopeKey]*exchanges) {
	for i := range steps {
		s := &steps[i]
		if s.Times == 0 {
			if c, ok := r.call(s); ok && c.pairs {
				next := &exchanges{length: 1, unknown: true}
				if c.moves != nil {
					next = &exchanges{1, base, hashed(c.moves.to), hashed(c.moves.from), false}
				}
				exchangesAt(to, c.scope).then(next)
			}
			continue
		}
		body := map[scopeKey]*exchanges{}
		r.exchange(s.Body, body)
		for k, b := range body {
			exchangesAt(to, k).then(b.times(s.Times))
		}
	}
}

func exchangesAt(m map[scopeKey]*exchanges, k scopeKey) *exchanges {
	if m[k] == nil {
		m[k] = &exchanges{}
	}
	return m[k]
}

func hashed(list []uint64) []uint64 {
	out := make([]uint64, len(list))
	for j, v := range list {
		out[j] = signature.Hash(v) % prime
	}
	return out
}
