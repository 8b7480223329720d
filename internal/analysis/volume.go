package analysis

import "github.com/efg-tools/efg/signature"

// Volume is what events move; see the package comment.
type Volume struct {
	Sent, Received, Read, Written uint64 // bytes
	// Messages and Receives count the point-to-point messages among them.
	Messages, Receives uint64
	// Unknown counts the events whose bytes the recording does not tell.
	Unknown uint64
}

// Add adds what n times w move.
func (v *Volume) Add(w *Volume, n uint64) {
	v.Sent += w.Sent * n
	v.Received += w.Received * n
	v.Read += w.Read * n
	v.Written += w.Written * n
	v.Messages += w.Messages * n
	v.Receives += w.Receives * n
	v.Unknown += w.Unknown * n
}

// transfer is what one event moves, and, if somebody wants to know, whereto.
type transfer struct {
	Volume
	comm *comm
	// leg is told of bytes to (or, with get, from) a rank of the peers; all of
	// bytes to every peer, or only to those of higher rank.
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
		t.comm = c.process.comm(c.words[2])
		c.message(t)
	case oneSided:
		t.comm = c.process.window(c.words[2])
		c.access(t)
	case fileRead:
		t.Read = c.filed(t, &c.plan.recv)
	case fileWrite:
		t.Written = c.filed(t, &c.plan.send)
	case collective:
		t.comm = c.process.comm(c.words[2])
		c.collective(t)
	}
}

// bytes is the size of a payload; of one that is not significant it is 0.
func (c *instance) bytes(t *transfer, q *payload) uint64 {
	var n uint64
	switch {
	case c.words[q.typ] == signature.Absent:
		return 0
	case q.count == 0 || !c.isVec(q.count):
		return c.scalarBytes(t, q)
	}
	counts, ok := c.vec(q.count)
	if !ok {
		t.Unknown = 1
	}
	for i := range counts {
		n += c.part(t, q, i)
	}
	return n
}

func (c *instance) scalarBytes(t *transfer, q *payload) uint64 {
	size, ok := c.process.typeSize(c.words[q.typ])
	n := uint64(1)
	if !q.single {
		n = c.words[q.count]
	}
	if q.parts != 0 {
		n *= c.words[q.parts]
	}
	return t.product(n, size, ok)
}

// part is the size of block i of a payload with counts in an array.
func (c *instance) part(t *transfer, q *payload, i int) uint64 {
	counts, ok := c.vec(q.count)
	word := c.words[q.typ]
	if c.isVec(q.typ) {
		types, _ := c.vec(q.typ)
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

// message is a point-to-point call; of one that starts it was persistent.
func (c *instance) message(t *transfer) {
	c.send(t)
	c.receive(t)
}

func (c *instance) send(t *transfer) {
	a := c.plan
	if a.send.present() && c.words[a.dest] != wordProcNull {
		t.Sent, t.Messages = c.bytes(t, &a.send), 1
		t.toRank(int(c.words[a.dest]), t.Sent)
	}
}

func (c *instance) receive(t *transfer) {
	a := c.plan
	switch {
	case !a.recv.present():
	case a.source != 0 && c.words[a.source] == wordProcNull:
	case a.message != 0 && c.words[a.message] == wordNoProc:
	case a.blocking:
		t.Received, t.Receives = c.told(t), 1
	default:
		t.Received, t.Receives = c.bytes(t, &a.recv), 1
	}
}

// told is the number of bytes that the call's status tells.
func (c *instance) told(t *transfer) uint64 {
	if isConst(c.words[c.plan.status]) {
		t.Unknown = 1
		return 0
	}
	return c.words[c.plan.status]
}

func (c *instance) access(t *transfer) {
	a := c.plan
	target := c.words[a.target]
	if target == wordProcNull {
		return
	}
	if a.send.present() && (a.op == 0 || c.words[a.op] != wordNoOp) {
		t.Sent = c.bytes(t, &a.send)
		t.toRank(int(target), t.Sent)
	}
	if a.recv.present() {
		t.Received = c.bytes(t, &a.recv)
		if t.leg != nil {
			t.leg(int(target), t.Received, true)
		}
	}
}

func (c *instance) filed(t *transfer, q *payload) uint64 {
	if c.plan.status != 0 {
		return c.told(t)
	}
	return c.bytes(t, q)
}
