package check

import (
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// wantedEvents are the events that a walk is to find.
type wantedEvents struct {
	sends   map[channel]uint64 // the send that is preceded by this many others on the channel
	typed   map[channel]uint64 // likewise
	takes   map[channel]uint64 // the receive that is preceded by this many others on the channel
	objects map[object]bool    // the last call that made them
	nodes   map[place]bool     // the first event of a node
}

// eventRef identifies an event.
type eventRef struct {
	place
	event uint64
}

// foundEvents are the events that a walk has found.
type foundEvents struct {
	sends   map[channel]eventRef
	typed   map[channel]effect
	takes   map[channel]effect
	objects map[object]eventRef
	nodes   map[place]eventRef
	pending map[place]eventRef // the first that was not completed, by issuing node
	// receives are those that were posted and not completed
	receives []openReceive
}

func newFound() foundEvents {
	return foundEvents{
		sends: map[channel]eventRef{}, typed: map[channel]effect{}, takes: map[channel]effect{}, objects: map[object]eventRef{},
		nodes: map[place]eventRef{}, pending: map[place]eventRef{},
	}
}

// effect is a message that an event sends or receives.
type effect struct {
	eventRef
	data
}

// posted is a request that is not complete, or a persistent one.
type posted struct {
	eventRef
	r                          *roles
	comm                       uint64
	dest, sendTag, source, tag uint64
	message                    uint64
	data                       data // of the messages sent
	recvType                   uint64
	cancelled                  bool
	older                      *posted // another one with the same name, which a later thread completes
}

// walk counts by iterating over the events in order.
type walk struct {
	*tally
	wantedEvents
	foundEvents
	roles  []*roles
	e      *reconstruct.Event
	open   map[uint64]*posted     // by request: issued or started, and not complete
	made   map[uint64]*posted     // persistent requests
	early  map[uint64][][2]uint64 // completed in another thread before their creation was seen
	done   []bool
	single bool // the process has one thread, so its events are ordered
}

// walkThrough replaces the counts of a tally by exact ones.
func (t *tally) walkThrough(w wantedEvents) (*foundEvents, error) {
	exact := newTally(t.p)
	exact.probed = map[uint64]uint64{}
	data := t.p.Data
	x := &walk{
		tally: exact, wantedEvents: w, open: map[uint64]*posted{}, made: map[uint64]*posted{}, early: map[uint64][][2]uint64{},
		foundEvents: newFound(),
		single:      len(data.Streams) == 1,
	}
	p := reconstruct.NewProcess(data, reconstruct.NewNames(data.Defs, nil))
	for i := range data.Streams {
		s := &data.Streams[i]
		x.roles = make([]*roles, len(s.Nodes))
		for k := range x.roles {
			x.roles[k] = rolesOf(&s.Nodes[k])
		}
		for e, err := range p.Events(i, reconstruct.Options{}) {
			if err != nil {
				return nil, err
			}
			x.e = e
			x.event()
		}
	}
	x.close()
	*t = *exact
	return &x.foundEvents, nil
}

func (x *walk) event() {
	e := x.e
	x.total.Calls++
	at := eventRef{place{e.Thread(), int32(e.Node())}, e.Seq}
	if x.wantedEvents.nodes[at.place] {
		if _, ok := x.foundEvents.nodes[at.place]; !ok {
			x.foundEvents.nodes[at.place] = at
		}
	}
	if e.Failed() {
		x.failed(at)
		return
	}
	r := x.roles[e.Node()]
	switch {
	case r.proc == nil:
		return
	case r.found != 0:
		x.probe(r)
	case r.request != 0:
		x.issue(r, at)
	case r.sends || r.receives:
		x.message(r, at)
	}
	if r.made+r.freed != 0 {
		x.object(r, at)
	}
	if r.requests != 0 {
		x.handle(r, at)
	}
}

// probe: a message is matched, and will be received on this communicator.
func (x *walk) probe(r *roles) {
	if id, ok := idOf(x.e, r.found); ok {
		x.probed[id] = x.e.Word(signature.ObjectWord)
	}
}

func (x *walk) array(r *roles) []uint64 {
	if !r.vec {
		return []uint64{x.e.Word(r.requests)}
	}
	a, _ := x.e.Vec(r.requests)
	return a
}

func (x *walk) object(r *roles, at eventRef) {
	word := x.e.Word(r.made + r.freed)
	x.tally.object(r, word, 1, at.place)
	o := object{r.object, word}
	if r.made != 0 && x.wantedEvents.objects[o] {
		x.foundEvents.objects[o] = at
	}
}

func (x *walk) send(to int, comm, tag uint64, d data, at eventRef) {
	x.sent(to, comm, tag, d, 1, at.place)
	c := channel{x.rank, int32(to), comm, tag}
	if n, ok := x.wantedEvents.typed[c]; ok && x.flow(c).sent == n+1 {
		x.foundEvents.typed[c] = effect{at, d}
	}
	if n, ok := x.wantedEvents.sends[c]; ok && x.flow(c).sent == n+1 {
		x.foundEvents.sends[c] = at
	}
}

func (x *walk) receive(from int, comm, tag, datatype uint64, at eventRef) {
	x.received(from, comm, tag, data{datatype, 1}, 1, at.place)
	c := channel{int32(from), x.rank, comm, tag}
	if n, ok := x.wantedEvents.takes[c]; ok && x.flow(c).received == n+1 {
		x.foundEvents.takes[c] = effect{at, data{datatype, 1}}
	}
}

// message is a blocking call.
func (x *walk) message(r *roles, at eventRef) {
	e := x.e
	if r.sends {
		comm := e.Word(signature.ObjectWord)
		x.send(x.p.PeerOf(comm, e.Word(r.dest)), x.name(comm), e.Word(r.sendTag), data{e.Word(r.sendType), x.word(r.sendCount)}, at)
	}
	if !r.receives {
		return
	}
	source, tag := x.word(r.source), x.word(r.recvTag)
	if procNull(r, source, x.word(r.message)) {
		return
	}
	comm := x.commOf(r, e.Word(signature.ObjectWord), x.word(r.message))
	if hasWildcard(r, source, tag) {
		source, tag = e.Word(r.statusSource), e.Word(r.statusTag)
	}
	x.receive(x.p.PeerOf(comm, source), x.name(comm), tag, e.Word(r.recvType), at)
}

// word is a word of the event; 0 if the procedure does not have it.
func (x *walk) word(i int) uint64 {
	if i == 0 {
		return 0
	}
	return x.e.Word(i)
}

// issue: a request is created.
func (x *walk) issue(r *roles, at eventRef) {
	e := x.e
	id, ok := idOf(e, r.request)
	if !ok {
		return
	}
	lifeAt(x.requests, at.place).made++
	x.total.Requests++
	q := &posted{
		eventRef: at, r: r, dest: x.word(r.dest), sendTag: x.word(r.sendTag),
		source: x.word(r.source), tag: x.word(r.recvTag), message: x.word(r.message),
		data: data{x.word(r.sendType), x.word(r.sendCount)}, recvType: x.word(r.recvType),
	}
	q.comm = x.commOf(r, e.Word(signature.ObjectWord), q.message)
	if r.proc.Persistent {
		x.made[id] = q
		return
	}
	x.begin(id, q)
}

// begin: an operation with a request begins.
func (x *walk) begin(id uint64, q *posted) {
	if q.r.sends {
		x.send(x.p.PeerOf(q.comm, q.dest), x.name(q.comm), q.sendTag, q.data, q.eventRef)
	}
	q.older = x.open[id]
	x.open[id] = q
	if early := x.early[id]; len(early) > 0 {
		x.early[id] = early[1:]
		x.complete(id, early[0][0], early[0][1])
	}
}

// handle: requests start, complete, are freed or cancelled.
func (x *walk) handle(r *roles, at eventRef) {
	array := x.array(r)
	switch {
	case r.starts:
		for _, id := range array {
			x.start(id, at)
		}
	case r.cancels:
		if q := x.open[array[0]]; q != nil {
			q.cancelled = true
		}
	case r.frees:
		x.free(array[0])
	case r.completes != "":
		x.await(array)
		x.done = append(x.done[:0], make([]bool, len(array))...)
		for _, k := range x.e.Completed() {
			x.done[k] = true
		}
		status := statusReader{r: r, word: x.word, vec: x.vec}
		status.each(array, func(k int, id, source, tag uint64) {
			if x.done[k] {
				x.complete(id, source, tag)
			}
		})
	}
}

// await records the persistent requests that a call is to complete.
func (x *walk) await(array []uint64) {
	for _, id := range array {
		if q := x.made[id]; q != nil {
			x.awaited[q.place]++
		}
	}
}

func (x *walk) vec(i int) ([]uint64, bool) {
	list, constant := x.e.Vec(i)
	return list, constant == 0
}

func (x *walk) start(id uint64, at eventRef) {
	q := x.made[id]
	if q == nil {
		return
	}
	x.begun[q.place] = true
	if !q.moves() {
		return // it may become inactive at once
	}
	if !x.startedAgain(x.open[id], at) {
		lifeAt(x.starts, q.place).made++
	}
	begun := *q
	begun.eventRef = eventRef{q.place, at.event}
	x.begin(id, &begun)
}

// startedAgain records a start of a request that is active.
func (x *walk) startedAgain(active *posted, at eventRef) bool {
	if active == nil || !x.single {
		return false
	}
	x.twice = append(x.twice, misuse{at, "started again before its operation was complete"})
	return true
}

// moves reports whether the operation has a peer other than MPI_PROC_NULL.
func (q *posted) moves() bool {
	return !q.r.sends && !q.r.receives || q.r.sends && q.dest != signature.ProcNull || q.r.receives && q.source != signature.ProcNull
}

func (x *walk) free(id uint64) {
	if q := x.made[id]; q != nil {
		lifeAt(x.requests, q.place).freed++
		delete(x.made, id)
		if x.open[id] != nil {
			x.keep(q)
		}
	} else if q := x.open[id]; q != nil {
		lifeAt(x.requests, q.place).freed++
	}
	if q := x.open[id]; q != nil {
		x.leaveOpen(q)
		x.forget(id, q)
	}
}

// forget removes a request from the pending ones.
func (x *walk) forget(id uint64, q *posted) {
	delete(x.open, id)
	if q.older != nil {
		x.open[id] = q.older
	}
}

// complete: an operation is complete. For a wildcard receive the status identifies the message.
func (x *walk) complete(id, source, tag uint64) {
	q := x.open[id]
	if q == nil {
		if !x.single && signature.IsID(id) {
			x.early[id] = append(x.early[id], [2]uint64{source, tag})
		}
		return
	}
	if q.r.proc.Persistent {
		lifeAt(x.starts, q.place).freed++
	} else {
		lifeAt(x.requests, q.place).freed++
	}
	x.drop(id, q)
	if !q.r.receives || procNull(q.r, q.source, q.message) {
		return
	}
	if q.cancelled {
		x.leaveOpen(q)
		return
	}
	if !hasWildcard(q.r, q.source, q.tag) || source == signature.AsPosted || source == signature.Absent {
		source = q.source
	}
	if !hasWildcard(q.r, q.source, q.tag) || tag == signature.AsPosted || tag == signature.Absent {
		tag = q.tag
	}
	x.receive(x.p.PeerOf(q.comm, source), x.name(q.comm), tag, q.recvType, q.eventRef)
}

// drop forgets a request.
func (x *walk) drop(id uint64, q *posted) {
	if q.cancelled && q.r.sends {
		if to := x.p.PeerOf(q.comm, q.dest); to != analysis.NoRank {
			x.flow(channel{x.rank, int32(to), x.name(q.comm), q.sendTag}).cancelled++
		}
	}
	x.forget(id, q)
}

// leaveOpen: it is unknown whether a receive got its message.
func (x *walk) leaveOpen(q *posted) {
	if !q.r.receives || procNull(q.r, q.source, q.message) {
		return
	}
	if hasWildcard(q.r, q.source, q.tag) {
		x.waiting[wildcardSite{x.rank, x.name(q.comm)}]++
		return
	}
	if from := x.p.PeerOf(q.comm, q.source); from != analysis.NoRank {
		x.flow(channel{int32(from), x.rank, x.name(q.comm), q.tag}).pending++
	}
}

// close records what is pending at the end.
func (x *walk) close() {
	for _, q := range x.open {
		for ; q != nil; q = q.older {
			x.leaveOpen(q)
			x.keep(q)
			x.keepReceive(q)
		}
	}
	for _, q := range x.made {
		x.keep(q)
	}
}

// keep keeps the first request of each node that is pending at the end.
func (x *walk) keep(q *posted) {
	if f, ok := x.foundEvents.pending[q.place]; !ok || q.event < f.event {
		x.foundEvents.pending[q.place] = q.eventRef
	}
}

// maxReceives bounds the receives of a process that are kept.
const maxReceives = 1 << 12

func (x *walk) keepReceive(q *posted) {
	if q.r.receives && q.source != signature.ProcNull && q.r.message == 0 && len(x.foundEvents.receives) < maxReceives {
		x.foundEvents.receives = append(x.foundEvents.receives, openReceive{
			eventRef: q.eventRef, comm: x.name(q.comm), from: x.p.PeerOf(q.comm, q.source), tag: q.tag, op: q.r.proc.Name,
		})
	}
}
