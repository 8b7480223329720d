package otf2

import (
	"os"

	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// threadWriter writes the calls of a thread: a location.
type threadWriter struct {
	process  *processWriter
	stream   int // of the process
	number   int // of the location
	reader   *reconstruct.Reader
	event    *reconstruct.Event // the next one; nil at the end
	start    int64
	end      int64
	plans    []plan
	part     part
	alone    []place // of part, those that are left
	file     *os.File
	out      *chunks
	written  bool   // anything
	lowest   uint64 // timestamp
	last     uint64
	b, extra []byte
	list     []byte // of attributes
	json     []byte
	found    []reconstruct.Reception
	looked   int         // of found, see reception
	room     []operation // of the call

	messages, joined int // ordinals of what the call has posted so far

	open    []openRegion
	metrics threadMetrics

	// See nested.go.
	inner       []innerCall
	holds       bool
	front, back []heldEvent
}

// next goes to the next call that is written; event is nil at the end.
func (t *threadWriter) next() error {
	for {
		e, err := t.reader.Next()
		if t.event = e; err != nil || e == nil {
			return err
		}
		if e.Seq >= t.part.to {
			t.event = nil
			return nil
		}
		if e.Seq >= t.part.from {
			t.start, t.end, _ = e.Times()
			return nil
		}
		t.skip(e)
	}
}

// skip notes what a call before the part that is written prepares for calls in it.
func (t *threadWriter) skip(e *reconstruct.Event) {
	x := &t.plans[e.Node()]
	switch {
	case x.action == prepares || x.action == preparesAll || x.action == matches:
		t.act(e, x)
	case x.action == starts || x.action == readies:
		t.skipParts(e, x)
	case x.frees:
		t.process.requests.set(e.Word(x.roles.Requests), nil)
	}
}

// skipParts notes how many partitions of messages are ready: the call that sends them may be written.
func (t *threadWriter) skipParts(e *reconstruct.Event, x *plan) {
	for _, w := range requestsOf(e, x) {
		r := t.process.requests.find(w)
		if r == nil || len(r.prepared) != 1 || r.prepared[0].unready == 0 {
			continue
		}
		if x.action == starts {
			r.list = append(r.list[:0], r.prepared...)
		} else if len(r.list) == 1 {
			r.list[0].unready -= min(x.proc.Readied(e), r.list[0].unready)
		}
	}
}

// call writes the current call.
func (t *threadWriter) call() {
	e := t.event
	x := &t.plans[e.Node()]
	t.messages, t.joined = 0, 0
	if x.action == opens || x.action == closes {
		t.annotation(e, x)
		t.count(e)
		return
	}
	t.beginCall(e.Depth())
	t.countStart(e)
	t.atStart(reference(t.b[:0], eventEnter, x.region), t.arguments(e, x))
	t.act(e, x)
	if x.makes != 0 && x.action != joins {
		t.makeComm(e, x)
	}
	if x.completes && x.proc.Peeks == "" {
		t.complete(e, x)
	}
	if x.tests {
		t.test(e, x)
	}
	if x.frees {
		t.free(e, x)
	}
	t.countEnd(e)
	t.atEnd(reference(t.b[:0], eventLeave, x.region), t.results(e))
	t.endCall(e.Depth())
}

// finish leaves what is open.
func (t *threadWriter) finish() {
	t.releaseInner()
	if t.written {
		t.leaveRegions(0, t.last)
		t.out.event(t.last, nil, reference(t.b[:0], eventLeave, t.process.program))
	}
}

// unfinished writes a call that the thread was in when its recording ended.
func (t *threadWriter) unfinished(x *plan, c *reconstruct.Pending, depth int, since, end int64) {
	t.start, t.end = since, max(since, end)
	t.beginCall(depth)
	t.atStart(reference(t.b[:0], eventEnter, x.region), t.entered(x, c))
	t.atEnd(reference(t.b[:0], eventLeave, x.region), nil)
	t.endCall(depth)
}

// act writes what a call does besides completing requests.
func (t *threadWriter) act(e *reconstruct.Event, x *plan) {
	switch x.action {
	case transfers:
		t.transfer(e, x)
	case issues:
		t.room = t.posts(t.room[:0], e, x)
		t.issue(e, x, t.room)
	case prepares:
		if w, ok := issued(e, x); ok {
			t.process.request(w).prepared = t.prepare(e, x)
		}
	case preparesAll:
		if w, ok := issued(e, x); ok {
			t.process.request(w).prepared = []operation{t.joining(e, x)}
		}
	case starts:
		t.startAll(e, x)
	case readies:
		t.ready(e, x)
	case matches:
		if w, ok := objectOf(e, x.roles.MatchedMessage); ok {
			t.process.messages[w] = e.Word(signature.ObjectWord)
		}
	case takes:
		o := t.taken(e, x)
		t.post(&o)
		t.receive(&o, 0)
	case takesLater:
		t.room = append(t.room[:0], t.taken(e, x))
		t.issue(e, x, t.room)
	case joins:
		t.join(e, x)
	case joinsOnWindow:
		t.joinWindow(e, x)
	case accesses:
		t.access(e, x)
	case synchronises:
		t.synchronise(e, x)
	case opensFile, closesFile, movesFile, endsHalf, seeks, deletesFile:
		t.actOnFile(e, x)
	case joinsLater:
		t.room = append(t.room[:0], t.joining(e, x))
		t.issue(e, x, t.room)
	}
}

// actOnFile writes what a call on a file does.
func (t *threadWriter) actOnFile(e *reconstruct.Event, x *plan) {
	switch x.action {
	case opensFile:
		t.openFile(e, x)
	case closesFile:
		t.closeFile(e)
	case movesFile:
		t.move(e, x)
	case endsHalf:
		t.endHalf(e, x)
	case seeks:
		t.seek(e, x)
	case deletesFile:
		t.deleteFile(e, x)
	}
}

// posts appends the messages of a call.
func (t *threadWriter) posts(list []operation, e *reconstruct.Event, x *plan) []operation {
	if x.sends {
		list = append(list, t.sending(e, x))
	}
	if x.receives {
		list = append(list, t.receiving(e, x))
	}
	return list
}

// prepare returns the messages that a call prepares.
func (t *threadWriter) prepare(e *reconstruct.Event, x *plan) []operation {
	if x.sends {
		return []operation{t.preparing(e, x)}
	}
	return []operation{t.receiving(e, x)}
}

// post finds out whether an operation that the current call posts has a counterpart.
func (t *threadWriter) post(o *operation) {
	if o.nothing {
		return
	}
	var at place
	if o.collects {
		at = collectivePlace(t.event.Seq, t.joined)
		t.joined++
	} else {
		at = messagePlace(t.event.Seq, t.messages)
		t.messages++
	}
	for len(t.alone) > 0 && t.alone[0] < at {
		t.alone = t.alone[1:]
	}
	o.alone = len(t.alone) > 0 && t.alone[0] == at
}

// transfer writes the messages of a call that returns when they are transferred.
func (t *threadWriter) transfer(e *reconstruct.Event, x *plan) {
	if x.sends {
		o := t.sending(e, x)
		t.post(&o)
		t.send(&o, eventMpiSend)
	}
	if x.receives {
		o := t.received(e, x)
		t.post(&o)
		t.receive(&o, 0)
	}
}

// send writes that a message is sent.
func (t *threadWriter) send(o *operation, kind byte) {
	switch {
	case o.nothing:
	case o.alone || o.unknown:
		o.alone = true
		t.process.left.sends++
	default:
		t.atStart(transfer(t.b[:0], kind, &o.message, o.id), nil)
	}
}

// receive writes that a message has been received; id is the request, 0 if there is none.
func (t *threadWriter) receive(o *operation, id uint64) {
	switch {
	case o.nothing:
	case o.alone || o.unknown:
		t.process.left.receives++
		if id != 0 {
			t.atEnd(request(t.b[:0], eventMpiRequestCancelled, id), nil)
		}
	case id != 0:
		t.atEnd(transfer(t.b[:0], eventMpiIrecv, &o.message, id), nil)
	default:
		t.atEnd(transfer(t.b[:0], eventMpiRecv, &o.message, 0), nil)
	}
}

// join writes a collective call.
func (t *threadWriter) join(e *reconstruct.Event, x *plan) {
	o := t.joining(e, x)
	t.post(&o)
	if o.alone || o.unknown {
		t.process.left.collectives++
		t.makeComm(e, x)
		return
	}
	t.atStart(append(t.b[:0], eventMpiCollectiveBegin, 0), nil)
	t.makeComm(e, x)
	t.atEnd(collectiveEnd(t.b[:0], eventMpiCollectiveEnd, &o.part, 0), nil)
}

// makeComm writes that a call makes or frees a communicator that is defined.
func (t *threadWriter) makeComm(e *reconstruct.Event, x *plan) {
	word, kind := x.makes, byte(eventCommCreate)
	if x.proc.FreedKind() == signature.Comm {
		word, kind = x.roles.Freed, eventCommDestroy
	}
	if word == 0 || t.process.compat {
		return
	}
	if c := t.process.comm(e.Word(word)); c.id != undefined && t.process.defs.isMade(c.id) {
		t.atEnd(short(t.b[:0], kind, c.id), nil)
	}
}

// issue writes that operations are begun that a request completes.
func (t *threadWriter) issue(e *reconstruct.Event, x *plan, list []operation) {
	for i := range list {
		t.start1(&list[i])
	}
	if w, ok := issued(e, x); ok {
		r := t.process.request(w)
		r.list = append(r.list, list...)
	}
}

// start1 writes that an operation of a request begins. A partitioned message is sent when all its
// partitions are ready.
func (t *threadWriter) start1(o *operation) {
	if o.nothing || o.unready > 0 {
		return
	}
	t.post(o)
	t.process.ids++
	o.id = t.process.ids
	switch {
	case o.collects && (o.alone || o.unknown):
		o.alone = true
		t.process.left.collectives++
	case o.collects && !t.process.compat:
		t.atStart(request(t.b[:0], eventNonBlockingCollectiveRequest, o.id), nil)
	case o.collects:
	case o.receives:
		t.atStart(request(t.b[:0], eventMpiIrecvRequest, o.id), nil)
	default:
		t.send(o, eventMpiIsend)
	}
}

// requestsOf are the requests that a call is about.
func requestsOf(e *reconstruct.Event, x *plan) []uint64 {
	if x.proc.Vector(x.roles.Requests) {
		list, _ := e.Vec(x.roles.Requests)
		return list
	}
	return []uint64{e.Word(x.roles.Requests)}
}

// startAll starts persistent requests.
func (t *threadWriter) startAll(e *reconstruct.Event, x *plan) {
	for _, w := range requestsOf(e, x) {
		r := t.process.requests.find(w)
		if r == nil {
			continue
		}
		r.list = append(r.list[:0], r.prepared...)
		for i := range r.list {
			if o := &r.list[i]; o.collects {
				t.started(o, w)
			}
			t.start1(&r.list[i])
		}
	}
}

// ready notes that partitions of a message are ready, of which the last ones send it.
func (t *threadWriter) ready(e *reconstruct.Event, x *plan) {
	r := t.process.requests.find(e.Word(x.roles.Requests))
	if r == nil || len(r.list) != 1 || r.list[0].unready == 0 {
		return
	}
	o := &r.list[0]
	if o.unready -= min(x.proc.Readied(e), o.unready); o.unready == 0 {
		t.start1(o)
	}
}

// started sets what a persistent collective sends and receives.
func (t *threadWriter) started(o *operation, request uint64) {
	if list, ok := t.process.facts.Started(request); ok && len(list) == 1 {
		o.part.sent, o.part.received = list[0].Sent, list[0].Received
	}
}

// completed writes that an operation is complete; first is whether none of the call was written
// before.
func (t *threadWriter) completed(o *operation, got *reconstruct.Reception, first *bool) {
	switch {
	case o.nothing || o.id == 0 || o.alone && !o.receives:
	case o.window != nil:
		t.accessDone(o)
	case o.file != nil:
		t.atEnd(completeRecord(t.b[:0], o.file.id, o.bytes, o.id), nil)
	case o.collects:
		t.collected(o, *first)
		*first = false
	case o.receives:
		t.settle(o, got)
		t.receive(o, o.id)
	default:
		t.atEnd(request(t.b[:0], eventMpiIsendComplete, o.id), nil)
	}
}

// collected writes that a nonblocking collective is complete. With Compat it is written as if the
// call had made it: of several, the first one takes all the time.
func (t *threadWriter) collected(o *operation, first bool) {
	if !t.process.compat {
		t.atEnd(collectiveEnd(t.b[:0], eventNonBlockingCollectiveComplete, &o.part, o.id), nil)
		return
	}
	put := t.atEnd
	if first {
		put = t.atStart
	}
	put(append(t.b[:0], eventMpiCollectiveBegin, 0), nil)
	t.atEnd(collectiveEnd(t.b[:0], eventMpiCollectiveEnd, &o.part, 0), nil)
}

// settle sets what the completion of a receive reported.
func (t *threadWriter) settle(o *operation, got *reconstruct.Reception) {
	if got == nil {
		return
	}
	if got.Sized {
		o.bytes = got.Bytes
	}
	t.from(o, got.Source, got.Tag)
}

// test writes which operations a call found incomplete.
func (t *threadWriter) test(e *reconstruct.Event, x *plan) {
	if e.Word(x.roles.Flag) != 0 {
		return
	}
	for _, w := range requestsOf(e, x) {
		r := t.process.requests.find(w)
		if r == nil {
			continue
		}
		for i := range r.list {
			if o := &r.list[i]; o.id != 0 && (o.receives || !o.alone) && (!o.collects || !t.process.compat) {
				t.incomplete(o)
			}
		}
	}
}

// incomplete writes that a call found an operation incomplete.
func (t *threadWriter) incomplete(o *operation) {
	switch {
	case o.window != nil:
		t.atEnd(completionRecord(t.b[:0], eventRmaOpTest, o.window.id, o.id), nil)
	case o.file != nil:
		t.atEnd(operationRecord(t.b[:0], eventIoOperationTest, o.file.id, o.id), nil)
	default:
		t.atEnd(request(t.b[:0], eventMpiRequestTest, o.id), nil)
	}
}

// free writes that the program gives requests up: a send is complete as far as it is concerned, a
// receive never is.
func (t *threadWriter) free(e *reconstruct.Event, x *plan) {
	for _, w := range requestsOf(e, x) {
		r := t.process.requests.find(w)
		if r == nil {
			continue
		}
		for i := range r.list {
			if o := &r.list[i]; !o.collects && o.window == nil && o.file == nil {
				o.alone = o.alone || o.receives
				t.completed(o, nil, new(bool))
			}
		}
		t.process.forget(w, r)
	}
}
