package simulate

import (
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// message is a message that a process sends or receives.
type message struct {
	sends bool
	peer  int // rank in the run
	tag   int64
	bytes uint64
}

// request is what a request stands for.
type request struct {
	marks    []uint64 // of the writer, for what is under way
	prepared []posted // of a persistent request
	// prepares is the collective call that a persistent request stands for.
	prepares *collective
	// unready are the partitions that a message is not sent without.
	unready uint64
	waiting []message // sent when all partitions are ready
	kept    bool      // persistent
}

// posted is a message to send or receive, in the words of the call.
type posted struct {
	x         *plan
	receives  bool
	comm      uint64
	peer, tag uint64
	bytes     uint64
	sized     bool
	parts     uint64 // of partitioned communication
	ordinal   int    // as labelled.partitioned
}

// Tags of messages between ranks of the run, on all communicators.
const (
	// firstNamedTag is the first of the tags that stand for those of other communicators than
	// MPI_COMM_WORLD.
	firstNamedTag = 1 << 30
	// firstJoinedTag is the first of the tags of collective calls: joinedTags for each communicator.
	firstJoinedTag = 3 << 29
	joinedTags     = 1 << 10
	mostJoinedTags = 1 << 29
)

// posts are the messages of a call.
func (p *process) posts(e *reconstruct.Event, x *plan) []posted {
	r := x.roles
	on := e.Word(signature.ObjectWord)
	var list []posted
	if x.proc.Sends() {
		o := posted{x: x, comm: on, peer: e.Word(r.Dest), tag: e.Word(r.SendTag)}
		o.bytes, o.sized = p.facts.PayloadBytes(e, &r.Send)
		if r.Send.Parts != 0 {
			o.parts = e.Word(r.Send.Parts)
		}
		list = append(list, o)
	}
	if x.proc.Receives() {
		o := posted{x: x, receives: true, comm: on, peer: e.Word(r.Source), tag: e.Word(r.RecvTag)}
		o.bytes, o.sized = p.facts.PayloadBytes(e, &r.Recv)
		if r.Recv.Parts != 0 {
			o.parts = e.Word(r.Recv.Parts)
		}
		list = append(list, o)
	}
	return list
}

// resolve replaces wildcards and the size of the buffer by what was received.
func (o *posted) resolve(source, tag uint64) {
	if o.peer == signature.AnySource {
		o.peer = source
	}
	if o.tag == signature.AnyTag {
		o.tag = tag
	}
}

// vain reports whether a receive that was cancelled has received nothing. Its status may then be rubbish.
func (o *posted) vain(got *analysis.Outcome) bool {
	switch {
	case !got.Cancelled:
		return false
	case got.Source == signature.Absent: // it was freed
		return true
	case signature.IsConst(o.peer):
		return signature.IsConst(got.Source) || !signature.IsConst(o.tag) && got.Tag != o.tag
	}
	return got.Stated
}

// message is what is sent or received; false if there is nothing, or it is unknown.
func (p *process) message(o *posted) (m message, ok bool) {
	if o.peer == signature.ProcNull {
		return m, false
	}
	c := p.comm(o.comm)
	peer := p.facts.PeerOf(o.comm, o.peer)
	switch {
	case c.known && peer < 0 && !signature.IsConst(o.peer):
		p.missing[o.x.name+ofAnotherWorld]++
		return m, false
	case !c.known || peer < 0 || peer >= p.ranks || signature.IsConst(o.tag):
		p.missing[o.x.name+" with an unknown peer or tag"]++
		return m, false
	case !o.sized:
		p.missing[o.x.name+ofUnknownSize]++
		return m, false
	case o.bytes > p.mostBytes:
		p.missing[o.x.name+p.tooLarge()]++
		return m, false
	}
	m = message{!o.receives, peer, p.tag(o, c), o.bytes}
	return m, true
}

// tag is the tag that stands for one on a communicator.
func (p *process) tag(o *posted, c *comm) int64 {
	if o.comm == signature.CommWorld && c.name.world == 0 && o.ordinal == 0 && o.tag < uint64(p.plainTags) {
		return int64(o.tag)
	}
	key := c.name
	key.tag, key.partitioned = o.tag, o.ordinal
	n, ok := p.tags[key]
	if !ok {
		n = p.plainTags + int64(len(p.tags))
		p.tags[key] = n
	}
	return n
}

// send counts messages, and returns those that there are.
func (p *process) exchange(list []posted) []message {
	out := make([]message, 0, len(list))
	for i := range list {
		if m, ok := p.message(&list[i]); ok {
			p.balance(&m)
			out = append(out, m)
		}
	}
	return out
}

// transfer writes the messages of a call that returns when they are transferred.
func (p *process) transfer(t *thread, e *reconstruct.Event, x *plan) {
	list := p.posts(e, x)
	r := x.roles
	for i := range list {
		o := &list[i]
		if !o.receives || r.StatusSource == 0 {
			continue
		}
		o.resolve(e.Word(r.StatusSource), e.Word(r.StatusTag))
		if n := e.Word(r.StatusBytes); !signature.IsConst(n) {
			o.bytes, o.sized = n, true
		}
	}
	switch out := p.exchange(list); {
	case len(out) == 0:
	case x.buffered:
		p.out.issue(t, out, &request{})
	default:
		p.out.transfer(t, out)
	}
}

// issue writes the messages of a call whose request completes them.
func (p *process) issue(t *thread, e *reconstruct.Event, x *plan) {
	if w, ok := made(e, x.roles.Request); ok {
		r := &request{}
		p.requests[w] = r
		p.begin(t, w, r, p.posts(e, x))
	}
}

// prepare notes what a persistent request does.
func (p *process) prepare(e *reconstruct.Event, x *plan) {
	w, ok := made(e, x.roles.Request)
	if !ok {
		return
	}
	r := &request{kept: true, prepared: p.posts(e, x)}
	for i := range r.prepared {
		o := &r.prepared[i]
		if o.parts == 0 {
			continue
		}
		key := labelled{comm: o.comm, world: int(o.peer), tag: o.tag}
		if o.receives {
			key.partitioned = 1
		}
		p.partitioned[key]++
		o.ordinal = p.partitioned[key]
	}
	p.requests[w] = r
}

// begin writes the messages of a request.
func (p *process) begin(t *thread, word uint64, r *request, posts []posted) {
	list := make([]posted, 0, len(posts))
	for _, o := range posts {
		if o.receives && o.parts == 0 {
			if got, ok := p.outcome(t, word); ok {
				if o.vain(&got) {
					continue
				}
				o.resolve(got.Source, got.Tag)
				if got.Sized {
					o.bytes, o.sized = got.Bytes, true
				}
			}
		}
		list = append(list, o)
	}
	out := p.exchange(list)
	switch {
	case len(out) == 0:
	case posts[0].parts > 0 && !posts[0].receives:
		r.unready, r.waiting = posts[0].parts, out
	default:
		p.out.issue(t, out, r)
	}
}

// outcome is the next outcome of a request, of which a thread starts the receive.
func (p *process) outcome(t *thread, request uint64) (analysis.Outcome, bool) {
	if id, ok := signature.ParseID(request); ok && id.Thread != t.ordinal {
		for _, o := range p.threads {
			if o.ordinal == id.Thread {
				t = o
			}
		}
	}
	if !t.receives(request) {
		return analysis.Outcome{}, false
	}
	return t.ahead.Next(request)
}

// start starts persistent requests.
func (p *process) start(t *thread, e *reconstruct.Event, x *plan) {
	list := []uint64{e.Word(x.roles.Requests)}
	if x.proc.Vector(x.roles.Requests) {
		list, _ = e.Vec(x.roles.Requests)
	}
	for _, w := range list {
		switch r := p.requests[w]; {
		case r == nil:
		case r.prepares != nil:
			p.run(t, r.prepares, r)
		default:
			p.begin(t, w, r, r.prepared)
		}
	}
}

// ready marks partitions as ready. The message is sent with the last of them.
func (p *process) ready(t *thread, e *reconstruct.Event, x *plan) {
	r := p.requests[e.Word(x.roles.Requests)]
	if r == nil || r.unready == 0 {
		return
	}
	if r.unready -= min(x.proc.Readied(e), r.unready); r.unready == 0 {
		p.out.issue(t, r.waiting, r)
		r.waiting = nil
	}
}

// match writes the receive of a message that a probe takes: from then on no other can.
func (p *process) match(t *thread, e *reconstruct.Event, x *plan) {
	r := x.roles
	w, ok := made(e, r.MatchedMessage)
	if !ok || r.Flag != 0 && e.Word(r.Flag) == 0 {
		return
	}
	o := posted{x: x, receives: true, comm: e.Word(signature.ObjectWord), peer: e.Word(r.Source), tag: e.Word(r.RecvTag), bytes: e.Word(r.StatusBytes)}
	o.sized = !signature.IsConst(o.bytes)
	o.resolve(e.Word(r.StatusSource), e.Word(r.StatusTag))
	p.requests[w] = &request{}
	if out := p.exchange([]posted{o}); len(out) > 0 {
		p.out.transfer(t, out)
	}
}

// take forgets a message that was written with its probe.
func (p *process) take(e *reconstruct.Event, x *plan) {
	delete(p.requests, e.Word(x.roles.Message))
	if w, ok := made(e, x.roles.Request); ok && x.roles.Request != 0 {
		p.requests[w] = &request{}
	}
}

// complete waits for what a call has completed.
func (p *process) complete(t *thread, e *reconstruct.Event) {
	var list []*request
	for _, at := range e.Completed() {
		word := e.Request(at)
		r := p.requests[word]
		if r == nil {
			continue
		}
		if len(r.waiting) > 0 { // not all partitions were seen to be ready
			p.out.issue(t, r.waiting, r)
			r.waiting, r.unready = nil, 0
		}
		if len(r.marks) > 0 {
			list = append(list, r)
		}
		if !r.kept {
			delete(p.requests, word)
		}
	}
	if len(list) == 0 {
		return
	}
	p.out.wait(t, list)
	for _, r := range list {
		r.marks = r.marks[:0]
	}
}
