package match

import (
	"math"

	"github.com/efg-tools/efg/signature"
)

// A partitioned message is sent when the call is entered that says that its last partitions are ready: the
// receive of it waits for that call, and not for the start of the send. A call that finds some partitions
// (MPI_Parrived) depends on the call by which the last of these became ready.

// span are partitions from low to high, inclusive.
type span struct{ low, high int64 }

func (s span) overlap(t span) int64 { return max(0, min(s.high, t.high)-max(s.low, t.low)+1) }

// rounds are the messages of a partitioned send that its receive has not completed yet: those of the
// sender's and of the receiver's starts have the same numbers.
type rounds struct {
	first    uint64 // number of list[0]
	list     []*round
	received uint64 // how many the receiver has started
	freed    int    // of the two requests
}

// round is one message: which partitions are ready, and since which calls.
type round struct {
	partitions int64 // of the sender
	left       int64 // that are not ready
	ready      []readySpan
}

type readySpan struct {
	span
	by *Operation
}

// makeParts notes what a partitioned request does.
func (m *matcher) makeParts(t *Thread, n *node, x *prepared) {
	p, r := t.Process, n.roles
	comm := t.Word(signature.ObjectWord)
	key := channelKey{kind: partitioned, comm: p.name(comm)}
	if x.sends {
		key.from, key.to, key.tag = int32(p.Rank), int32(p.Facts.PeerOf(comm, t.Word(r.Dest))), t.Word(r.SendTag)
		x.partitions = int64(min(t.Word(r.Send.Parts), mostPartitions))
	} else {
		key.from, key.to, key.tag = int32(p.Facts.PeerOf(comm, t.Word(r.Source))), int32(p.Rank), t.Word(r.RecvTag)
		x.partitions = int64(min(t.Word(r.Recv.Parts), mostPartitions))
	}
	if x.nobody || x.toNobody {
		return
	}
	of := pairsOf{x.sends, key}
	key.nth = m.pairs[of]
	m.pairs[of]++
	x.parts = m.channel(key)
	x.parts.pin()
}

// pairsOf counts the partitioned sends, or receives, between two processes.
type pairsOf struct {
	sends bool
	key   channelKey
}

// startParts starts a partitioned operation.
func (m *matcher) startParts(t *Thread, x *prepared) {
	c := x.parts
	switch {
	case x.nobody || x.toNobody:
	case x.receives:
		o := m.operation(t, ReceiveMessage)
		if c != nil {
			o.round = c.rounds.received
			c.rounds.received++
		}
		m.receive(c, o)
	default:
		x.round = &round{partitions: x.partitions, left: x.partitions}
		if c != nil {
			c.rounds.list = append(c.rounds.list, x.round)
		}
		if x.partitions <= 0 {
			m.sendParts(t, x)
		}
	}
}

// sendParts sends the message, all partitions of which are ready.
func (m *matcher) sendParts(t *Thread, x *prepared) *Operation {
	o := m.operation(t, SendMessage)
	o.Bytes = x.bytes
	m.send(x.parts, o)
	return o
}

// readyParts notes which partitions a call says are ready.
func (m *matcher) readyParts(t *Thread, n *node) {
	word := t.Word(n.roles.Requests)
	by, slot := t.Process.issuer(word)
	if by == nil || by.prepared[slot] == nil || by.prepared[slot].round == nil {
		return
	}
	x := by.prepared[slot]
	spans, total := m.spansOf(t, n, x.partitions)
	if total == 0 || x.round.left <= 0 {
		return
	}
	var o *Operation
	if x.round.left -= total; x.round.left <= 0 {
		o = m.sendParts(t, x)
		t.Process.requests.put(t.Process.place(by, word, slot), o)
	} else {
		o = m.operation(t, ReadyParts)
		o.channel = x.parts
	}
	for _, s := range spans {
		x.round.ready = append(x.round.ready, readySpan{s, o})
	}
	if x.parts != nil {
		m.findParts(x.parts)
	}
}

// mostPartitions bounds numbers that a hostile file may have.
const mostPartitions = math.MaxInt32

// spansOf are the partitions that a call names, and how many they are.
func (m *matcher) spansOf(t *Thread, n *node, partitions int64) (list []span, total int64) {
	add := func(low, high uint64) {
		if s := (span{int64(low), int64(high)}); s.low >= 0 && s.high < partitions && s.low <= s.high {
			list = append(list, s)
			total += s.high - s.low + 1
		}
	}
	switch r := &n.roles.Parts; {
	case r.One != 0:
		add(t.Word(r.One), t.Word(r.One))
	case r.Low != 0:
		add(t.Word(r.Low), t.Word(r.High))
	default:
		for _, p := range t.requests() {
			add(p, p)
		}
	}
	return list, total
}

// askForPart looks for the partitions that a call has found.
func (m *matcher) askForPart(t *Thread, n *node) {
	if t.Word(int(n.poll)) == 0 {
		return
	}
	word := t.Word(n.roles.Requests)
	by, slot := t.Process.issuer(word)
	receive := t.Process.requests.get(t.Process.placeOf(word))
	if by == nil || by.prepared[slot] == nil || receive == nil || receive.Kind != ReceiveMessage || by.prepared[slot].parts == nil {
		return
	}
	x, part := by.prepared[slot], int64(t.Word(n.roles.Parts.One))
	if part < 0 || part >= x.partitions {
		return
	}
	o := m.operation(t, ProbeMessage)
	o.channel, o.round, o.parts = x.parts, receive.round, span{part, x.partitions}
	t.call.Done = append(t.call.Done, o)
	x.parts.probes = append(x.parts.probes, o)
	m.findParts(x.parts)
}

// findParts gives the calls that have found partitions what they depend on, as far as it has happened.
func (m *matcher) findParts(c *channel) {
	waiting := c.probes[:0]
	for _, o := range c.probes {
		if o.Partner = c.rounds.find(o.round, o.parts); o.Partner == nil {
			waiting = append(waiting, o)
		} else {
			m.wake(o)
		}
	}
	clear(c.probes[len(waiting):])
	c.probes = waiting
}

// find returns the call since which a partition of the receiver is ready, of.high of which the message has
// there; nil if it is not.
func (r *rounds) find(number uint64, of span) *Operation {
	if number < r.first || number-r.first >= uint64(len(r.list)) {
		return nil
	}
	x := r.list[number-r.first]
	// The sender may have another number of partitions: each overlaps some of the receiver's.
	s := span{of.low * x.partitions / of.high, ((of.low+1)*x.partitions+of.high-1)/of.high - 1}
	var last *Operation
	missing := s.high - s.low + 1
	for _, ready := range x.ready {
		n := ready.overlap(s)
		missing -= n
		if n > 0 && (last == nil || ready.by.Enter > last.Enter) {
			last = ready.by
		}
	}
	if missing > 0 {
		return nil
	}
	return last
}

// finishParts forgets the messages of a channel up to the one that a receive has completed.
func (m *matcher) finishParts(c *channel, number uint64) {
	r := &c.rounds
	for ; r.first <= number && len(r.list) > 0; r.first++ {
		var before *Operation
		for _, ready := range r.list[0].ready {
			if ready.by.Kind == ReadyParts && ready.by != before {
				before = ready.by
				m.recycle(before)
			}
		}
		r.list[0].ready = nil
		r.list = r.list[1:]
	}
}

// freeParts forgets a channel both requests of which are freed.
func (m *matcher) freeParts(x *prepared) {
	if c := x.parts; c != nil {
		if c.rounds.freed++; c.rounds.freed == 2 {
			c.pinned = false
			m.tidy(c)
		}
	}
}
