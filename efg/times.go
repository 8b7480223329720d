package efg

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/efg-tools/efg/efg/seq"
)

// ErrTimes is wrapped by all errors about traced times.
var ErrTimes = errors.New("broken times")

// Trace says how the times of a stream's events were recorded.
type Trace struct {
	// Error is the relative error of each interval, in parts of ErrorUnit.
	Error uint32
	// Begin is when the stream's clock began, CLOCK_MONOTONIC nanoseconds of the
	// process's machine. The gap before the first event starts there.
	Begin uint64
}

// Times are the times of a node's events: for each event the gap since the end of
// the stream's event before, and the duration.
type Times struct {
	Gap, Dur TimeSeq
}

// Prefix returns the times of the first n events.
func (t *Times) Prefix(n uint64) (*Times, error) {
	gap, err := t.Gap.Prefix(n)
	if err != nil {
		return nil, err
	}
	dur, err := t.Dur.Prefix(n)
	return &Times{gap, dur}, err
}

// TimeSeq is a sequence of codes, a byte each where they are small and not fine:
//
//	0 … 239    the bin
//	240 … 247  bin (b - 240)<<8 + 240 + the byte that follows
//	248        the bin in the two bytes that follow, low byte first
//	249        a bin as above follows, and then the zigzag of Fine as a uvarint
type TimeSeq struct {
	n    uint64
	code []byte
}

const (
	timeBin2 = 240
	timeBin3 = 248
	timeFine = 249
)

// NewTimeSeq returns the sequence of the first n codes. It goes through them, and
// keeps code.
func NewTimeSeq(n uint64, code []byte) (TimeSeq, error) {
	return (TimeSeq{n, code}).Prefix(n)
}

// Len is the number of codes.
func (s TimeSeq) Len() uint64 { return s.n }

// Code is the sequence as bytes; not to be changed.
func (s TimeSeq) Code() []byte { return s.code }

// Prefix returns the first n codes of s.
func (s TimeSeq) Prefix(n uint64) (TimeSeq, error) {
	if n > s.n {
		return TimeSeq{}, fmt.Errorf("%w: %d codes, want %d", ErrTimes, s.n, n)
	}
	at := 0
	for i := range n {
		_, size := decodeTimeCode(s.code[at:])
		if size <= 0 {
			return TimeSeq{}, fmt.Errorf("%w: code ends after %d values of %d", ErrTimes, i, n)
		}
		at += size
	}
	return TimeSeq{n, s.code[:at]}, nil
}

// Append adds a code to the sequence.
func (s *TimeSeq) Append(c TimeCode) {
	s.code = AppendTimeCode(s.code, c)
	s.n++
}

// Iter returns an iterator over the codes.
func (s TimeSeq) Iter() TimeIter { return TimeIter{left: s.n, code: s.code} }

// TimeIter goes through a TimeSeq.
type TimeIter struct {
	left uint64
	code []byte
}

// Next returns the next code; false at the end.
func (it *TimeIter) Next() (TimeCode, bool) {
	if it.left == 0 {
		return TimeCode{}, false
	}
	c, size := decodeTimeCode(it.code)
	if size <= 0 {
		it.left = 0
		return c, false
	}
	it.code = it.code[size:]
	it.left--
	return c, true
}

// AppendTimeCode appends the bytes of a code.
func AppendTimeCode(b []byte, c TimeCode) []byte {
	if c.Fine != 0 {
		b = append(b, timeFine)
	}
	switch bin := c.Bin; {
	case bin < timeBin2:
		b = append(b, byte(bin))
	case bin < timeBin2+(timeBin3-timeBin2)<<8:
		bin -= timeBin2
		b = append(b, timeBin2+byte(bin>>8), byte(bin))
	default:
		b = append(b, timeBin3, byte(bin), byte(bin>>8))
	}
	if c.Fine != 0 {
		b = binary.AppendUvarint(b, uint64(c.Fine)<<1^uint64(c.Fine>>63))
	}
	return b
}

// DecodeTimeCode reads a code from the front of b; its size is 0 if there is none.
func DecodeTimeCode(b []byte) (c TimeCode, size int) { return decodeTimeCode(b) }

// decodeTimeCode is DecodeTimeCode.
func decodeTimeCode(b []byte) (c TimeCode, size int) {
	if len(b) > 0 && b[0] < timeBin2 {
		return TimeCode{Bin: uint32(b[0])}, 1
	}
	fine := len(b) > 0 && b[0] == timeFine
	if fine {
		size = 1
	}
	bin, n := decodeBin(b[size:])
	if n == 0 {
		return c, 0
	}
	c.Bin, size = bin, size+n
	if fine {
		z, n := binary.Uvarint(b[size:])
		if n <= 0 {
			return c, 0
		}
		c.Fine, size = int64(z>>1)^-int64(z&1), size+n
	}
	return c, size
}

func decodeBin(b []byte) (bin uint32, size int) {
	switch {
	case len(b) >= 1 && b[0] < timeBin2:
		return uint32(b[0]), 1
	case len(b) >= 2 && b[0] < timeBin3:
		return timeBin2 + uint32(b[0]-timeBin2)<<8 + uint32(b[1]), 2
	case len(b) >= 3 && b[0] == timeBin3:
		return uint32(b[1]) | uint32(b[2])<<8, 3
	}
	return 0, 0
}

// DecodeTimes separates the codes of gaps and durations that a recorder writes
// one after the other, as far as they go.
func DecodeTimes(code []byte) *Times {
	t := &Times{}
	for {
		gap, n := decodeTimeCode(code)
		if n == 0 {
			return t
		}
		dur, m := decodeTimeCode(code[n:])
		if m == 0 {
			return t
		}
		t.Gap.Append(gap)
		t.Dur.Append(dur)
		code = code[n+m:]
	}
}

// Clock reconstructs when a stream's events started and ended.
type Clock struct {
	q           *TimeQuantizer
	stream      *Stream
	now         uint64
	seq         uint64 // of the next event
	part        int    // of the stream's times that is loaded
	end         uint64 // events before the next part
	checkpoints seq.Iter
	nodes       []nodeClock
}

type nodeClock struct{ gap, dur TimeIter }

// NewClock returns the clock of a stream with traced times. It begins at 0, at
// Trace.Begin.
func NewClock(s *Stream) (*Clock, error) { return s.ClockFrom(0) }

// ClockFrom returns a clock for a walk that WalkFrom(n) begins.
func (s *Stream) ClockFrom(n uint64) (*Clock, error) {
	if s.Trace == nil {
		return nil, fmt.Errorf("%w: the stream has none", ErrTimes)
	}
	q, err := NewTimeQuantizer(s.Trace.Error)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrTimes, err)
	}
	c := &Clock{q: q, stream: s, nodes: make([]nodeClock, len(s.Nodes)), end: s.Events}
	checkpoint, events, marked := s.Checkpoints.find(n)
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
		n := &c.nodes[i]
		n.gap, n.dur = t.Gap.Iter(), t.Dur.Iter()
		for range from[i] {
			if _, _, err := c.take(uint32(i)); err != nil {
				return err
			}
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
		c.nodes[i] = nodeClock{p.Times[i].Gap.Iter(), p.Times[i].Dur.Iter()}
	}
	var more bool
	if c.end, more = c.checkpoints.Next(); !more {
		c.end = c.stream.Events
	}
	return nil
}

// Now is when the event before the next one ended.
func (c *Clock) Now() uint64 { return c.now }

// Elapsed is how long a stream with traced times took, from the beginning of its
// clock to the end of its last event. Of a long stream it reads the last part.
func (s *Stream) Elapsed() (uint64, error) {
	c, err := s.ClockFrom(s.Events)
	if err != nil {
		return 0, err
	}
	for i := range c.nodes {
		for range c.nodes[i].gap.left {
			if _, _, err := c.take(uint32(i)); err != nil {
				return 0, err
			}
		}
	}
	return c.now, nil
}

// Next takes the stream's next event, which is at a node, and returns its start
// and its end.
func (c *Clock) Next(node uint32) (start, end uint64, err error) {
	if c.seq == c.end && c.seq < c.stream.Events {
		c.part++
		if err := c.load(); err != nil {
			return 0, 0, err
		}
	}
	c.seq++
	return c.take(node)
}

// take moves the clock on by an event of a node.
func (c *Clock) take(node uint32) (start, end uint64, err error) {
	n := &c.nodes[node]
	gap, ok1 := n.gap.Next()
	dur, ok2 := n.dur.Next()
	if !ok1 || !ok2 {
		return 0, 0, fmt.Errorf("%w: node %d has no more", ErrTimes, node)
	}
	g, err := c.q.Value(gap)
	if err != nil {
		return 0, 0, err
	}
	d, err := c.q.Value(dur)
	if err != nil {
		return 0, 0, err
	}
	start = c.now + g
	c.now = start + d
	return start, c.now, nil
}
