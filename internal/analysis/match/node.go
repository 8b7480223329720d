package match

import (
	"math"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// action says what the calls of a node do.
type action uint8

const (
	noAction         action = iota
	transfersMessage        // sends or receives, and returns when that is done
	issuesMessage           // a request completes it
	makesPersistent         // makes a persistent request
	startsPersistent
	readiesParts // of a partitioned message
	asksForPart
	probesMessage
	matchesMessage // MPI_Mprobe
	takesMessage   // MPI_Mrecv, MPI_Imrecv
	joins          // a collective call
	issuesPart     // of a nonblocking collective
	beginsSplit
	endsSplit
	exposes // MPI_Win_post
	accesses
	endsAccess
	awaitsAccess // MPI_Win_wait
	locks
)

// node is what the calls with one signature have in common. What each of them needs is in the
// first 64 bytes: nodes of many threads do not fit into a cache.
type node struct {
	action          action
	failed          bool
	completes       bool // its requests
	frees           bool // its requests
	cancels         bool
	quiet           bool // when it is left matters to no other thread
	nested          bool // its calls were made inside others
	sends, receives bool
	wild            bool  // a nonblocking receive that may have any source or tag
	needsWords      bool  // its words are looked at
	poll            uint8 // the word that is 0 if it found nothing; 0: not a poll
	freed           uint8 // word of the object that is gone after it
	// What all calls of the node have in common; see known.
	sendKnown, receiveKnown, bytesKnown bool

	mask                uint64 // of the words that differ between its calls
	proc                *signature.Proc
	roles               *signature.Roles
	sendTo, receiveFrom *channel
	bytes               uint64

	words    []uint64 // those that do not differ
	part     *part
	places   []int32 // of the requests that it issues, by slot; 0: it has none yet
	prepared map[uint32]*prepared
	messages map[uint32]*Operation
}

// known reports whether words are the same in all calls of the node.
func (n *node) known(words ...int) bool {
	for _, w := range words {
		if n.mask>>w&1 != 0 {
			return false
		}
	}
	return true
}

// prepare finds out what the calls of each node do.
func (t *Thread) prepare() {
	t.nodes = make([]node, len(t.Nodes))
	for i := range t.nodes {
		t.nodes[i].prepare(&t.Nodes[i])
	}
}

func (n *node) prepare(from *efg.Node) {
	n.prepareWords(from.Words)
	n.mask = from.Mask
	if n.proc == nil {
		return
	}
	n.wild = n.action == issuesMessage || n.action == makesPersistent
	n.wild = n.wild && n.proc.Receives() && (n.any(from, n.roles.Source) || n.any(from, n.roles.RecvTag))
}

// any reports whether a word may be a wildcard.
func (n *node) any(from *efg.Node, word int) bool {
	return word != 0 && (n.mask>>word&1 != 0 || wildcard(from.Words[word]))
}

func wildcard(w uint64) bool { return w == signature.AnySource || w == signature.AnyTag }

func (n *node) prepareWords(words []uint64) {
	n.words, n.quiet = words, true
	h := signature.Header(words[0])
	n.nested = h.Depth() > 0
	p := signature.ProcByID(h.Proc())
	if p == nil || len(p.Words) != len(words) {
		return
	}
	n.proc, n.roles, n.failed = p, &p.Roles, h.ErrorClass() != 0
	n.sends, n.receives = p.Sends(), p.Receives()
	if n.failed || h.Counted() {
		return
	}
	n.action = actionOf(p)
	n.completes, n.cancels = p.Completes != "", p.Cancels
	n.frees = p.FreesRequest()
	n.freed, n.poll = uint8(p.Roles.Freed), uint8(p.PollWord())
	posts := n.action == noAction || n.action == issuesMessage || n.action == readiesParts || n.action == issuesPart || n.action == startsPersistent
	n.quiet = posts && !n.completes && !n.frees && !n.cancels && n.poll == 0 && n.freed == 0
	n.needsWords = n.action != noAction || n.poll != 0 || n.frees || n.cancels || n.freed != 0
}

func actionOf(p *signature.Proc) action {
	switch {
	case p.Starts:
		return startsPersistent
	case p.Collective():
		return collectiveAction(p)
	case p.Roles.Parts != signature.Partitions{}:
		return partsAction(p)
	case p.Roles.MatchedMessage != 0:
		return matchesMessage
	case p.Probes():
		return probesMessage
	case p.Roles.Message != 0 && p.Receives():
		return takesMessage
	case (p.Sends() || p.Receives()) && p.Persistent:
		return makesPersistent
	case (p.Sends() || p.Receives()) && p.Issues != "":
		return issuesMessage
	case p.Sends() || p.Receives():
		return transfersMessage
	}
	return epochActions[p.Epoch]
}

func partsAction(p *signature.Proc) action {
	if p.PollWord() != 0 {
		return asksForPart
	}
	return readiesParts
}

func collectiveAction(p *signature.Proc) action {
	switch p.Variant {
	case signature.Nonblocking:
		return issuesPart
	case signature.Persistent:
		return makesPersistent
	case signature.SplitBegin:
		return beginsSplit
	case signature.SplitEnd:
		return endsSplit
	}
	return joins
}

var epochActions = map[signature.Epoch]action{
	signature.ExposureBegin: exposes, signature.AccessBegin: accesses, signature.AccessEnd: endsAccess, signature.ExposureEnd: awaitsAccess,
	signature.Lock: locks, signature.Unlock: locks, signature.Flush: locks,
}

// fewSlots bounds the slots of a node that are kept in an array: a file can have any number.
const fewSlots = 1 << 10

// requests are the first operations of a process's requests. Those of low slots are at a place that
// their node knows.
type requests struct {
	places int32 // that were given away; the first is 1
	low    []*Operation
	high   map[uint64]*Operation // by word
}

// place is where the operations of a request are kept: a number, or the word of the request.
func (p *Process) place(n *node, word uint64, slot uint32) uint64 {
	if slot >= fewSlots {
		return word
	}
	for uint32(len(n.places)) <= slot {
		n.places = append(n.places, 0)
	}
	if n.places[slot] == 0 {
		p.requests.places++
		n.places[slot] = p.requests.places
	}
	return uint64(n.places[slot])
}

// placeOf is the place of a request by its word; 0 if it is none of the process's.
func (p *Process) placeOf(word uint64) uint64 {
	n, slot := p.issuer(word)
	if n == nil {
		return 0
	}
	return p.place(n, word, slot)
}

// isWord reports whether a place is the word of a request.
func isWord(place uint64) bool { return place > math.MaxInt32 }

func (r *requests) put(place uint64, o *Operation) {
	if !isWord(place) {
		for uint64(len(r.low)) <= place {
			r.low = append(r.low, nil)
		}
		r.low[place] = o
		return
	}
	if r.high == nil {
		r.high = map[uint64]*Operation{}
	}
	r.high[place] = o
}

func (r *requests) get(place uint64) *Operation {
	switch {
	case place < uint64(len(r.low)):
		return r.low[place]
	case isWord(place):
		return r.high[place]
	}
	return nil
}

// take returns the operations at a place, and removes them.
func (r *requests) take(place uint64) *Operation {
	o := r.get(place)
	switch {
	case o == nil:
	case isWord(place):
		delete(r.high, place)
	default:
		r.low[place] = nil
	}
	return o
}

// issuer returns the node that made a request or matched message, and its slot.
func (p *Process) issuer(word uint64) (n *node, slot uint32) {
	id, ok := signature.ParseID(word)
	t := p.Threads[0]
	if t.Stream.Thread != id.Thread {
		t = p.byOrdinal[id.Thread]
	}
	if !ok || t == nil || int(id.Node) >= len(t.nodes) {
		return nil, 0
	}
	return &t.nodes[id.Node], id.Slot
}

// wild reports whether a request may be of a receive of any source or tag.
func (p *Process) wild(request uint64) bool {
	n, _ := p.issuer(request)
	return n != nil && n.wild
}

// wildcards reports whether the thread posts nonblocking receives of any source or tag.
func (t *Thread) wildcards() bool {
	for i := range t.nodes {
		if t.nodes[i].wild {
			return true
		}
	}
	return false
}
