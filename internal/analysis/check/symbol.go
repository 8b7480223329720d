package check

import (
	"cmp"

	"github.com/efg-tools/efg/signature"
)

// symbol is what a collective call must have in common with those of the other
// members.
type symbol struct {
	proc   int
	root   uint64
	op     uint64 // reduction
	amount amount
	// own is the amount that the member itself sends if it also receives one, namely amount.
	own amount
}

// unequalAmounts reports whether a member sends itself another amount than it receives from
// itself.
func (s *symbol) unequalAmounts() bool {
	return s.own.bytes != s.amount.bytes || s.own.basics != s.amount.basics && !s.own.open && !s.amount.open
}

// amount is data by its size and type signature.
type amount struct {
	bytes  uint64
	basics uint64 // hash of the basic datatypes, in order; 0 if unknown or open
	open   bool   // its datatype matches all others
}

func (s symbol) hash() uint64 {
	return signature.Hash(uint64(s.proc), s.root, s.op, s.amount.bytes, s.amount.basics)
}

// collRoles says what the words of a collective are for.
type collRoles struct {
	proc                                     *signature.Proc
	root, op                                 int
	sendCount, sendType, recvCount, recvType int
	scope                                    int // word of the communicator or window
	arrays                                   arrays
}

// collectiveOf returns nil for calls that are not collectives, or whose members have nothing in
// common that is compared: calls that neither move data, nor synchronise, nor create an object.
func collectiveOf(r *roles) *collRoles {
	p := r.proc
	if p == nil || !p.Collective() || p.Scope != signature.ScopeObject {
		return nil
	}
	c := &collRoles{proc: p, scope: signature.ObjectWord}
	switch {
	case p.Shape > signature.NoData:
		c.root, c.op = p.Roles.Root, p.Roles.Op
		c.sendCount, c.arrays.sendCounts = scalarOrArray(p, p.Roles.Send.Count)
		c.recvCount, c.arrays.recvCounts = scalarOrArray(p, p.Roles.Recv.Count)
		c.sendType, c.arrays.sendTypes = scalarOrArray(p, p.Roles.Send.Type)
		c.recvType, c.arrays.recvTypes = scalarOrArray(p, p.Roles.Recv.Type)
	case !p.Barrier() && p.Roles.Made == 0 && p.Epoch != signature.Fence:
		return nil
	}
	return c
}

func scalarOrArray(p *signature.Proc, word int) (scalar, array int) {
	if p.Vector(word) {
		return 0, word
	}
	return word, 0
}

// vector reports whether counts are in arrays. Such collectives have only their name and
// root in common; see exchange.
func (c *collRoles) vector() bool { return c.arrays.sendCounts != 0 || c.arrays.recvCounts != 0 }

// gives reports whether a member can both send and receive data, of the same amount.
func (c *collRoles) gives() bool {
	r := &c.proc.Roles
	return c.proc.Shape > signature.NoData && c.proc.Shape != signature.Neighbours && !c.vector() && !c.proc.Reduces() &&
		r.Send.Buffer != r.Recv.Buffer
}

func (c *collRoles) mask() uint64 {
	return mask(c.root, c.op, c.sendCount, c.sendType, c.recvCount, c.recvType, c.scope)
}

// symbolOf is the symbol of a call with these words. On an intercommunicator the two groups
// have only the name in common.
func (c *collRoles) symbolOf(x *signatureFinder, words []uint64, inter bool) symbol {
	s := symbol{proc: signature.Header(words[0]).Proc()}
	if inter || c.proc.Shape == signature.NoData {
		return s
	}
	word := func(i int) uint64 {
		if i == 0 {
			return 0
		}
		return words[i]
	}
	s.root, s.op = word(c.root), word(c.op)
	recv, taken := x.amountOf(word(c.recvCount), word(c.recvType))
	if !c.gives() {
		if !c.pairwise(false) {
			s.amount, s.own = recv, recv
		}
		return s
	}
	send, given := x.amountOf(word(c.sendCount), word(c.sendType))
	s.amount, s.own = recv, send
	switch {
	case word(c.sendType) == signature.Absent: // in place, or not the root
		s.own = recv
	case word(c.recvType) == signature.Absent:
		s.amount = send
	case !given || !taken:
		s.own = s.amount
	case c.proc.Shape == signature.OneToAll:
		s.amount, s.own = send, recv
	}
	return s
}

// amountOf is the amount of a number of elements; false if it is unknown.
func (x *signatureFinder) amountOf(count, datatype uint64) (amount, bool) {
	size, ok := x.p.TypeBytes(datatype)
	if signature.IsConst(count) || count>>40 != 0 || count > 0 && !ok {
		return amount{}, false
	}
	if count == 0 || size == 0 {
		return amount{}, true
	}
	t := x.of(datatype)
	return amount{size * count, t.whole.times(count).hash, t.open()}, true
}

// scopeKey identifies a communicator or window of a run. Constants and families are relative to
// a world.
type scopeKey struct {
	word  uint64
	world int
}

func compareScopes(x, y scopeKey) int {
	return cmp.Or(cmp.Compare(x.world, y.world), cmp.Compare(x.word, y.word))
}
