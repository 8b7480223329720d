package reconstruct

import (
	"slices"

	"github.com/efg-tools/efg/signature"
)

// tracker tracks a stream's requests as its events require: the array of requests as the last
// call left it (for EFG_SAME), the arguments with which receives were posted, and which
// persistent requests are active.
type tracker struct {
	stream *stream

	array    []uint64 // array of the current event, if it passes one
	constant uint64   // in place of an array
	last     []uint64 // as the last call left it
	valid    bool     // last is known
	same     bool     // array is equal to last
	done     []int    // result of completed
	order    []int    // result of statusOrder
	found    []status // of AppendReceptions

	// partial: events before the first one were not read. seen are the requests whose issue,
	// start or completion was read.
	partial bool
	seen    map[uint64]bool

	posted   map[uint64]posted // by request
	inactive map[uint64]bool   // persistent requests that are not started
	issues   map[uint64]uint64 // numbers of issuing events, if requested
}

// posted holds the arguments with which a receive was posted. Unknown words are absent.
type posted struct {
	source, tag, datatype uint64
	count                 uint64 // elements
	counted               bool   // count is known
}

func newTracker(s *stream, issues bool) *tracker {
	t := &tracker{stream: s, posted: map[uint64]posted{}, inactive: map[uint64]bool{}, seen: map[uint64]bool{}}
	if issues {
		t.issues = map[uint64]uint64{}
	}
	return t
}

// knows reports whether the history of a request has been read.
func (t *tracker) knows(w uint64) bool {
	n := t.stream.process.issuer(w)
	if id, _ := signature.ParseID(w); n == nil || t.seen[w] || id.Thread != t.stream.Thread {
		return true // requests of other threads are never tracked
	}
	return t.issues == nil && n.tracked&trackPosted == 0 && !n.persistent()
}

// before prepares the event for its reader.
func (t *tracker) before(e *Event) {
	if e.node.tracked&trackArray == 0 {
		return
	}
	t.array, t.constant = e.vec(e.node.requests)
	t.same = t.constant == signature.Same && t.valid
	if t.same {
		t.array, t.constant = t.last, 0
	}
}

// after updates the state after the event.
func (t *tracker) after(e *Event) {
	n := e.node
	if n.request != 0 && !e.Failed() {
		t.issued(e)
	}
	if n.proc != nil && n.proc.Starts && !e.Failed() {
		t.started(e)
	}
	if n.requests == 0 {
		return
	}
	done := t.completed(e)
	if n.proc.Peeks != "" {
		done = nil
	}
	if len(t.posted) > 0 || t.issues != nil || t.stream.process.persistent {
		for _, i := range done {
			t.settle(e.Request(i))
		}
	}
	if n.requestsVec && n.header.Depth() == 0 { // the arrays of calls inside others are recorded in full
		t.leave(e, done)
	}
}

// leave keeps the array as the call left it.
func (t *tracker) leave(e *Event, done []int) {
	t.valid = t.constant == 0 && !e.Failed()
	if !t.valid {
		return
	}
	if !t.same {
		t.last = append(t.last[:0], t.array...)
	}
	for _, i := range done {
		if i < len(t.last) && !t.stream.process.isPersistent(t.last[i]) {
			t.last[i] = signature.RequestNull
		}
	}
}

func (t *tracker) issued(e *Event) {
	n := e.node
	if n.tracked&(trackPosted|trackActive) == 0 && t.issues == nil {
		return
	}
	w := t.newRequest(e)
	if id, ok := signature.ParseID(w); ok && id.Thread != t.stream.Thread {
		return // of no recorder: see knows
	}
	if t.partial {
		t.seen[w] = true
	}
	if n.tracked&trackPosted != 0 {
		t.posted[w] = t.postedBy(n, e)
	}
	if n.persistent() {
		t.inactive[w] = true
	}
	if t.issues != nil {
		t.issues[w] = e.Seq
	}
}

// newRequest is the word of the request that the event issued.
func (t *tracker) newRequest(e *Event) uint64 {
	w := e.Word(e.node.request)
	if !signature.IsPlain(w) {
		return w
	}
	return signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(w)}.Word()
}

func (t *tracker) started(e *Event) {
	if e.node.requestsVec {
		for _, w := range t.array {
			t.start(w, e.Seq)
		}
		return
	}
	t.start(e.Word(e.node.requests), e.Seq)
}

func (t *tracker) start(w, seq uint64) {
	if t.partial {
		t.seen[w] = true
	}
	delete(t.inactive, w)
	if t.issues != nil {
		t.issues[w] = seq
	}
}

// settle forgets a completed request.
func (t *tracker) settle(w uint64) {
	if t.partial && t.stream.process.isPersistent(w) {
		t.seen[w] = true
	}
	if t.stream.process.isPersistent(w) {
		t.inactive[w] = true
		return
	}
	delete(t.posted, w)
	delete(t.issues, w)
}

// completed returns the positions of the requests that the event completed.
func (t *tracker) completed(e *Event) []int {
	n := e.node
	t.done = t.done[:0]
	if n.flag != 0 && e.Word(n.flag) != 1 {
		return t.done
	}
	switch n.completes {
	case completesOne:
		t.add(0, e.Word(n.requests))
	case completesAll:
		for i, w := range t.array {
			t.add(i, w)
		}
	case completesAny:
		if i := e.Word(n.index); i < uint64(len(t.array)) {
			t.add(int(i), t.array[i])
		}
	case completesSome:
		indices, _ := e.vec(n.indices)
		for _, i := range indices {
			if i < uint64(len(t.array)) {
				t.add(int(i), t.array[i])
			}
		}
	}
	return t.done
}

// add appends a position unless there is nothing to complete.
func (t *tracker) add(i int, w uint64) {
	if signature.IsID(w) && !(t.stream.process.persistent && t.inactive[w]) {
		t.done = append(t.done, i)
	}
}

// issuer returns the node that issued a request, nil if it is unknown.
func (p *Process) issuer(w uint64) *node {
	id, ok := signature.ParseID(w)
	if !ok {
		return nil
	}
	s := p.threads[id.Thread]
	if s == nil || int(id.Node) >= len(s.nodes) {
		return nil
	}
	return &s.nodes[id.Node]
}

func (p *Process) isPersistent(w uint64) bool {
	if !p.persistent {
		return false
	}
	n := p.issuer(w)
	return n != nil && n.persistent()
}

// postedWith returns the arguments with which a receive was posted; false if the request is not
// a receive.
func (t *tracker) postedWith(w uint64) (posted, bool) {
	n := t.stream.process.issuer(w)
	if n == nil || !n.receive.posts {
		return posted{signature.Absent, signature.Absent, signature.Absent, 0, false}, false
	}
	if p, ok := t.posted[w]; ok {
		return p, true
	}
	return t.postedBy(n, nil), true
}

// postedBy reads the arguments with which a receive is posted, from the node and, if they are
// demoted, from the event; without an event demoted ones are unknown.
func (t *tracker) postedBy(n *node, e *Event) posted {
	word := func(i int) uint64 {
		switch {
		case i == 0 || n.demoted(i) && e == nil:
			return signature.Absent
		case n.demoted(i):
			return e.Word(i)
		}
		return n.words[i]
	}
	r := &n.receive
	p := posted{source: word(r.source), tag: word(r.tag), datatype: word(r.Type)}
	p.count = word(r.Count)
	p.counted = !signature.IsConst(p.count)
	if r.Parts != 0 {
		parts := word(r.Parts)
		p.counted = p.counted && !signature.IsConst(parts)
		p.count *= parts
	}
	return p
}

// status is the status of a completed receive.
type status struct {
	position            int // in the array of requests
	source, tag, bytes  uint64
	datatype            uint64
	count               uint64 // elements of datatype
	whole, sized, known bool   // count is exact; bytes and count are known; anything is known
	stated              bool   // as Reception.Stated, in an array
}

// statusOf completes a status with the number of elements.
func (t *tracker) statusOf(source, tag, bytes, datatype uint64) status {
	s := status{source: source, tag: tag, bytes: bytes, datatype: datatype}
	s.known = source != signature.Absent || tag != signature.Absent || bytes != signature.Absent
	s.sized = !signature.IsConst(bytes)
	size, ok := t.stream.process.names.TypeSize(datatype)
	if !s.sized || !ok {
		return s
	}
	switch {
	case size == 0:
		s.whole = bytes == 0
	case bytes%size == 0:
		s.count, s.whole = bytes/size, true
	}
	return s
}

// sizeAsPosted is the status of a receive whose message has the posted size.
func (t *tracker) sizeAsPosted(source, tag uint64, p posted) status {
	size, ok := t.stream.process.names.TypeSize(p.datatype)
	if ok && p.counted {
		return t.statusOf(source, tag, size*p.count, p.datatype)
	}
	s := t.statusOf(source, tag, signature.Absent, p.datatype)
	s.count, s.whole = p.count, p.counted
	s.known = s.known || p.counted
	return s
}

// asPosted is the status of a receive whose message has the posted source, tag and size.
func (t *tracker) asPosted(p posted) status {
	s := status{source: p.source, tag: p.tag, bytes: signature.Absent, datatype: p.datatype, known: true}
	if s.source == signature.ProcNull { // nothing arrives, and the status says so
		s.tag, s.bytes, s.whole, s.sized = signature.AnyTag, 0, true, true
		return s
	}
	if s.source == signature.AnySource {
		s.source = signature.Absent
	}
	if s.tag == signature.AnyTag {
		s.tag = signature.Absent
	}
	if p.counted {
		s.count, s.whole = p.count, true
		if size, ok := t.stream.process.names.TypeSize(p.datatype); ok {
			s.bytes, s.sized = size*p.count, true
		}
	}
	return s
}

// statuses appends the statuses of the receives that the event completed, from
// its vec word i of statuses.
func (t *tracker) statuses(dst []status, e *Event, i int) []status {
	quads, mark := e.vec(i)
	if mark != 0 && mark != signature.AsPosted {
		return dst
	}
	order := t.statusOrder(e)
	for k, position := range order {
		if position < 0 || position >= len(t.array) {
			continue
		}
		w := t.array[position]
		p, ok := t.postedWith(w)
		if !ok || t.inactive[w] {
			continue
		}
		s := t.asPosted(p)
		for ; len(quads) >= 4 && quads[0] < uint64(k); quads = quads[4:] {
		}
		if len(quads) >= 4 && quads[0] == uint64(k) {
			s = t.statusOf(quads[1], quads[2], quads[3], p.datatype)
			s.stated = true
		}
		s.position = position
		dst = append(dst, s)
	}
	return dst
}

// statusOrder returns for each status of the event's array of statuses the position of its
// request: the indices of a call that completes some, otherwise all positions, or none if
// nothing is complete.
func (t *tracker) statusOrder(e *Event) []int {
	n := e.node
	t.order = t.order[:0]
	if n.flag != 0 && e.Word(n.flag) != 1 {
		return t.order
	}
	if n.indices != 0 {
		indices, _ := e.vec(n.indices)
		for _, v := range indices {
			t.order = append(t.order, int(min(v, uint64(len(t.array)))))
		}
		return t.order
	}
	t.order = slices.Grow(t.order, len(t.array))
	for i := range t.array {
		t.order = append(t.order, i)
	}
	return t.order
}
