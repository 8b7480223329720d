package check

import (
	"fmt"

	"github.com/efg-tools/efg/analysis"
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// Collectives with an array of counts tell how many bytes go to each member, and how
// many come from each: what i sends to j is what j takes from i. That is compared for
// all pairs at once: a member hashes, for each other one, the sequence of these
// numbers over all its calls, and sums of such hashes must agree.

// exchange is what a call moves, in bytes.
type exchange struct {
	to, from []uint64 // each member
}

// Bounds of what is compared: members of a communicator, and elements of arrays
// that vary from call to call at a node.
const (
	maxExchanging = 1 << 13
	maxElements   = 1 << 22
)

// arrays are the words of a collective with an array of counts.
type arrays struct{ sendCounts, recvCounts, sendTypes, recvTypes int }

func arraysOf(r *roles, shape string) *arrays {
	switch shape {
	case "gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw", "reduce_scatter":
		return &arrays{r.in("sendcounts"), r.in("recvcounts"), r.in("sendtypes"), r.in("recvtypes")}
	}
	return nil
}

// arrayMask are the words of the arrays of a node; 0 if they are too many to be kept.
func (c *collRoles) arrayMask(n *efg.Node) uint64 {
	a := c.arrays
	if a == nil {
		return 0
	}
	m := mask(a.sendCounts, a.recvCounts, a.sendTypes, a.recvTypes)
	for k, w := range maskedWords(n.Mask) {
		if e := n.Attrs[k].Elems; m>>w&1 != 0 && e != nil && e.Len() > maxElements {
			return 0
		}
	}
	return m
}

// maskedWords are the words that a mask has, in order.
func maskedWords(m uint64) []int {
	var list []int
	for w := 0; m>>w != 0; w++ {
		if m>>w&1 != 0 {
			list = append(list, w)
		}
	}
	return list
}

// exchangeReader computes the exchange of one call.
type exchangeReader struct {
	p       *analysis.Process
	role    *collRoles
	words   []uint64
	vec     func(word int) []uint64
	me      int
	size    int
	unknown bool
}

// exchangeOf returns what a step moves; nil if that is not known.
func (r *reader) exchangeOf(s *efg.Step, role *collRoles, words []uint64) *exchange {
	p := r.t.p
	own, other := p.Members(words[role.scope])
	if own == nil || other != nil || own.Size() > maxExchanging {
		return nil
	}
	x := exchangeReader{p: p, role: role, words: words, me: own.Index(p.Data.Rank), size: own.Size()}
	x.vec = func(word int) []uint64 {
		if v := r.fold.Vec(s, word); v != nil {
			return v
		}
		return p.Vec(words[word])
	}
	if x.me < 0 {
		return nil
	}
	e := x.read()
	if x.unknown {
		return nil
	}
	return e
}

func (x *exchangeReader) read() *exchange {
	a := x.role.arrays
	e := &exchange{make([]uint64, x.size), make([]uint64, x.size)}
	switch x.role.shape {
	case "alltoallv", "alltoallw":
		e.from = x.list(a.recvCounts, x.role.recvType, a.recvTypes)
		if e.to = e.from; !isConst(x.words[a.sendCounts]) { // else in place
			e.to = x.list(a.sendCounts, x.role.sendType, a.sendTypes)
		}
	case "allgatherv":
		e.from = x.list(a.recvCounts, x.role.recvType, 0)
		own := e.from[x.me]
		if x.words[x.role.sendType] != signature.Absent {
			own = x.bytes(x.words[x.role.sendCount], x.words[x.role.sendType])
		}
		fill(e.to, own)
	case "reduce_scatter":
		e.to = x.list(a.recvCounts, x.role.recvType, 0)
		fill(e.from, e.to[x.me])
	case "gatherv":
		x.rooted(e.to, &e.from, x.role.sendCount, x.role.sendType, a.recvCounts, x.role.recvType)
	case "scatterv":
		x.rooted(e.from, &e.to, x.role.recvCount, x.role.recvType, a.sendCounts, x.role.sendType)
	}
	return e
}

func fill(list []uint64, v uint64) {
	for j := range list {
		list[j] = v
	}
}

// rooted is an exchange with a root, which has an array for all.
func (x *exchangeReader) rooted(own []uint64, all *[]uint64, count, datatype, counts, datatypes int) {
	root := x.words[x.role.root]
	if root >= uint64(x.size) {
		x.unknown = true
		return
	}
	inPlace := x.words[datatype] == signature.Absent
	if !inPlace {
		own[root] = x.bytes(x.words[count], x.words[datatype])
	}
	if int(root) != x.me {
		return
	}
	if *all = x.list(counts, datatypes, 0); inPlace {
		(*all)[x.me] = 0
	}
}

// list turns an array of counts into bytes.
func (x *exchangeReader) list(counts, datatype, datatypes int) []uint64 {
	out := make([]uint64, x.size)
	n := x.vec(counts)
	var types []uint64
	if datatypes != 0 {
		types = x.vec(datatypes)
	}
	if len(n) != x.size || datatypes != 0 && len(types) != x.size {
		x.unknown = true
		return out
	}
	for j := range out {
		w := x.words[datatype]
		if datatypes != 0 {
			w = types[j]
		}
		out[j] = x.bytes(n[j], w)
	}
	return out
}

func (x *exchangeReader) bytes(count, datatype uint64) uint64 {
	if count == 0 {
		return 0
	}
	size, ok := x.p.TypeBytes(datatype)
	if !ok || isConst(count) || count>>40 != 0 {
		x.unknown = true
	}
	return size * count
}

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
			if c, ok := r.call(s); ok && c.arrays {
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

// balance has, for each member of a communicator, sums of what it sends as it says and
// as those say that take it, and of what it takes.
type balance struct {
	ranks                  int // that were added
	unknown                bool
	sent, taken            []uint64 // by the sender: as it says, as the others say
	arriving, expectedHere []uint64 // by the one who takes: as the others say, as it says
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

// Bounds of what is looked at where sums do not agree.
const (
	maxSenders   = 4
	maxReceivers = 32
	maxCompared  = 1 << 20 // calls
)

// exchange finds pairs of members that do not agree, if there are any.
func (b *builder) exchange(k scopeKey, s *scopeState) error {
	x := s.balance
	if x == nil || x.unknown || s.unordered || s.members[0] == nil || x.ranks != s.members[0].Size() {
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

// unequalPair finds a member that takes other data from member i than that sends.
func (b *builder) unequalPair(k scopeKey, s *scopeState, i int) (*suspect, error) {
	from, err := b.reading(s.members[0].At(i), k)
	if err != nil {
		return nil, err
	}
	tried := 0
	for j := 0; j < len(s.balance.arriving) && tried < maxReceivers; j++ {
		if s.balance.arriving[j] == s.balance.expectedHere[j] {
			continue
		}
		tried++
		to, err := b.reading(s.members[0].At(j), k)
		if err != nil {
			return nil, err
		}
		from.restart(0)
		for n := 1; n <= maxCompared && from.next() && to.next(); n++ {
			x, y := from.now.moves, to.now.moves
			if x == nil || y == nil || x.to[j] == y.from[i] {
				continue
			}
			f := &suspect{kind: CollectiveData, count: 1, rank: s.members[0].At(i)}
			from.tell(f)
			f.text = fmt.Sprintf("has %d bytes for rank %d in collective call %d on %s, and rank %d at %s takes %d",
				x.to[j], s.members[0].At(j), n, from.names.Handle(signature.Comm, s.word), s.members[0].At(j), to.place(), y.from[i])
			return f, nil
		}
	}
	return nil, nil
}
