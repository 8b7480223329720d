package otf2

import (
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// operations are what a request stands for: one, or two of MPI_Isendrecv.
type operations struct {
	list []operation
	// prepared are those of a persistent request, which list has while it is active.
	prepared []operation
}

// operation is a message or collective call that is in progress.
type operation struct {
	id       uint64 // of the request in the archive
	receives bool
	collects bool
	alone    bool // without counterpart in what is written
	unknown  bool // the peer is not among the processes that are written
	nothing  bool // from or to MPI_PROC_NULL
	message
	part collective
	// unready are the partitions of a message that it is not sent without.
	unready uint64
	window  *localWindow // of an access that a request completes
	file    *localFile   // of an operation on a file
	// Words of a receive, as posted.
	on, source, label uint64 // communicator, sender, tag
}

// processWriter writes the calls of a process.
type processWriter struct {
	*archive
	number   int // in the run
	left     counts
	facts    *analysis.Process
	requests requestTable
	spare    []*operations           // of requests that are complete
	messages map[uint64]uint64       // communicators of messages that were matched, by their words
	ids      uint64                  // of requests
	comms    map[uint64]*localComm   // by word
	windows  map[uint64]*localWindow // by word
	files    map[uint64]*localFile   // by word
	texts    map[uint64]string       // by word
	threads  []*threadWriter
}

// request returns the operations of a new request, none so far.
func (p *processWriter) request(word uint64) *operations {
	var r *operations
	if last := len(p.spare) - 1; last >= 0 {
		r, p.spare = p.spare[last], p.spare[:last]
		r.list, r.prepared = r.list[:0], nil
	} else {
		r = &operations{}
	}
	p.requests.set(word, r)
	return r
}

// forget ends a request.
func (p *processWriter) forget(word uint64, r *operations) {
	p.requests.set(word, nil)
	p.spare = append(p.spare, r)
}

// localComm is a communicator as a process sees it; id is undefined if it has no definition.
type localComm struct {
	id uint32
	// peers are the ranks in the archive of those that messages go to, -1 of those that are not
	// written; nil if all are, and ranks are the same.
	peers []int32
	inter bool
}

// comm finds a communicator.
func (p *processWriter) comm(word uint64) *localComm {
	c := p.comms[word]
	if c != nil {
		return c
	}
	c = &localComm{id: undefined}
	p.comms[word] = c
	key, own, other, ok := keyOf(p.facts, word)
	if !ok {
		return c
	}
	id, ok := p.defs.byComm[key]
	if !ok {
		return c
	}
	c.id = id
	d := &p.defs.comms[id]
	c.peers = d.places
	if c.inter = other != nil; c.inter && own.Key() == d.firstKey {
		c.peers = d.second
	}
	return c
}

// rankIn returns the rank in the archive of a rank in a communicator; false if it is not written.
func rankIn(places []int32, rank uint64) (uint32, bool) {
	switch {
	case rank >= undefined:
		return 0, false
	case places == nil:
		return uint32(rank), true
	case rank >= uint64(len(places)) || places[rank] < 0:
		return 0, false
	}
	return uint32(places[rank]), true
}

// size is the size in bytes of a payload, 0 if it is unknown.
func (t *threadWriter) size(e *reconstruct.Event, d *signature.Payload) uint64 {
	size, _ := t.process.facts.PayloadBytes(e, d)
	return size
}

// sending describes the message that a call sends, or prepares to send.
func (t *threadWriter) sending(e *reconstruct.Event, x *plan) operation {
	r := x.roles
	dest := e.Word(r.Dest)
	o := operation{nothing: dest == signature.ProcNull}
	if o.nothing {
		return o
	}
	if x.sentKnown {
		o.message = x.sent
		return o
	}
	c := t.process.comm(e.Word(signature.ObjectWord))
	peer, ok := rankIn(c.peers, dest)
	o.unknown = !ok || c.id == undefined
	o.message = message{peer, c.id, uint32(e.Word(r.SendTag)), t.size(e, &r.Send)}
	if !o.unknown && x.known(signature.ObjectWord, r.Dest, r.SendTag, r.Send.Type, r.Send.Count, r.Send.Parts) {
		x.sent, x.sentKnown = o.message, true
	}
	return o
}

// preparing describes the message that a call prepares to send.
func (t *threadWriter) preparing(e *reconstruct.Event, x *plan) operation {
	o := t.sending(e, x)
	if parts := x.roles.Send.Parts; parts != 0 {
		o.unready = e.Word(parts)
	}
	return o
}

// receiving describes the message that a call posts a receive for, as far as that is known.
func (t *threadWriter) receiving(e *reconstruct.Event, x *plan) operation {
	if x.postedKnown {
		return x.posted
	}
	r := x.roles
	source := e.Word(r.Source)
	o := operation{receives: true, nothing: source == signature.ProcNull, on: e.Word(signature.ObjectWord), source: source, label: e.Word(r.RecvTag)}
	o.bytes = t.size(e, &r.Recv)
	t.from(&o, signature.Absent, signature.Absent)
	if x.known(signature.ObjectWord, r.Source, r.RecvTag, r.Recv.Type, r.Recv.Count, r.Recv.Parts) {
		x.posted, x.postedKnown = o, true
	}
	return o
}

// from sets sender and tag of a message: those that were reported or, if nothing was, posted.
func (t *threadWriter) from(o *operation, source, tag uint64) {
	if signature.IsConst(source) {
		source = o.source
	}
	if signature.IsConst(tag) {
		tag = o.label
	}
	c := t.process.comm(o.on)
	peer, ok := rankIn(c.peers, source)
	o.unknown = !ok || c.id == undefined || signature.IsConst(tag)
	o.peer, o.comm, o.tag = peer, c.id, uint32(tag)
}

// received describes the message that a call has received: sender and tag if it asked for any,
// and the size.
func (t *threadWriter) received(e *reconstruct.Event, x *plan) operation {
	o := t.receiving(e, x)
	r := x.roles
	if r.StatusSource != 0 && !o.nothing && o.unknown { // any
		t.from(&o, e.Word(r.StatusSource), e.Word(r.StatusTag))
	}
	if b := e.Word(r.StatusBytes); r.StatusBytes != 0 && !signature.IsConst(b) {
		o.bytes = b
	}
	return o
}

// taken describes the message that a call has received which a probe had matched.
func (t *threadWriter) taken(e *reconstruct.Event, x *plan) operation {
	r, word := x.roles, e.Word(x.roles.Message)
	on, ok := t.process.messages[word]
	o := operation{receives: true, nothing: word == signature.MessageNoProc, on: on, source: signature.Absent, label: signature.Absent, unknown: !ok}
	o.bytes = t.size(e, &r.Recv)
	if !ok || o.nothing || r.StatusSource == 0 {
		return o
	}
	t.from(&o, e.Word(r.StatusSource), e.Word(r.StatusTag))
	if b := e.Word(r.StatusBytes); !signature.IsConst(b) {
		o.bytes = b
	}
	return o
}

// joining describes a collective call.
func (t *threadWriter) joining(e *reconstruct.Event, x *plan) operation {
	o := operation{collects: true}
	if x.joinedKnown {
		o.part = x.joined
		return o
	}
	word := e.Word(signature.ObjectWord)
	c := t.process.comm(word)
	o.part = collective{op: x.op, comm: c.id, root: undefined}
	o.unknown = c.id == undefined
	if x.roles.Root != 0 && !o.unknown {
		o.part.root, o.unknown = rootOf(c, e.Word(x.roles.Root))
	}
	o.part.sent, o.part.received = t.volume(e)
	if !o.unknown && t.process.facts.VolumeWords(t.stream, e.Node())&x.mask == 0 && x.known(signature.ObjectWord, x.roles.Root) {
		x.joined, x.joinedKnown = o.part, true
	}
	return o
}

// rootOf returns the root of a collective call. Members of an intercommunicator do not all know
// it.
func rootOf(c *localComm, w uint64) (root uint32, unknown bool) {
	root, ok := rankIn(c.peers, w)
	return root, !ok || c.inter
}

// volume is what a call sends and receives, in bytes.
func (t *threadWriter) volume(e *reconstruct.Event) (sent, received uint64) {
	v, _ := t.process.facts.VolumeOf(t.stream, e.Node(), e.Words(), func(i int) []uint64 {
		elems, _ := e.Vec(i)
		return elems
	})
	return v.Sent, v.Received
}

// issued is the word of the request that an event issues; false if there is none.
func issued(e *reconstruct.Event, x *plan) (uint64, bool) { return objectOf(e, x.roles.Request) }

// objectOf is the word of the request or message whose slot is a word of an event.
func objectOf(e *reconstruct.Event, slot int) (uint64, bool) {
	w := e.Word(slot)
	if slot == 0 || !signature.IsPlain(w) {
		return 0, false
	}
	return signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(w)}.Word(), true
}
