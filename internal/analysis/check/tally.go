package check

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// channel is the key by which messages are matched. from and to are ranks in the run.
type channel struct {
	from, to  int32
	comm, tag uint64
}

// flow counts the messages of a channel.
type flow struct {
	sent, received uint64
	// pending receives were posted and never completed: they may have received a message.
	// Cancelled operations may have taken place, or not.
	pending, cancelled uint64
	sender, receiver   place // the last counted node that sends or receives
	sendOrder          int   // its number
	receiveOrder       int
	out, in            typeSummary
}

// place is a node of a process.
type place struct {
	thread uint32
	node   int32
}

// wildcardSite is where receives with a wildcard wait.
type wildcardSite struct {
	to   int32
	comm uint64
}

// object is a communicator, window, file or datatype.
type object struct {
	kind signature.Kind
	word uint64
}

// lifetime counts how often an object was made and freed.
type lifetime struct {
	made, freed uint64
	at          place // where it was made
}

// tally holds the counts of a process.
type tally struct {
	p    *analysis.Process
	rank int32

	flows    map[channel]*flow
	waiting  map[wildcardSite]uint64
	requests map[place]*lifetime // by issuing node
	maybe    map[place]uint64
	objects  map[object]*lifetime
	starts   map[place]*lifetime // made: started, freed: completed
	begun    map[place]bool      // nodes of persistent requests that were started
	awaited  map[place]uint64    // completions of persistent requests, by node
	twice    []misuse
	total    Totals

	probed map[uint64]uint64 // communicators of matched messages, from iterating over the events
	names  map[uint64]uint64 // of communicators, see name
	types  *signatureFinder
	doubt  bool // the counts depend on the order of events

	counted int // number of messages, see flow
}

// misuse is a wrong use of a persistent request.
type misuse struct {
	eventRef
	text string
}

func newTally(p *analysis.Process) *tally {
	return &tally{
		p: p, rank: int32(p.Data.Rank), flows: map[channel]*flow{}, waiting: map[wildcardSite]uint64{},
		requests: map[place]*lifetime{}, maybe: map[place]uint64{}, objects: map[object]*lifetime{}, starts: map[place]*lifetime{},
		begun: map[place]bool{}, awaited: map[place]uint64{}, names: map[uint64]uint64{}, types: newSigner(p),
	}
}

func (t *tally) flow(c channel) *flow {
	f := t.flows[c]
	if f == nil {
		f = &flow{}
		t.flows[c] = f
	}
	return f
}

func lifeAt[K comparable](m map[K]*lifetime, k K) *lifetime {
	l := m[k]
	if l == nil {
		l = &lifetime{}
		m[k] = l
	}
	return l
}

// sent counts messages to a peer.
func (t *tally) sent(to int, comm, tag uint64, d data, times uint64, at place) {
	if to == analysis.NoRank || t.rank < 0 {
		return
	}
	f := t.flow(channel{t.rank, int32(to), comm, tag})
	f.sent += times
	t.counted++
	f.sender, f.sendOrder = at, t.counted
	f.out.note(t.types, d)
	t.total.Sent += times
}

// received counts messages from a peer.
func (t *tally) received(from int, comm, tag uint64, d data, times uint64, at place) {
	if from == analysis.NoRank || t.rank < 0 {
		return
	}
	f := t.flow(channel{int32(from), t.rank, comm, tag})
	f.received += times
	t.counted++
	f.receiver, f.receiveOrder = at, t.counted
	f.in.note(t.types, d)
	t.total.Received += times
}

// node returns the node that created a request or found a message.
func (t *tally) node(id uint64) (*efg.Node, int, place, bool) {
	v, ok := signature.ParseID(id)
	if !ok {
		return nil, 0, place{}, false
	}
	for i := range t.p.Data.Streams {
		if s := &t.p.Data.Streams[i]; s.Thread == v.Thread && int(v.Node) < len(s.Nodes) {
			return &s.Nodes[v.Node], i, place{v.Thread, int32(v.Node)}, true
		}
	}
	return nil, 0, place{}, false
}

// commOf is the communicator of a receive: its own, or that of the probe that
// found its message.
func (t *tally) commOf(r *roles, object, message uint64) uint64 {
	if r.message == 0 {
		return object
	}
	if comm, ok := t.probed[message]; ok {
		return comm
	}
	n, _, _, ok := t.node(message)
	switch {
	case !ok || !handsOutMessages(procOf(n)):
		return 0
	case n.Mask&mask(signature.ObjectWord) != 0:
		t.doubt = true
	}
	return n.Words[signature.ObjectWord]
}

// hasWildcard reports whether a receive accepts several senders or tags, so that its completion
// identifies the message.
func hasWildcard(r *roles, source, tag uint64) bool {
	return r.message != 0 || source == signature.AnySource || tag == signature.AnyTag
}

// procNull reports whether no message can arrive.
func procNull(r *roles, source, message uint64) bool {
	return r.source != 0 && source == signature.ProcNull || r.message != 0 && message == signature.MessageNoProc
}

// name is the name of a communicator that its processes agree on.
func (t *tally) name(comm uint64) uint64 {
	name, ok := t.names[comm]
	if !ok {
		name = t.p.CommonName(comm)
		t.names[comm] = name
	}
	return name
}
