package check

import (
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
