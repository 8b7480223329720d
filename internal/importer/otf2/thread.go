package otf2

import (
	"errors"
	"fmt"
	"sync"

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
	depth      int    // number of calls that it was made inside of
	level      int    // number of regions that it is in, with its own
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
	calls    []*call  // of MPI that it is in
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
	return &thread{process: p, events: events, location: l}, nil
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

// outermost is the call that the next one was made inside of, or itself.
func (t *thread) outermost() *call {
	if len(t.calls) > 0 {
		return t.calls[0]
	}
	return t.next
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
	if len(t.calls) > 0 { // of calls inside it that have not returned either, nothing is kept
		t.process.reader.skipped.nested += uint64(len(t.calls) - 1)
		t.calls[0].open = true
		t.next, t.calls = t.calls[0], nil
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
	kind := kindOf(e.Kind)
	if kind == ofNothing || kind == ofFiles && !t.process.reader.byMPI(e) {
		return nil
	}
	if len(t.calls) == 0 {
		if kind == ofFiles { // opened by other means, or when the recording began
			return nil
		}
		t.process.reader.skipped.outside++
		return nil
	}
	copy(r.fields[:], e.Fields)
	current := t.calls[len(t.calls)-1]
	current.records = append(current.records, r)
	return nil
}

// recordKind is what a record is about.
type recordKind uint8

const (
	ofNothing recordKind = iota // that a call has as an argument or result
	ofMessages
	ofWindows
	ofFiles
)

// kindOf says what records are about.
func kindOf(k Kind) recordKind {
	switch k {
	case MpiSend, MpiIsend, MpiIsendComplete, MpiIrecvRequest, MpiRecv, MpiIrecv, MpiRequestTest, MpiRequestCancelled,
		MpiCollectiveEnd, NonBlockingCollectiveRequest, NonBlockingCollectiveComplete, CommCreate:
		return ofMessages
	case RmaWinCreate, RmaWinDestroy, RmaCollectiveEnd, RmaGroupSync, RmaRequestLock, RmaAcquireLock, RmaTryLock, RmaReleaseLock, RmaSync,
		RmaPut, RmaGet, RmaAtomic, RmaOpCompleteBlocking, RmaOpCompleteNonBlocking, RmaOpTest, RmaOpCompleteRemote:
		return ofWindows
	case IoCreateHandle, IoDestroyHandle, IoSeek, IoDeleteFile, IoOperationBegin, IoOperationTest, IoOperationIssued, IoOperationComplete:
		return ofFiles
	}
	return ofNothing
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
	case region.kind == callRegion:
		c := t.process.newCall(region.proc, at)
		c.large, c.depth, c.level = region.large, len(t.calls), len(t.stack)
		c.in = append(c.in, e.Attributes...)
		t.calls = append(t.calls, c)
	case len(t.calls) > 0:
		if region.kind != ignoredRegion {
			t.process.reader.skipped.nested++
		}
	case region.kind == annotation:
		t.process.reader.skipped.annotations++
	case region.kind == unknownCall:
		t.process.reader.skipped.procedures[region.name]++
	case region.kind == userRegion:
		t.next = t.process.newCall(regionBegin(), at)
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
	last := len(t.calls) - 1
	switch {
	case last >= 0 && t.calls[last].level == len(t.stack):
		c := t.calls[last]
		c.end = at
		c.out = append(c.out, e.Attributes...)
		c.open = t.process.reader.unfinished(c.in)
		t.next, t.calls = c, t.calls[:last]
	case last < 0 && region.kind == userRegion && !t.process.reader.unfinished(e.Attributes):
		t.next = t.process.newCall(regionEnd(), at)
		t.next.name, t.next.region, t.next.end = region.name, true, at
		t.next.in = append(t.next.in, e.Attributes...)
	}
	t.stack = t.stack[:len(t.stack)-1]
	return nil
}

// The procedures by which programs name regions. They are looked up when they are needed: the table takes 1.5 ms to parse.
var (
	regionBegin = sync.OnceValue(func() *signature.Proc { return signature.ProcByName("efg_region_begin") })
	regionEnd   = sync.OnceValue(func() *signature.Proc { return signature.ProcByName("efg_region_end") })
)
