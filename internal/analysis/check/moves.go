package check

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// exchangeBuilder computes the exchange of one call.
type exchangeBuilder struct {
	p     *analysis.Process
	role  *collRoles
	words []uint64
	vec   func(word int) []uint64
	*exchange
	// The members that data go to and come from: the communicator's, or those of the remote
	// group, whose first one is at base.
	me, peers, base int
	unknown         bool
}

// exchangeOf returns what a step moves; nil if that is unknown.
func (r *reader) exchangeOf(s *efg.Step, role *collRoles, words []uint64) *exchange {
	p := r.t.p
	own, other := p.Members(words[role.scope])
	both := memberList{own, other}
	if own == nil || both.size() > maxExchanging {
		return nil
	}
	e := &exchange{make([]uint64, both.size()), make([]uint64, both.size())}
	x := exchangeBuilder{p: p, role: role, words: words, exchange: e, me: own.Index(p.Data.Rank), peers: own.Size()}
	if other != nil {
		if x.peers = other.Size(); !both.swapped() {
			x.base = own.Size()
		}
	}
	x.vec = func(word int) []uint64 {
		if v := r.fold.Vec(s, word); v != nil {
			return v
		}
		return p.Vec(words[word])
	}
	if x.me < 0 {
		return nil
	}
	if other != nil {
		x.across(own.Size())
	} else {
		x.within()
	}
	if x.unknown {
		return nil
	}
	return e
}

// within is a call on an intracommunicator.
func (x *exchangeBuilder) within() {
	c, a := x.role, &x.role.arrays
	switch p := c.proc; {
	case p.Shape == signature.AllToOne:
		x.rooted(x.to, x.from, c.sendCount, c.sendType, a.recvCounts, c.recvType)
	case p.Shape == signature.OneToAll:
		x.rooted(x.from, x.to, c.recvCount, c.recvType, a.sendCounts, c.sendType)
	case p.Shape == signature.Neighbours:
		x.neighbours()
	case p.Reduces(): // MPI_Reduce_scatter
		copy(x.to, x.list(a.recvCounts, c.recvType, 0, x.peers))
		fill(x.from, x.to[x.me])
	case p.Roles.Send.Blocks: // MPI_Alltoallv
		copy(x.from, x.list(a.recvCounts, c.recvType, a.recvTypes, x.peers))
		if signature.IsConst(x.words[a.sendCounts]) { // in place
			copy(x.to, x.from)
		} else {
			copy(x.to, x.list(a.sendCounts, c.sendType, a.sendTypes, x.peers))
		}
	default: // MPI_Allgatherv
		copy(x.from, x.list(a.recvCounts, c.recvType, 0, x.peers))
		own := x.from[x.me]
		if x.words[c.sendType] != signature.Absent {
			own = x.given()
		}
		fill(x.to, own)
	}
}

// rooted is an exchange with a root; the root has an array for all members.
func (x *exchangeBuilder) rooted(own, all []uint64, count, datatype, counts, datatypes int) {
	root := x.words[x.role.root]
	if root >= uint64(x.peers) {
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
	if copy(all, x.list(counts, datatypes, 0, x.peers)); inPlace {
		all[x.me] = 0
	}
}

// neighbours is a neighbourhood collective. A rank can be a neighbour twice: the amounts are
// summed.
func (x *exchangeBuilder) neighbours() {
	c, a := x.role, &x.role.arrays
	in, out, known := x.p.Neighbours(x.words[c.scope])
	if !known {
		x.unknown = true
		return
	}
	give, take := x.blocks(a.sendCounts, c.sendCount, c.sendType, a.sendTypes, len(out)), x.blocks(a.recvCounts, c.recvCount, c.recvType, a.recvTypes, len(in))
	for k, to := range out {
		if uint(to) < uint(x.peers) {
			x.to[to] += give[k]
		}
	}
	for k, from := range in {
		if uint(from) < uint(x.peers) {
			x.from[from] += take[k]
		}
	}
}

// blocks are the sizes of n blocks of a buffer, by an array of counts or all alike.
func (x *exchangeBuilder) blocks(counts, count, datatype, datatypes, n int) []uint64 {
	if counts != 0 {
		return x.list(counts, datatype, datatypes, n)
	}
	list := make([]uint64, n)
	if n > 0 {
		fill(list, x.bytes(x.words[count], x.words[datatype]))
	}
	return list
}

// across is a call on an intercommunicator: one group receives what the other sends. side is
// the number of members of the local group.
func (x *exchangeBuilder) across(side int) {
	c, a := x.role, &x.role.arrays
	to, from := x.to[x.base:x.base+x.peers], x.from[x.base:x.base+x.peers]
	switch p := c.proc; {
	case p.Shape == signature.OneToAll:
		x.acrossRooted(to, from, a.sendCounts, c.sendCount, c.sendType, x.taken)
	case p.Shape == signature.AllToOne:
		x.acrossRooted(from, to, a.recvCounts, c.recvCount, c.recvType, x.given)
	case p.Reduces() && a.recvCounts != 0: // MPI_Reduce_scatter
		sum := uint64(0)
		for _, n := range x.list(a.recvCounts, c.recvType, 0, side) {
			sum += n
		}
		fill(to, sum)
		copy(from, to)
	case p.Reduces():
		n := x.taken()
		if p.Roles.Send.Blocks { // MPI_Reduce_scatter_block
			n *= uint64(side)
		}
		fill(to, n)
		copy(from, to)
	default:
		copy(to, x.blocks(a.sendCounts, c.sendCount, c.sendType, a.sendTypes, x.peers))
		copy(from, x.blocks(a.recvCounts, c.recvCount, c.recvType, a.recvTypes, x.peers))
	}
}

// acrossRooted: the root has a block for each member of the remote group, each of which has one
// for the root; the others in its group have nothing.
func (x *exchangeBuilder) acrossRooted(atRoot, others []uint64, counts, count, datatype int, own func() uint64) {
	switch root := x.words[x.role.root]; {
	case root == signature.RootHere:
		copy(atRoot, x.blocks(counts, count, datatype, 0, x.peers))
	case root < uint64(x.peers):
		others[root] = own()
	case root != signature.ProcNull:
		x.unknown = true
	}
}

// given and taken are the amounts in the send and the receive buffer of the call.
func (x *exchangeBuilder) given() uint64 {
	return x.bytes(x.words[x.role.sendCount], x.words[x.role.sendType])
}
func (x *exchangeBuilder) taken() uint64 {
	return x.bytes(x.words[x.role.recvCount], x.words[x.role.recvType])
}

func fill(list []uint64, v uint64) {
	for j := range list {
		list[j] = v
	}
}

// list converts an array of n counts into bytes.
func (x *exchangeBuilder) list(counts, datatype, datatypes, n int) []uint64 {
	out := make([]uint64, n)
	number := x.vec(counts)
	var types []uint64
	if datatypes != 0 {
		types = x.vec(datatypes)
	}
	if len(number) != n || datatypes != 0 && len(types) != n {
		x.unknown = true
		return out
	}
	for j := range out {
		w := x.words[datatype]
		if datatypes != 0 {
			w = types[j]
		}
		out[j] = x.bytes(number[j], w)
	}
	return out
}

func (x *exchangeBuilder) bytes(count, datatype uint64) uint64 {
	if count == 0 {
		return 0
	}
	size, ok := x.p.TypeBytes(datatype)
	if !ok || signature.IsConst(count) || count>>40 != 0 {
		x.unknown = true
	}
	return size * count
}
