package analysis

import (
	"math"

	"github.com/efg-tools/efg/signature"
)

// Volume is what events move; see the package comment.
type Volume struct {
	Sent, Received, Read, Written uint64 // bytes
	// Messages and Receives count the point-to-point messages among them.
	Messages, Receives uint64
	// Unknown counts the events of unknown size.
	Unknown uint64
}

// Add adds n times what w moves.
func (v *Volume) Add(w *Volume, n uint64) {
	v.Sent += w.Sent * n
	v.Received += w.Received * n
	v.Read += w.Read * n
	v.Written += w.Written * n
	v.Messages += w.Messages * n
	v.Receives += w.Receives * n
	v.Unknown += w.Unknown * n
}

// transfer is what one event moves and, if requested, its destination.
type transfer struct {
	Volume
	comm *comm
	// leg is called with bytes to (or, with get, from) a rank of the peers; all means bytes to
	// every peer, or only to those of higher rank.
	leg func(to int, bytes uint64, get bool)
	all func(bytes uint64, higher bool)
}

func (t *transfer) toRank(to int, bytes uint64) {
	if t.leg != nil {
		t.leg(to, bytes, false)
	}
}

func (t *transfer) toAll(bytes uint64, higher bool) {
	if t.all != nil {
		t.all(bytes, higher)
	}
}

// transfer computes what an event moves.
func (c *instance) transfer(t *transfer) {
	if c.plan == nil {
		t.Unknown = 1
		return
	}
	switch c.plan.kind {
	case pointToPoint:
		t.comm = c.process.comm(c.words[signature.ObjectWord])
		c.message(t)
	case oneSided:
		t.comm = c.process.window(c.words[signature.ObjectWord])
		c.access(t)
	case fileRead:
		t.Read = c.filed(t, &c.plan.Roles.Recv)
	case fileWrite:
		t.Written = c.filed(t, &c.plan.Roles.Send)
	case collective:
		t.comm = c.process.comm(c.words[signature.ObjectWord])
		c.collective(t)
	}
}

// bytes is the size of a payload; 0 for one that is not significant.
func (c *instance) bytes(t *transfer, q *signature.Payload) uint64 {
	var n uint64
	switch {
	case c.words[q.Type] == signature.Absent:
		return 0
	case q.Count == 0 || !c.isVec(q.Count):
		return c.scalarBytes(t, q)
	}
	counts, ok := c.vec(q.Count)
	if !ok {
		t.Unknown = 1
	}
	for i := range counts {
		n += c.part(t, q, i)
	}
	return n
}

func (c *instance) scalarBytes(t *transfer, q *signature.Payload) uint64 {
	size, ok := c.process.typeSize(c.words[q.Type])
	n := uint64(1)
	if !q.Single() {
		n = c.words[q.Count]
	}
	if q.Parts != 0 {
		n *= c.words[q.Parts]
	}
	return t.product(n, size, ok)
}

// part is the size of block i of a payload with counts in an array.
func (c *instance) part(t *transfer, q *signature.Payload, i int) uint64 {
	counts, ok := c.vec(q.Count)
	word := c.words[q.Type]
	if c.isVec(q.Type) {
		types, _ := c.vec(q.Type)
		if i < 0 || i >= len(types) {
			ok = false
		} else {
			word = types[i]
		}
	}
	if !ok || i < 0 || i >= len(counts) {
		t.Unknown = 1
		return 0
	}
	size, ok := c.process.typeSize(word)
	return t.product(counts[i], size, ok)
}

func (t *transfer) product(n, size uint64, ok bool) uint64 {
	if n == 0 {
		return 0
	}
	if !ok || n>>62 != 0 {
		t.Unknown = 1
		return 0
	}
	return n * size
}

// message is a point-to-point call, or the start of a persistent one.
func (c *instance) message(t *transfer) {
	c.send(t)
	c.receive(t)
}

func (c *instance) send(t *transfer) {
	a := &c.plan.Roles
	if a.Send.Present() && c.words[a.Dest] != signature.ProcNull {
		t.Sent, t.Messages = c.bytes(t, &a.Send), 1
		t.toRank(int(c.words[a.Dest]), t.Sent)
	}
}

func (c *instance) receive(t *transfer) {
	a := &c.plan.Roles
	switch {
	case !a.Recv.Present():
	case a.Source != 0 && c.words[a.Source] == signature.ProcNull:
	case a.Message != 0 && c.words[a.Message] == signature.MessageNoProc:
	case c.plan.blocking():
		t.Received, t.Receives = c.statusBytes(t), 1
	default:
		t.Received, t.Receives = c.bytes(t, &a.Recv), 1
	}
}

// statusBytes is the number of bytes according to the call's status.
func (c *instance) statusBytes(t *transfer) uint64 {
	if signature.IsConst(c.words[c.plan.Roles.StatusBytes]) {
		t.Unknown = 1
		return 0
	}
	return c.words[c.plan.Roles.StatusBytes]
}

func (c *instance) access(t *transfer) {
	a := &c.plan.Roles
	target := c.words[a.Target]
	if target == signature.ProcNull {
		return
	}
	if a.Send.Present() && (a.Op == 0 || c.words[a.Op] != signature.OpNoOp) {
		t.Sent = c.bytes(t, &a.Send)
		t.toRank(int(target), t.Sent)
	}
	if a.Recv.Present() {
		t.Received = c.bytes(t, &a.Recv)
		if t.leg != nil {
			t.leg(int(target), t.Received, true)
		}
	}
}

func (c *instance) filed(t *transfer, q *signature.Payload) uint64 {
	if c.plan.Roles.StatusBytes != 0 {
		return c.statusBytes(t)
	}
	return c.bytes(t, q)
}

// Portion is what some of the events of a node move if all of them move the same.
func (v *Volume) Portion(events, all uint64) *Volume {
	if events == all {
		return v
	}
	of := func(n uint64) uint64 { return uint64(math.Round(float64(n) * float64(events) / float64(all))) }
	if v.Sent%all == 0 && v.Received%all == 0 && v.Read%all == 0 && v.Written%all == 0 {
		of = func(n uint64) uint64 { return n / all * events }
	}
	return &Volume{
		Sent: of(v.Sent), Received: of(v.Received), Read: of(v.Read), Written: of(v.Written),
		Messages: of(v.Messages), Receives: of(v.Receives), Unknown: of(v.Unknown),
	}
}
