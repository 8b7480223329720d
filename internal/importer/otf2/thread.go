package otf2

import (
	"errors"
	"fmt"

	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/signature"
)

// call is a call, or the beginning or end of a region that the program names.
type call struct {
	proc       *signature.Proc
	large      bool   // it is the large-count variant
	name       string // of a region
	region     bool   // it is the beginning or end of one
	start, end uint64 // ns
	open       bool   // the events end within it
	records    []record
	in, out    []Value // attributes of the events that enter and leave it

	// Of operations whose record only comes when they are complete: these, and how many are missing.
	later   []record
	missing int
	thread  *thread
}

// record is an event within a call.
type record struct {
	kind   Kind
	fields [6]uint64
}

// thread makes calls of the events of a location.
type thread struct {
	process  *process
	events   *EventReader
	location Location
	out      *importer.Thread
	stack    []uint64 // regions that it is in
	depth    int      // of the call of MPI that it is in, in stack; -1: none
	current  *call    // this call
	seen     uint64   // events
	next     *call    // the next one; nil at the end
	at       int64    // offset in the file
}

// maxStack bounds how deep regions are nested.
const maxStack = 1 << 20

// read opens the events of a location; nil if it has none.
func (p *process) open(l Location) (*thread, error) {
	events, err := p.reader.archive.Events(l.ID)
	if err != nil {
		return nil, err
	}
	return &thread{process: p, events: events, location: l, depth: -1}, nil
}

// advance reads up to the end of the next call.
func (t *thread) advance() error {
	t.next = nil
	for t.next == nil {
		e, err := t.events.Next()
		if err != nil {
			return err
		}
		if e == nil {
			return t.finish()
		}
		t.seen++
		if err := t.take(e); err != nil {
			return t.failed(e, err)
		}
	}
	t.process.reader.progress(t)
	return nil
}

// progress counts the bytes that were read.
func (r *reader) progress(t *thread) {
	c := t.events.chunks
	now := c.base + int64(c.at)
	before := r.bytes >> 20
	r.bytes += max(0, now-t.at)
	t.at = now
	if r.options.Progress != nil && before != r.bytes>>20 {
		r.options.Progress(r.bytes)
	}
}

func (t *thread) failed(e *Event, err error) error {
	return &Error{t.events.chunks.file, e.Offset, err}
}

// finish ends the stream.
func (t *thread) finish() error {
	if t.seen != t.location.Events && t.events.chunks.f != nil {
		return &Error{t.events.chunks.file, -1, fmt.Errorf("%d events, not %d as the definitions say", t.seen, t.location.Events)}
	}
	if t.current != nil {
		t.current.open = true
		t.next, t.current = t.current, nil
	}
	return nil
}

// take takes an event. It sets next if that completes a call.
func (t *thread) take(e *Event) error {
	switch e.Kind {
	case Enter, CallingContextEnter:
		return t.enter(e)
	case Leave, CallingContextLeave:
		return t.leave(e)
	}
	r := record{kind: e.Kind}
	switch e.Kind {
	case MpiSend, MpiIsend, MpiIsendComplete, MpiIrecvRequest, MpiRecv, MpiIrecv, MpiRequestTest, MpiRequestCancelled,
		MpiCollectiveEnd, NonBlockingCollectiveRequest, NonBlockingCollectiveComplete, CommCreate:
	default:
		return nil
	}
	if t.current == nil {
		t.process.reader.skipped.outside++
		return nil
	}
	copy(r.fields[:], e.Fields)
	t.current.records = append(t.current.records, r)
	return nil
}

var errTime = errors.New("a time that is too far from the first one")

func (t *thread) enter(e *Event) error {
	region := t.process.reader.regions[e.Fields[0]]
	if len(t.stack) >= maxStack {
		return fmt.Errorf("regions are nested more than %d deep", maxStack)
	}
	t.stack = append(t.stack, e.Fields[0])
	at, ok := t.process.reader.ns(e.Time)
	switch {
	case !ok:
		return errTime
	case t.depth >= 0:
		if region.kind != ignoredRegion {
			t.process.reader.skipped.nested++
		}
	case region.kind == callRegion:
		c := t.process.newCall(region.proc, at)
		c.large = region.large
		c.in = append(c.in, e.Attributes...)
		t.current, t.depth = c, len(t.stack)
	case region.kind == annotation:
		t.process.reader.skipped.annotations++
	case region.kind == unknownCall:
		t.process.reader.skipped.procedures[region.name]++
	case region.kind == userRegion:
		t.next = t.process.newCall(regionBegin, at)
		t.next.name, t.next.region, t.next.end = region.name, true, at
		t.next.in = append(t.next.in, e.Attributes...)
	}
	return nil
}

func (t *thread) leave(e *Event) error {
	if len(t.stack) == 0 || t.stack[len(t.stack)-1] != e.Fields[0] {
		return fmt.Errorf("region %d is left, but not the last one that was entered", e.Fields[0])
	}
	at, ok := t.process.reader.ns(e.Time)
	if !ok {
		return errTime
	}
	region := t.process.reader.regions[e.Fields[0]]
	switch {
	case t.depth == len(t.stack):
		c := t.current
		c.end = at
		c.out = append(c.out, e.Attributes...)
		c.open = t.process.reader.unfinished(c.in)
		t.next, t.current, t.depth = c, nil, -1
	case t.depth < 0 && region.kind == userRegion && !t.process.reader.unfinished(e.Attributes):
		t.next = t.process.newCall(regionEnd, at)
		t.next.name, t.next.region, t.next.end = region.name, true, at
		t.next.in = append(t.next.in, e.Attributes...)
	}
	t.stack = t.stack[:len(t.stack)-1]
	return nil
}

// The procedures by which programs name regions.
var (
	regionBegin = signature.ProcByName("efg_region_begin")
	regionEnd   = signature.ProcByName("efg_region_end")
)
