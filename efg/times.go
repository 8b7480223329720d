package efg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/efg-tools/efg/efg/seq"
)

// ErrTimes is wrapped by all errors about traced times.
var ErrTimes = errors.New("broken times")

// Trace says how the times of a stream's events were recorded.
type Trace struct {
	// Error is the relative error that an interval may have, in parts of ErrorUnit; 0: intervals
	// are as they were measured.
	Error uint32
	// Bound is how far a start or an end may be from the measured one, ticks.
	Bound uint64
	// Begin is the tick at which the stream's clock began. The gap before the first event
	// starts there.
	Begin uint64
	// Clock is the clock of the process's machine.
	Clock MachineClock
	// Correction, unless it is nil, makes times agree with those of other machines.
	Correction *Correction
	// Untimed is the number of events, the last ones of the stream, that have no times, because
	// those before took as much space as times may take.
	Untimed uint64
	// Counters is the number of counters whose values the events that have times also have: of all counters of
	// the process, or 0.
	Counters int
}

// TimedEvents is the number of events, the first ones of the stream, that have times.
func (s *Stream) TimedEvents() uint64 {
	if s.Trace == nil {
		return 0
	}
	return s.Events - s.Trace.Untimed
}

// BeginMono is when the stream's clock began, CLOCK_MONOTONIC nanoseconds of the process's
// machine, corrected.
func (t *Trace) BeginMono() uint64 {
	at := t.Clock.At(t.Begin)
	if t.Correction == nil {
		return at
	}
	return t.Correction.mono(at, -1, &warpReader{})
}

// after is how long a number of ticks after the stream's clock began is, ns, corrected; position is that
// of a Knot.
func (t *Trace) after(ticks uint64, position int64, r *warpReader) uint64 {
	return t.passed(t.Clock.Since(ticks, t.Clock.fraction(t.Begin)), position, r)
}

// Passed corrects how long, in ns of the machine's clock, a position is after the beginning of
// the stream's clock; see Knot.
func (t *Trace) Passed(ns uint64, position int64) uint64 {
	return t.passed(ns, position, &warpReader{})
}

func (t *Trace) passed(ns uint64, position int64, r *warpReader) uint64 {
	if t.Correction == nil {
		return ns
	}
	return t.Correction.mono(t.Clock.At(t.Begin)+ns, position, r) - t.BeginMono()
}

// BoundNS is how far a start or an end may be from the measured one, in ns.
func (t *Trace) BoundNS() uint64 {
	if t.Bound == 0 || t.Clock.Rate == 0 {
		return t.Bound
	}
	return t.Clock.Since(t.Bound, 0) + 1
}

// Times are the times of a node's events, in ticks of the machine's clock: for each event the
// gap since the end of the stream's event before, and the duration.
type Times struct {
	Gap, Dur TimeSeq
	// Values are what each of Trace.Counters counted; nil with none, and perhaps without events.
	Values []CounterValues
}

// Prefix returns the times of the first n events.
func (t *Times) Prefix(n uint64) (*Times, error) {
	gap, err := t.Gap.Prefix(n)
	if err != nil {
		return nil, err
	}
	dur, err := t.Dur.Prefix(n)
	out := &Times{Gap: gap, Dur: dur}
	for i := range t.Values {
		v, wrong := t.Values[i].Prefix(n)
		out.Values, err = append(out.Values, v), errors.Join(err, wrong)
	}
	return out, err
}

// TimeSeq is a sequence of intervals, each a uvarint.
type TimeSeq struct {
	n    uint64
	code []byte
}

// NewTimeSeq returns the sequence of the first n intervals of code. It goes through them, and
// keeps code.
func NewTimeSeq(n uint64, code []byte) (TimeSeq, error) {
	return (TimeSeq{n, code}).Prefix(n)
}

// Len is the number of intervals.
func (s TimeSeq) Len() uint64 { return s.n }

// Code is the sequence as bytes; not to be changed.
func (s TimeSeq) Code() []byte { return s.code }

// Prefix returns the first n intervals of s.
func (s TimeSeq) Prefix(n uint64) (TimeSeq, error) {
	if n > s.n {
		return TimeSeq{}, fmt.Errorf("%w: %d intervals, want %d", ErrTimes, s.n, n)
	}
	at := 0
	for i := range n {
		_, size := binary.Uvarint(s.code[at:])
		if size <= 0 {
			return TimeSeq{}, fmt.Errorf("%w: code ends after %d values of %d", ErrTimes, i, n)
		}
		at += size
	}
	return TimeSeq{n, s.code[:at]}, nil
}

// Grow prepares the sequence for n more intervals; most take one or two bytes.
func (s *TimeSeq) Grow(n int) { s.code = slices.Grow(s.code, 2*n) }

// Append adds an interval to the sequence.
func (s *TimeSeq) Append(ticks uint64) {
	s.code = binary.AppendUvarint(s.code, ticks)
	s.n++
}

// Iter returns an iterator over the intervals.
func (s TimeSeq) Iter() TimeIter { return TimeIter{left: s.n, code: s.code} }

// TimeIter goes through a TimeSeq.
type TimeIter struct {
	left uint64
	at   int // in code
	code []byte
}

// Next returns the next interval; false at the end.
func (it *TimeIter) Next() (ticks uint64, ok bool) {
	if it.left == 0 {
		return 0, false
	}
	if code := it.code[it.at:]; len(code) > 1 { // most intervals take one or two bytes
		switch {
		case code[0] < 0x80:
			it.at++
			it.left--
			return uint64(code[0]), true
		case code[1] < 0x80:
			it.at += 2
			it.left--
			return uint64(code[0]&0x7f) | uint64(code[1])<<7, true
		}
	}
	return it.long()
}

// long is Next for any interval.
func (it *TimeIter) long() (ticks uint64, ok bool) {
	v, size := binary.Uvarint(it.code[it.at:])
	if size <= 0 {
		it.left = 0
		return 0, false
	}
	it.at += size
	it.left--
	return v, true
}

// Add adds the times of an event, ns.
func (s *Stats) Add(gap, dur uint64) {
	if s.Count == 0 {
		s.Gap.Min, s.Dur.Min = math.MaxUint64, math.MaxUint64
	}
	s.Count++
	s.Gap.add(gap)
	s.Dur.add(dur)
}

func (v *Interval) add(ns uint64) {
	v.Sum += ns
	v.Min, v.Max = min(v.Min, ns), max(v.Max, ns)
	v.Bins[min(max(bits.Len64(ns)-4, 0), len(v.Bins)-1)]++
}

// LacksStats reports whether a node with events has no statistics.
func (s *Stream) LacksStats() bool {
	visits := s.Visits()
	for i := range s.Nodes {
		if s.Nodes[i].Stats == nil && visits[i] > 0 {
			return true
		}
	}
	return false
}

// SumTimes gives the nodes that have no statistics those of the times of their events, if all events of the stream
// have some. The time before a call inside another one is then not what a recorder would have measured.
func (s *Stream) SumTimes() error {
	if s.Trace == nil || s.Trace.Untimed > 0 {
		return nil
	}
	if err := s.LoadTimes(); err != nil {
		return err
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Stats == nil && n.Times != nil && n.Times.Gap.n > 0 {
			n.Stats = n.Times.stats(&s.Trace.Clock)
		}
	}
	return nil
}

// stats are the statistics of times by a clock.
func (t *Times) stats(c *MachineClock) *Stats {
	st := &Stats{}
	var gaps, durations uint64
	gap, dur := t.Gap.Iter(), t.Dur.Iter()
	for g, ok := gap.Next(); ok; g, ok = gap.Next() {
		d, _ := dur.Next()
		gaps, durations = gaps+g, durations+d
		st.Add(c.Since(g, 0), c.Since(d, 0))
	}
	st.Gap.Sum, st.Dur.Sum = c.Since(gaps, 0), c.Since(durations, 0)
	return st
}

// takeTimes divides the times of the stream's first events, which are in their order, among the
// nodes.
func (s *Stream) takeTimes(times *Times) error {
	if times == nil {
		return nil
	}
	for i := range s.Nodes {
		s.Nodes[i].Times = &Times{}
	}
	gap, dur, values := times.Gap.Iter(), times.Dur.Iter(), times.ValueIters()
	var of []CounterValue
	w := s.Walk(nil)
	for g, ok := gap.Next(); ok; g, ok = gap.Next() {
		if !w.step() {
			return w.err
		}
		d, _ := dur.Next()
		t := s.Nodes[w.cur].Times
		t.Gap.Append(g)
		t.Dur.Append(d)
		if values != nil {
			of = nextValues(values, of)
			t.AppendValues(of)
		}
	}
	return nil
}

// Clock reconstructs when a stream's events started and ended.
type Clock struct {
	stream      *Stream
	trace       Trace
	fraction    uint64 // of Trace.Begin, see MachineClock
	now         uint64 // ticks since Trace.Begin
	seq         uint64 // of the next event
	part        int    // of the stream's times that is loaded
	end         uint64 // events before the next part
	timed       uint64 // events that have times
	checkpoints seq.Iter
	nodes       []nodeClock
	depths      []uint8
	nesting     Nesting[uint64] // of now
	warp        warpReader
	values      []CounterValue // of the event before the next one
	// Of a trace with a Correction: when it begins, without and with that.
	origin, corrected uint64
}

type nodeClock struct {
	gap, dur TimeIter
	values   []ValueIter
}

func (t *Times) clock() nodeClock { return nodeClock{t.Gap.Iter(), t.Dur.Iter(), t.ValueIters()} }

// NewClock returns the clock of a stream with traced times. It begins at 0, which is
// Trace.BeginMono, and runs in ns.
func NewClock(s *Stream) (*Clock, error) { return s.ClockFrom(0) }

// ClockFrom returns a clock for a walk that WalkFrom(n) begins. It must not be asked for events
// from Stream.TimedEvents on.
func (s *Stream) ClockFrom(n uint64) (*Clock, error) {
	if s.Trace == nil {
		return nil, fmt.Errorf("%w: the stream has none", ErrTimes)
	}
	timed := s.TimedEvents()
	c := &Clock{stream: s, trace: *s.Trace, fraction: s.Trace.Clock.fraction(s.Trace.Begin), nodes: make([]nodeClock, len(s.Nodes)), end: timed, timed: timed}
	c.depths = depthsOf(s.Nodes)
	if s.Trace.Correction != nil {
		c.origin, c.corrected = s.Trace.Clock.At(s.Trace.Begin), s.Trace.BeginMono()
	}
	checkpoint, events, marked := s.Checkpoints.find(min(n, timed))
	if s.parts == nil || len(s.Nodes) > 0 && s.Nodes[0].Times != nil {
		return c, c.whole(checkpoint, events, marked)
	}
	c.checkpoints = s.Checkpoints.Events.Iter()
	if marked {
		c.checkpoints.Skip(checkpoint + 1)
		c.part, c.seq = int(checkpoint)+1, events
	}
	return c, c.load()
}

// whole opens the times that are in the nodes, at a checkpoint.
func (c *Clock) whole(checkpoint, events uint64, marked bool) error {
	from := make([]uint64, len(c.nodes))
	if marked {
		var err error
		if from, _, err = c.stream.Checkpoints.Span(c.stream, checkpoint+1); err != nil {
			return err
		}
		c.seq = events
	}
	for i := range c.nodes {
		t := c.stream.Nodes[i].Times
		if t == nil {
			return fmt.Errorf("%w: node %d has none", ErrTimes, i)
		}
		c.nodes[i] = t.clock()
		if err := c.pass(uint32(i), from[i]); err != nil {
			return err
		}
	}
	return nil
}

// load opens the current part.
func (c *Clock) load() error {
	p, err := c.stream.parts.Part(c.part)
	if err != nil {
		return err
	}
	if p == nil || len(p.Times) != len(c.nodes) {
		return fmt.Errorf("%w: part %d is of no stream", ErrTimes, c.part)
	}
	c.now = p.Clock
	for i := range c.nodes {
		c.nodes[i] = p.Times[i].clock()
	}
	var more bool
	if c.end, more = c.checkpoints.Next(); !more || c.end > c.timed {
		c.end = c.timed
	}
	return nil
}

// after is Trace.after of the clock's trace.
func (c *Clock) after(ticks uint64, position int64) uint64 {
	ns := c.trace.Clock.Since(ticks, c.fraction)
	if c.trace.Correction == nil {
		return ns
	}
	return c.trace.Correction.mono(c.origin+ns, position, &c.warp) - c.corrected
}

// Now is when the event before the next one ended.
func (c *Clock) Now() uint64 { return c.after(c.now, 2*int64(c.seq)-1) }

// Elapsed is how long a stream with traced times took, from the beginning of its clock to the end
// of its last event that has times. Of a long stream it reads the last part. If calls were made
// inside others, it is the last outermost event.
func (s *Stream) Elapsed() (uint64, error) {
	c, err := s.ClockFrom(s.Events)
	if err != nil {
		return 0, err
	}
	for i := range c.nodes {
		if err := c.pass(uint32(i), c.nodes[i].gap.left); err != nil {
			return 0, err
		}
	}
	return c.after(c.now, 2*int64(s.Events)-1), nil
}

// Next takes the stream's next event, which is at a node, and returns its start
// and its end.
func (c *Clock) Next(node uint32) (start, end uint64, err error) {
	if c.seq == c.end && c.seq < c.timed {
		c.part++
		if err := c.load(); err != nil {
			return 0, 0, err
		}
	}
	gap, dur, err := c.take(node)
	before, first := c.now, c.seq
	if c.depths != nil {
		before, first = c.nesting.Enter(int(c.depths[node]), c.seq, c.now)
	}
	start = before + gap
	c.now = start + dur
	end = c.now
	if c.trace.Correction == nil {
		c.seq++
		return c.trace.Clock.Since(start, c.fraction), c.trace.Clock.Since(end, c.fraction), err
	}
	position, begins := 2*int64(c.seq), 2*int64(first)
	if first < c.seq {
		begins-- // before those inside it
	}
	c.seq++
	return c.after(start, begins), c.after(end, position+1), err
}

// Values are what each counter counted at the event that Next took last, until it is called again; nil: the
// stream's events have no values.
func (c *Clock) Values() []CounterValue { return c.values }

// pass moves the clock on by so many events of a node, without their order: outermost events are
// one after the other, and all others are inside of them.
func (c *Clock) pass(node uint32, events uint64) error {
	for range events {
		gap, dur, err := c.take(node)
		if err != nil {
			return err
		}
		if depthAt(c.depths, int(node)) == 0 {
			c.now += gap + dur
		}
	}
	return nil
}

// take returns the next times of a node, in ticks.
func (c *Clock) take(node uint32) (gap, dur uint64, err error) {
	n := &c.nodes[node]
	gap, ok1 := n.gap.Next()
	dur, ok2 := n.dur.Next()
	if !ok1 || !ok2 {
		return 0, 0, fmt.Errorf("%w: node %d has no more", ErrTimes, node)
	}
	if c.trace.Counters > 0 {
		c.values = nextValues(n.values, c.values)
	}
	return gap, dur, nil
}
