package reconstruct

import "github.com/efg-tools/efg/signature"

// Reader goes through the events of a stream one at a time, as Process.Events does, for
// readers that go through many streams side by side.
type Reader struct {
	e       *Event
	tracked bool // the tracker is to be told that the event is over
}

// Reader returns a reader of Streams[i], before its first event.
func (p *Process) Reader(i int) *Reader {
	return &Reader{e: p.streams[i].eventsFrom(p, 0, Options{})}
}

// UntimedReader is a Reader whose events have no times.
func (p *Process) UntimedReader(i int) *Reader {
	r := p.Reader(i)
	r.e.clock, r.e.clockErr = nil, nil
	return r
}

// Next returns the next event, nil at the end. It is valid until the next call.
func (r *Reader) Next() (*Event, error) {
	e := r.e
	if r.tracked {
		e.track.after(e)
		r.tracked = false
	}
	if !e.walk.Next() {
		return nil, e.walk.Err()
	}
	e.Seq, e.number = e.walk.Seq(), e.walk.Node()
	if err := e.tick(); err != nil {
		return nil, err
	}
	e.node = &e.stream.nodes[e.number]
	if e.node.tracked != 0 {
		e.track.before(e)
		r.tracked = true
	}
	return e, nil
}

// Reception is what a completed receive reported: words, signature.Absent if there are none.
type Reception struct {
	Position    int // as in Completed
	Source, Tag uint64
	Bytes       uint64 // of the message, if Sized
	Sized       bool
	// Stated: source and tag are stated by the call that completed the receive, and need not be those
	// that it was posted with. Those of a cancelled receive always are.
	Stated bool
}

// AppendReceptions appends what the completed receives of an event reported.
func (e *Event) AppendReceptions(dst []Reception) []Reception {
	p := e.node.proc
	if p == nil {
		return dst
	}
	if r := &p.Roles; r.Statuses == 0 {
		for _, i := range e.Completed() {
			s, stated := status{source: signature.Absent, tag: signature.Absent}, false
			if r.StatusSource != 0 {
				source := e.Word(r.StatusSource)
				s, stated = e.receivedStatus(source, e.Word(r.StatusTag), e.Word(r.StatusBytes)), source != signature.AsPosted
			}
			dst = append(dst, Reception{i, s.source, s.tag, s.bytes, s.sized, stated})
		}
		return dst
	}
	e.track.found = e.track.statuses(e.track.found[:0], e, p.Roles.Statuses)
	for _, s := range e.track.found {
		dst = append(dst, Reception{s.position, s.source, s.tag, s.bytes, s.sized, s.stated})
	}
	return dst
}
