package match

import (
	"github.com/efg-tools/efg/signature"
)

// prepared is what starting a persistent request does.
type prepared struct {
	node        *node
	sends       bool
	sendKey     channelKey
	receives    bool
	comm        uint64 // word, of a receive
	source, tag uint64 // words
	nobody      bool   // it receives nothing
	toNobody    bool
	bytes       uint64
	part        *part // of a collective
	root        bool
	excluded    bool
	partitions  int64    // of a partitioned message
	parts       *channel // of it; nil if the other process is not in the run
	round       *round   // that was started last, of a partitioned send
}

// enter posts the operations of the call that a thread is in.
func (m *matcher) enter(t *Thread) {
	n := &t.nodes[t.call.Node]
	switch n.action {
	case transfersMessage:
		m.message(t, n)
		t.call.Done = append(t.call.Done, t.call.Posted...)
	case issuesMessage:
		m.message(t, n)
		m.request(t, n, t.call.Posted)
	case startsPersistent:
		m.start(t, n)
	case readiesParts:
		m.readyParts(t, n)
	case asksForPart:
		m.askForPart(t, n)
	case probesMessage, matchesMessage:
		m.probe(t, n)
	case takesMessage:
		m.take(t, n)
	case joins, issuesPart, beginsSplit:
		m.join(t, n)
	case endsSplit:
		m.endSplit(t, n)
	case locks:
		m.unlock(t, n)
	case exposes, accesses, endsAccess, awaitsAccess:
		m.synchronize(t, n)
	}
}

// unused returns an empty operation.
func (m *matcher) unused(t *Thread) *Operation {
	list := &t.free
	if len(*list) == 0 {
		list = &m.free
	}
	last := len(*list) - 1
	if last < 0 {
		m.trace.turns = append(m.trace.turns, 0)
		return &Operation{ID: len(m.trace.turns) - 1}
	}
	o := (*list)[last]
	*list = (*list)[:last]
	*o = Operation{ID: o.ID}
	return o
}

// operation makes an operation of a thread's call.
func (m *matcher) operation(t *Thread, kind Kind) *Operation {
	o := m.unused(t)
	o.Kind = kind
	o.Origin = Origin{t, t.call.Node, t.call.Event, t.call.Enter}
	t.call.Posted = append(t.call.Posted, o)
	return o
}

// request keeps the operations of the request that a call issues.
func (m *matcher) request(t *Thread, n *node, list []*Operation) {
	places := t.requests()
	if len(list) == 0 || len(places) == 0 {
		return
	}
	for i := 1; i < len(list); i++ {
		list[i-1].sibling = list[i]
	}
	t.Process.requests.put(places[0], list[0])
}

// message posts a message.
func (m *matcher) message(t *Thread, n *node) {
	if n.sends && (n.sendKnown || t.Word(n.roles.Dest) != signature.ProcNull) {
		c := m.sendChannel(t, n)
		o := m.operation(t, SendMessage)
		o.Bytes = n.size(t, &n.roles.Send)
		m.send(c, o)
	}
	if !n.receives {
		return
	}
	if c, ok := m.receiveChannel(t, n); ok {
		m.receive(c, m.operation(t, ReceiveMessage))
	}
}

// size is the size of what a call sends, or of what it receives, 0 if it is unknown: always the same
// payload for the calls of a node.
func (n *node) size(t *Thread, d *signature.Payload) uint64 {
	if n.bytesKnown {
		return n.bytes
	}
	n.bytes, _ = t.Process.Facts.PayloadBytes(t, d)
	n.bytesKnown = n.known(d.Type, d.Count, d.Parts)
	return n.bytes
}

func (m *matcher) sendChannel(t *Thread, n *node) *channel {
	if n.sendKnown {
		return n.sendTo
	}
	p, r := t.Process, n.roles
	comm := t.Word(signature.ObjectWord)
	c := m.channelOf(p.Rank, p.Facts.PeerOf(comm, t.Word(r.Dest)), p.name(comm), t.Word(r.SendTag))
	if n.sendKnown = n.known(signature.ObjectWord, r.Dest, r.SendTag); n.sendKnown {
		n.sendTo = c
		c.pin()
	}
	return c
}

func (m *matcher) channelOf(from, to int, comm, tag uint64) *channel {
	return m.channel(channelKey{int32(from), int32(to), messages, 0, comm, tag})
}

func (c *channel) pin() {
	if c != nil {
		c.pinned = true
	}
}

// receiveChannel also returns whether the call receives something at all: not if it would have done
// so from any sender, but never returned or was not completed.
func (m *matcher) receiveChannel(t *Thread, n *node) (c *channel, any bool) {
	if n.receiveKnown {
		return n.receiveFrom, true
	}
	p, r := t.Process, n.roles
	comm, source, tag := t.Word(signature.ObjectWord), t.Word(r.Source), t.Word(r.RecvTag)
	if source == signature.ProcNull {
		return nil, false
	}
	wild := wildcard(source) || wildcard(tag)
	switch {
	case n.wild:
		source, tag = t.outcome(n, source, tag)
	case wild && r.StatusSource != 0:
		source, tag = reported(t, r, source, tag)
	}
	if wild && signature.IsConst(source) {
		return nil, false
	}
	c = m.channelOf(p.Facts.PeerOf(comm, source), p.Rank, p.name(comm), tag)
	if n.receiveKnown = !n.wild && !wild && n.known(signature.ObjectWord, r.Source, r.RecvTag); n.receiveKnown {
		n.receiveFrom = c
		c.pin()
	}
	return c, true
}

// reported replaces wildcards by what the status of the call has.
func reported(t *Thread, r *signature.Roles, source, tag uint64) (uint64, uint64) {
	if wildcard(source) {
		source = t.Word(r.StatusSource)
	}
	if wildcard(tag) {
		tag = t.Word(r.StatusTag)
	}
	return source, tag
}

// outcome replaces the wildcards of a nonblocking receive by what it will receive.
func (t *Thread) outcome(n *node, source, tag uint64) (uint64, uint64) {
	id := signature.ID{Thread: t.Stream.Thread, Node: uint32(t.call.Node), Slot: uint32(t.Word(n.roles.Request))}
	return t.outcomeOf(id.Word(), source, tag)
}

func (t *Thread) outcomeOf(request, source, tag uint64) (uint64, uint64) {
	if t.ahead == nil {
		return source, tag
	}
	got, ok := t.ahead.Next(request)
	if !ok {
		return source, tag
	}
	if wildcard(source) {
		source = got.Source
	}
	if wildcard(tag) {
		tag = got.Tag
	}
	return source, tag
}

// make notes what a persistent request does.
func (m *matcher) make(t *Thread, n *node) {
	p, r := t.Process, n.roles
	slot := t.Word(r.Request)
	if !signature.IsPlain(slot) {
		return
	}
	x := &prepared{node: n}
	switch {
	case n.proc.Collective():
		x.part, x.root, x.excluded = m.persistentPart(t, n)
		x.bytes = n.received(t)
	default:
		comm := t.Word(signature.ObjectWord)
		if n.proc.Sends() {
			dest := t.Word(r.Dest)
			x.sends, x.toNobody, x.bytes = true, dest == signature.ProcNull, n.size(t, &r.Send)
			x.sendKey = channelKey{int32(p.Rank), int32(p.Facts.PeerOf(comm, dest)), messages, 0, p.name(comm), t.Word(r.SendTag)}
		}
		if n.proc.Receives() {
			x.receives, x.comm, x.source, x.tag = true, comm, t.Word(r.Source), t.Word(r.RecvTag)
			x.nobody = x.source == signature.ProcNull
		}
	}
	if r.Send.Parts != 0 || r.Recv.Parts != 0 {
		m.makeParts(t, n, x)
	}
	if n.prepared == nil {
		n.prepared = map[uint32]*prepared{}
	}
	n.prepared[uint32(slot)] = x
}

// partitioned reports whether the request is of a partitioned send or receive.
func (x *prepared) partitioned() bool {
	return x.node.roles.Send.Parts != 0 || x.node.roles.Recv.Parts != 0
}

// start posts the operations of persistent requests.
func (m *matcher) start(t *Thread, n *node) {
	for _, w := range t.requests() {
		by, slot := t.Process.issuer(w)
		if by == nil || by.prepared[slot] == nil {
			continue
		}
		first := len(t.call.Posted)
		m.startOne(t, w, by.prepared[slot])
		list := t.call.Posted[first:]
		for i := 1; i < len(list); i++ {
			list[i-1].sibling = list[i]
		}
		if len(list) > 0 {
			t.Process.requests.put(t.Process.place(by, w, slot), list[0])
		}
	}
}

func (m *matcher) startOne(t *Thread, request uint64, x *prepared) {
	p := t.Process
	if x.partitioned() {
		m.startParts(t, x)
		return
	}
	if x.part != nil {
		m.enterPart(t, x.part, x.node.proc, x.root, x.excluded, x.bytes)
	}
	if x.sends && !x.toNobody {
		o := m.operation(t, SendMessage)
		o.Bytes = x.bytes
		m.send(m.channel(x.sendKey), o)
	}
	if x.receives && !x.nobody {
		source, tag := x.source, x.tag
		if x.node.wild {
			if source, tag = t.outcomeOf(request, source, tag); signature.IsConst(source) {
				return
			}
		}
		m.receive(m.channelOf(p.Facts.PeerOf(x.comm, source), p.Rank, p.name(x.comm), tag), m.operation(t, ReceiveMessage))
	}
}

// probe looks for a message.
func (m *matcher) probe(t *Thread, n *node) {
	if n.poll != 0 && t.Word(int(n.poll)) == 0 {
		return
	}
	r, p := n.roles, t.Process
	comm, source, tag := t.Word(signature.ObjectWord), t.Word(r.Source), t.Word(r.RecvTag)
	if source == signature.ProcNull {
		return
	}
	source, tag = reported(t, r, source, tag)
	c := m.channelOf(p.Facts.PeerOf(comm, source), p.Rank, p.name(comm), tag)
	o := m.operation(t, ProbeMessage)
	t.call.Done = append(t.call.Done, o)
	if n.action == matchesMessage {
		m.receive(c, o)
		if slot := t.Word(r.MatchedMessage); signature.IsPlain(slot) {
			if n.messages == nil {
				n.messages = map[uint32]*Operation{}
			}
			n.messages[uint32(slot)] = o
		}
		return
	}
	switch o.channel = c; {
	case c == nil:
		m.summary.Outside++
	case !c.sends.empty():
		o.Partner = c.sends.first
	default:
		c.probes = append(c.probes, o)
	}
}

// take receives a message that a probe has matched.
func (m *matcher) take(t *Thread, n *node) {
	by, slot := t.Process.issuer(t.Word(n.roles.Message))
	if by == nil || by.messages[slot] == nil {
		return
	}
	o := by.messages[slot]
	delete(by.messages, slot)
	o.Kind, o.done = ReceiveMessage, false
	o.Origin = Origin{t, t.call.Node, t.call.Event, t.call.Enter}
	t.call.Posted = append(t.call.Posted, o)
	if n.roles.Request != 0 {
		m.request(t, n, t.call.Posted)
		return
	}
	t.call.Done = append(t.call.Done, o)
}
