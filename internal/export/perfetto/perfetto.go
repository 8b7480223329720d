// Package perfetto writes a run as a trace for Perfetto (https://ui.perfetto.dev): protocol buffers of
// the type perfetto.protos.Trace. Each rank is a process, each thread a track with a slice for each
// call, which has the call's arguments as debug annotations; flows connect them, see package slices.
//
// Names of fields below are those of Perfetto's protos/perfetto/trace/trace_packet.proto,
// track_event/*.proto and interned_data.proto.
package perfetto

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/slices"
)

// Fields.
const (
	tracePacket = 1

	packetTimestamp  = 8
	packetSequence   = 10
	packetTrackEvent = 11
	packetInterned   = 12
	packetFlags      = 13
	packetDescriptor = 60

	trackUUID    = 1
	trackName    = 2
	trackProcess = 3
	trackThread  = 4
	trackParent  = 5
	trackCounter = 8

	processPID   = 1
	processName  = 6
	processLabel = 8

	threadPID  = 1
	threadTID  = 2
	threadName = 5

	counterUnit     = 3
	counterUnitName = 6

	eventCategory    = 3
	eventAnnotations = 4
	eventType        = 9
	eventName        = 10
	eventTrack       = 11
	eventCounter     = 30
	eventFlows       = 47
	eventLastFlows   = 48

	annotationName    = 1
	annotationInteger = 4
	annotationText    = 6
	annotationInText  = 17

	internedCategories      = 1
	internedNames           = 2
	internedAnnotationNames = 3
	internedTexts           = 29

	internedID   = 1
	internedName = 2
)

// Values.
const (
	stateCleared = 1
	stateNeeded  = 2

	sliceBegin = 1
	sliceEnd   = 2
	counter    = 4

	unitNanoseconds = 1
	unitCount       = 2
	unitBytes       = 3
)

// Write writes about most slices, see slices.Write.
func Write(out io.Writer, job *export.Job, most uint64) (resolution int64, err error) {
	w := &writer{out: bufio.NewWriterSize(out, 1<<16)}
	resolution, err = slices.Write(job, most, w)
	return resolution, errors.Join(err, w.out.Flush())
}

// writer writes packets. What packets of a track have in common is written once, with a number.
type writer struct {
	out      *bufio.Writer
	rank     int
	began    bool
	sequence uint64
	track    uint64 // UUID
	number   int    // of the track
	counting uint64 // bits: counters of it that were described
	regions  bool   // the track of its regions was
	interned [4]interned
	fresh    bool // no packet of the sequence was written

	packet, event, part, additions []byte // reused
}

// interned are texts with numbers.
type interned struct {
	field   protowire.Number
	numbers map[string]uint64
}

// UUIDs of a rank's tracks.
func processUUID(rank int) uint64 { return uint64(rank+2) << 24 }
func threadUUID(track int) uint64 { return 1<<62 | uint64(track+1) }

// counterUUID is that of a counter of a thread.
func counterUUID(track, counter int) uint64 { return 1<<61 | uint64(counter)<<48 | uint64(track+1) }

// regionsUUID is added to the UUID of a thread's track for that of its regions.
const regionsUUID = 1 << 60

// pid is the number of a rank's process: those of several machines may be equal.
func pid(rank int) uint64 { return uint64(rank + 1) }

// Track implements slices.Sink.
func (w *writer) Track(t *slices.Track) error {
	if !w.began || w.rank != t.Rank {
		w.began, w.rank = true, t.Rank
		if err := w.describeProcess(t); err != nil {
			return err
		}
	}
	w.sequence, w.track, w.number = uint64(t.Number+1), threadUUID(t.Number), t.Number
	w.fresh, w.counting, w.regions = true, 0, false
	for i, field := range []protowire.Number{internedCategories, internedNames, internedAnnotationNames, internedTexts} {
		w.interned[i] = interned{field, map[string]uint64{}}
	}
	thread := number(nil, threadPID, pid(t.Rank))
	thread = number(thread, threadTID, pid(t.Rank)<<20|uint64(t.Thread))
	if t.Thread == 0 { // a process's first thread has its number
		thread = number(number(nil, threadPID, pid(t.Rank)), threadTID, pid(t.Rank))
	}
	thread = text(thread, threadName, fmt.Sprintf("thread %d", t.Thread))
	d := number(nil, trackUUID, w.track)
	d = number(d, trackParent, processUUID(t.Rank))
	return w.describe(message(d, trackThread, thread))
}

func (w *writer) describeProcess(t *slices.Track) error {
	name := fmt.Sprintf("rank %d", t.Rank)
	process := number(nil, processPID, pid(t.Rank))
	process = text(process, processName, name)
	if t.Host != "" {
		process = text(process, processLabel, t.Host)
	}
	d := number(nil, trackUUID, processUUID(t.Rank))
	d = text(d, trackName, name)
	return w.describe(message(d, trackProcess, process))
}

func (w *writer) describe(descriptor []byte) error {
	return w.write(message(w.packet[:0], packetDescriptor, descriptor))
}

// write writes a packet.
func (w *writer) write(packet []byte) error {
	w.packet = packet
	head := protowire.AppendTag(nil, tracePacket, protowire.BytesType)
	_, err1 := w.out.Write(protowire.AppendVarint(head, uint64(len(packet))))
	_, err2 := w.out.Write(packet)
	return errors.Join(err1, err2)
}

// Slice implements slices.Sink.
func (w *writer) Slice(s *slices.Slice) error {
	w.additions = w.additions[:0]
	e := number(w.event[:0], eventType, sliceBegin)
	e = number(e, eventTrack, w.track)
	e = number(e, eventCategory, w.intern(0, s.Class))
	e = number(e, eventName, w.intern(1, s.Name))
	for _, f := range s.Begin {
		e = fixed(e, eventFlows, f)
	}
	for _, f := range s.Finish {
		e = fixed(e, eventLastFlows, f)
	}
	w.event = w.annotations(e, s)
	if err := w.send(s.Start, w.event); err != nil {
		return err
	}
	end := number(w.event[:0], eventType, sliceEnd)
	w.event = number(end, eventTrack, w.track)
	return w.send(s.End, w.event)
}

// annotations appends what is known of a call.
func (w *writer) annotations(e []byte, s *slices.Slice) []byte {
	if s.Calls == 1 {
		e = w.integer(e, "seq", int64(s.Seq))
		e = w.text(e, "site", s.Site)
		e = w.text(e, "func", s.Func)
		e = w.text(e, "path", s.Path)
		e = w.text(e, "comm", s.Comm)
		e = w.text(e, "datatype", s.Datatype)
		e = w.text(e, "error", s.Error)
	}
	for _, v := range []struct {
		known bool
		name  string
		value int64
	}{
		{s.HasPeer, "peer", int64(s.Peer)}, {s.HasTag, "tag", s.Tag}, {s.HasCount, "count", s.Count},
		{s.HasSize, "sent", int64(s.Sent)}, {s.HasSize, "received", int64(s.Received)},
	} {
		if v.known {
			e = w.integer(e, v.name, v.value)
		}
	}
	if s.Unfinished {
		e = w.text(e, "returned", "no")
	}
	if len(s.Args) > 0 {
		e = w.long(w.long(e, "args", s.Args), "out", s.Out)
	}
	return e
}

func (w *writer) integer(e []byte, name string, v int64) []byte {
	w.part = number(w.part[:0], annotationName, w.intern(2, name))
	w.part = number(w.part, annotationInteger, uint64(v))
	return message(e, eventAnnotations, w.part)
}

// text appends a text that many calls have, unless it is empty.
func (w *writer) text(e []byte, name, v string) []byte {
	if v == "" {
		return e
	}
	w.part = number(w.part[:0], annotationName, w.intern(2, name))
	w.part = number(w.part, annotationInText, w.intern(3, v))
	return message(e, eventAnnotations, w.part)
}

// long appends a text that few calls have.
func (w *writer) long(e []byte, name string, v []byte) []byte {
	w.part = number(w.part[:0], annotationName, w.intern(2, name))
	w.part = message(w.part, annotationText, v)
	return message(e, eventAnnotations, w.part)
}

// intern returns the number of a text in the sequence. A new one is added to the packet.
func (w *writer) intern(list int, s string) uint64 {
	of := &w.interned[list]
	n, ok := of.numbers[s]
	if !ok {
		n = uint64(len(of.numbers) + 1)
		of.numbers[s] = n
		entry := text(number(nil, internedID, n), internedName, s)
		w.additions = message(w.additions, of.field, entry)
	}
	return n
}

// Enter implements slices.Sink.
func (w *writer) Enter(name string, at int64) error {
	if !w.regions {
		w.regions = true
		d := number(nil, trackUUID, w.regionTrack())
		d = number(d, trackParent, w.track)
		if err := w.describe(text(d, trackName, "regions")); err != nil {
			return err
		}
	}
	w.additions = w.additions[:0]
	e := number(w.event[:0], eventType, sliceBegin)
	e = number(e, eventTrack, w.regionTrack())
	e = number(e, eventCategory, w.intern(0, "region"))
	w.event = number(e, eventName, w.intern(1, name))
	return w.send(at, w.event)
}

// Leave implements slices.Sink.
func (w *writer) Leave(at int64) error {
	w.additions = w.additions[:0]
	e := number(w.event[:0], eventType, sliceEnd)
	w.event = number(e, eventTrack, w.regionTrack())
	return w.send(at, w.event)
}

// regionTrack is the UUID of the track of the regions of the thread at hand.
func (w *writer) regionTrack() uint64 { return regionsUUID | w.track }

// Counter implements slices.Sink.
func (w *writer) Counter(at int64, c *slices.Counter, value uint64) error {
	uuid := counterUUID(w.number, c.Number)
	if w.counting>>c.Number&1 == 0 {
		w.counting |= 1 << c.Number
		d := number(nil, trackUUID, uuid)
		d = number(d, trackParent, w.track)
		d = text(d, trackName, c.Name)
		if err := w.describe(message(d, trackCounter, unit(c.Unit))); err != nil {
			return err
		}
	}
	e := number(w.event[:0], eventType, counter)
	e = number(e, eventTrack, uuid)
	w.event = number(e, eventCounter, value)
	return w.send(at, w.event)
}

// unit describes the unit of a counter.
func unit(name string) []byte {
	switch name {
	case "bytes":
		return number(nil, counterUnit, unitBytes)
	case "ns":
		return number(nil, counterUnit, unitNanoseconds)
	case "":
		return number(nil, counterUnit, unitCount)
	}
	return text(nil, counterUnitName, name)
}

// send writes an event, with the texts that it is the first to refer to.
func (w *writer) send(at int64, event []byte) error {
	p := number(w.packet[:0], packetTimestamp, uint64(max(at, 0)))
	p = number(p, packetSequence, w.sequence)
	flags := uint64(stateNeeded)
	if w.fresh {
		flags |= stateCleared
		w.fresh = false
	}
	p = number(p, packetFlags, flags)
	if len(w.additions) > 0 {
		p = message(p, packetInterned, w.additions)
		w.additions = w.additions[:0]
	}
	return w.write(message(p, packetTrackEvent, event))
}

func number(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func fixed(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

func text(b []byte, field protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func message(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}
