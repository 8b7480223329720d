package simgrid

import (
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// request is what a request stands for: one message, or two of MPI_Isendrecv.
type request struct {
	active   []wait
	prepared []posted // of a persistent request; nil: it is none
}

// wait identifies a message that a request completes.
type wait struct {
	from, to int
	tag      int64
}

// posted is a message to send or receive, in the words of the call.
type posted struct {
	x         *plan
	receives  bool
	comm      uint64
	peer, tag uint64
	bytes     uint64
	sized     bool
}

// posts are the messages of a call.
func (p *process) posts(e *reconstruct.Event, x *plan) []posted {
	r := x.roles
	on := e.Word(signature.ObjectWord)
	list := []posted{}
	if x.proc.Sends() {
		bytes, ok := p.facts.PayloadBytes(e, &r.Send)
		list = append(list, posted{x, false, on, e.Word(r.Dest), e.Word(r.SendTag), bytes, ok})
	}
	if x.proc.Receives() {
		bytes, ok := p.facts.PayloadBytes(e, &r.Recv)
		list = append(list, posted{x, true, on, e.Word(r.Source), e.Word(r.RecvTag), bytes, ok})
	}
	return list
}

// resolve replaces wildcards by what was received.
func (o *posted) resolve(source, tag uint64) {
	if o.peer == signature.AnySource {
		o.peer = source
	}
	if o.tag == signature.AnyTag {
		o.tag = tag
	}
}

// write writes a message as an action; false if there is none to write.
func (p *process) write(o *posted, action string) (w wait, ok bool) {
	if o.peer == signature.ProcNull {
		return w, false
	}
	c := p.comm(o.comm)
	peer := p.facts.PeerOf(o.comm, o.peer)
	counts, datatype, fits := elements(o.bytes)
	switch {
	case !c.known || peer < 0 || peer >= p.ranks || signature.IsConst(o.tag):
		p.missing[o.x.name+" with an unknown peer or tag"]++
		return w, false
	case !o.sized:
		p.missing[o.x.name+" of unknown size"]++
		return w, false
	case !fits:
		p.missing[o.x.name+" of 16 GiB or more"]++
		return w, false
	}
	w = wait{p.rank, peer, p.tag(o.comm, c, o.tag)}
	sent := int64(1)
	if o.receives {
		w.from, w.to, sent = peer, p.rank, -1
	}
	p.act(action, int64(peer), w.tag, counts[0], datatype)
	p.balance(channel(w), sent)
	return w, true
}

// balance counts messages that were sent or received.
func (x *exporter) balance(c channel, n int64) {
	if n += x.open[c]; n == 0 {
		delete(x.open, c)
	} else {
		x.open[c] = n
	}
}

// firstTag is the first of the tags that stand for those of other communicators than MPI_COMM_WORLD.
const firstTag = 1 << 30

// tag is the tag that stands for one on a communicator.
func (x *exporter) tag(word uint64, c *comm, tag uint64) int64 {
	if word == signature.CommWorld && tag < firstTag {
		return int64(tag)
	}
	key := c.name
	key.tag = tag
	n, ok := x.tags[key]
	if !ok {
		n = firstTag + int64(len(x.tags))
		x.tags[key] = n
	}
	return n
}

// transfer writes the messages of a call that returns when they are transferred.
func (p *process) transfer(e *reconstruct.Event, x *plan) {
	list := p.posts(e, x)
	for i := range list {
		if list[i].receives && x.roles.StatusSource != 0 {
			list[i].resolve(e.Word(x.roles.StatusSource), e.Word(x.roles.StatusTag))
		}
	}
	switch {
	case len(list) == 2: // at the same time
		sent, ok := p.write(&list[0], "isend")
		p.write(&list[1], "recv")
		if ok {
			p.wait(sent)
		}
	case list[0].receives:
		p.write(&list[0], "recv")
	case x.proc.Mode == signature.BufferedMode:
		p.write(&list[0], "isend") // nothing waits for it
	default:
		p.write(&list[0], "send")
	}
}

func (p *process) wait(w wait) { p.act("wait", int64(w.from), int64(w.to), w.tag) }

// issue writes the messages of a call whose request completes them.
func (p *process) issue(e *reconstruct.Event, x *plan) {
	if w, ok := issued(e, x); ok {
		r := &request{}
		p.requests[w] = r
		p.begin(w, r, p.posts(e, x))
	}
}

// begin writes the messages of a request, which they become part of.
func (p *process) begin(word uint64, r *request, list []posted) {
	for i := range list {
		o := list[i]
		action := "isend"
		if o.receives {
			action = "irecv"
			if got, ok := p.ahead.Next(word); ok {
				o.resolve(got.Source, got.Tag)
			}
		}
		if w, ok := p.write(&o, action); ok {
			r.active = append(r.active, w)
		}
	}
}

// start starts persistent requests.
func (p *process) start(e *reconstruct.Event, x *plan) {
	list := []uint64{e.Word(x.roles.Requests)}
	if x.proc.Vector(x.roles.Requests) {
		list, _ = e.Vec(x.roles.Requests)
	}
	for _, w := range list {
		if r := p.requests[w]; r != nil {
			p.begin(w, r, r.prepared)
		}
	}
}

// complete waits for what a call has completed.
func (p *process) complete(e *reconstruct.Event) {
	for _, at := range e.Completed() {
		word := e.Request(at)
		r := p.requests[word]
		if r == nil {
			continue
		}
		for _, w := range r.active {
			p.wait(w)
		}
		if r.active = r.active[:0]; r.prepared == nil {
			delete(p.requests, word)
		}
	}
}

// issued is the word of the request that an event issues; false if there is none.
func issued(e *reconstruct.Event, x *plan) (uint64, bool) {
	slot := e.Word(x.roles.Request)
	return signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(slot)}.Word(), signature.IsPlain(slot)
}
