package match

import (
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
	action     action
	failed     bool
	completes  bool // its requests
	frees      bool // its requests
	cancels    bool
	wild       bool   // a nonblocking receive that may have any source or tag
	poll       uint16 // the word that is 0 if it found nothing; 0: not a poll
	freed      uint16 // word of the object that is gone after it
	needsWords bool   // its words are looked at
	// What all calls of the node have in common; see known.
	sendKnown, receiveKnown, bytesKnown bool

	mask                uint64 // of the words that differ between its calls
	proc                *signature.Proc
	roles               *signature.Roles
	sendTo, receiveFrom *channel
	part                *part

	words    []uint64 // those that do not differ
	bytes    uint64
	slots    slots
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
	n.words = words
	h := signature.Header(words[0])
	p := signature.ProcByID(h.Proc())
	if p == nil || len(p.Words) != len(words) {
		return
	}
	n.proc, n.roles, n.failed = p, &p.Roles, h.ErrorClass() != 0
	if n.failed || h.Counted() {
		return
	}
	n.action = actionOf(p)
	n.completes, n.cancels = p.Completes != "", p.Cancels
	n.frees = p.Frees && p.Roles.Requests != 0 && p.Roles.Freed == 0
	n.freed, n.poll = uint16(p.Roles.Freed), uint16(p.PollWord())
	n.needsWords = n.action != noAction || n.poll != 0 || n.frees || n.cancels || n.freed != 0
}

func actionOf(p *signature.Proc) action {
	switch {
	case p.Starts:
		return startsPersistent
	case p.Collective():
		return collectiveAction(p)
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

// fewSlots bounds the slots that are kept in an array: a file can have any number.
const fewSlots = 1 << 10

// slots are the open operations of the requests of a node, by slot.
type slots struct {
	low  []*Operation
	high map[uint32]*Operation
}

func (s *slots) put(slot uint32, o *Operation) {
	if slot >= fewSlots {
		if s.high == nil {
			s.high = map[uint32]*Operation{}
		}
		s.high[slot] = o
		return
	}
	for uint32(len(s.low)) <= slot {
		s.low = append(s.low, nil)
	}
	s.low[slot] = o
}

func (s *slots) get(slot uint32) *Operation {
	if slot >= fewSlots {
		return s.high[slot]
	}
	if slot < uint32(len(s.low)) {
		return s.low[slot]
	}
	return nil
}

func (s *slots) remove(slot uint32) {
	if slot >= fewSlots {
		delete(s.high, slot)
	} else if slot < uint32(len(s.low)) {
		s.low[slot] = nil
	}
}

// issuer returns the node that made a request or matched message, and its slot.
func (p *Process) issuer(word uint64) (n *node, slot uint32) {
	id, ok := signature.ParseID(word)
	t := p.byOrdinal[id.Thread]
	if !ok || t == nil || int(id.Node) >= len(t.nodes) {
		return nil, 0
	}
	return &t.nodes[id.Node], id.Slot
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
