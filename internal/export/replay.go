package export

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// Sink takes the next process of a document, and what the document says about the run as
// a whole.
type Sink func(meta *runfile.Meta, p *efg.Process) error

// Run is a sink that keeps what it gets; runfile.WriteRun turns it into a run file.
type Run struct {
	Meta  runfile.Meta
	Procs []*efg.Process
}

// Add is the sink.
func (r *Run) Add(meta *runfile.Meta, p *efg.Process) error {
	r.Meta, r.Procs = *meta, append(r.Procs, p)
	return nil
}

// SinkError reports that a process could not be taken, which is not the document's fault.
type SinkError struct{ Err error }

func (e *SinkError) Error() string { return e.Err.Error() }
func (e *SinkError) Unwrap() error { return e.Err }

// ErrContent is wrapped by errors about a document that contradicts itself.
var ErrContent = errors.New("the document contradicts itself")

// WordForm is the form of word i of events with a header.
func WordForm(header uint64, i int) signature.Form {
	p := signature.ProcByID(signature.Header(header).Proc())
	if p == nil || i < signature.FirstWord || i >= len(p.Words) {
		return signature.ScalarForm
	}
	return p.Words[i].Form
}

// Value is a word of an event that its signature leaves open. Elems is the content
// of an array, nil where a constant stands for it; the array has no other word.
type Value struct {
	Word  uint64
	Elems []uint64
}

// Stream rebuilds the graph of a stream: first its nodes, then its events, in order.
type Stream struct {
	head  efg.Stream
	hash  bool // head.Hash is the hash that the recorder computed
	build *efg.Builder
	nodes []efg.Node
	in    efg.Input
	times []efg.Times
	timed uint64 // events with times
}

// NewStream begins a stream with the thread, end, number of events, trace and call in
// progress of head. defs are the process's definitions. hash reports whether head.Hash is known.
func NewStream(head efg.Stream, hash bool, defs *efg.Definitions) (*Stream, error) {
	s := &Stream{head: head, hash: hash, build: efg.NewBuilder(head.Thread, efg.DefaultDemote, defs)}
	if head.Trace != nil {
		if head.Trace.Untimed > head.Events {
			return nil, fmt.Errorf("%d of %d events without times", head.Trace.Untimed, head.Events)
		}
		if _, err := efg.NewTimeQuantizer(head.Trace.Error, head.Trace.Bound); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// AddNode adds the next node: its words, mask, counted polls and statistics.
func (s *Stream) AddNode(n efg.Node) error {
	if err := s.build.AddNode(n.Words, n.Mask, n.Counted); err != nil {
		return err
	}
	s.nodes = append(s.nodes, n)
	s.times = append(s.times, efg.Times{})
	return nil
}

// Nodes is the number of nodes so far.
func (s *Stream) Nodes() int { return len(s.nodes) }

// Open returns the number of values that events at a node have; -1: there is no such node.
func (s *Stream) Open(node int) int {
	if node < 0 || node >= len(s.nodes) {
		return -1
	}
	return bits.OnesCount64(s.nodes[node].Mask)
}

// Add adds the next event: its node, and the values that this leaves open.
func (s *Stream) Add(node int, values []Value) error {
	switch open := s.Open(node); {
	case open < 0:
		return fmt.Errorf("event %d: no node %d", s.build.Events(), node)
	case open != len(values):
		return fmt.Errorf("event %d: %d values, at node %d there are %d", s.build.Events(), len(values), node, open)
	}
	n := &s.nodes[node]
	s.in.Words = append(s.in.Words[:0], n.Words...)
	s.in.Vecs = s.in.Vecs[:0]
	m := n.Mask
	for k := range values {
		i := bits.TrailingZeros64(m)
		m &= m - 1
		v := &values[k]
		vector := WordForm(n.Words[0], i) == signature.VecForm
		switch {
		case vector && v.Elems != nil:
			s.in.Words[i] = signature.Ident(signature.Hash(v.Elems...))
			s.in.Vecs = append(s.in.Vecs, efg.VecContent{Word: i, Elems: v.Elems})
		case v.Elems != nil || vector && !signature.IsConst(v.Word):
			return fmt.Errorf("event %d: value %d: arrays and words do not stand for each other", s.build.Events(), k)
		default:
			s.in.Words[i] = v.Word
		}
	}
	return s.build.AddAt(node, s.in)
}

// AddTimes adds the times of an event at a node.
func (s *Stream) AddTimes(node int, gap, dur uint64) error {
	if s.head.Trace == nil || s.Open(node) < 0 {
		return fmt.Errorf("event %d: times of a stream without a clock", s.timed)
	}
	s.times[node].Gap.Append(gap)
	s.times[node].Dur.Append(dur)
	s.timed++
	return nil
}

// Finish returns the stream when all its events are there.
func (s *Stream) Finish() (*efg.Stream, error) {
	out, err := s.build.Stream()
	if err != nil {
		return nil, err
	}
	switch {
	case out.Events != s.head.Events:
		return nil, fmt.Errorf("%w: thread %d has %d events, not %d", ErrContent, s.head.Thread, out.Events, s.head.Events)
	case len(out.Nodes) != len(s.nodes):
		return nil, fmt.Errorf("%w: thread %d: signature %d without events", ErrContent, s.head.Thread, len(out.Nodes))
	case s.hash && out.Hash != s.head.Hash:
		return nil, fmt.Errorf("%w: thread %d: hash of the events is %016x, recorded %016x", ErrContent, s.head.Thread, out.Hash, s.head.Hash)
	case s.head.Trace != nil && s.timed != s.head.TimedEvents():
		return nil, fmt.Errorf("%w: thread %d: times of %d events of %d", ErrContent, s.head.Thread, s.timed, s.head.TimedEvents())
	}
	out.End, out.Dropped, out.Trace, out.Pending = s.head.End, s.head.Dropped, s.head.Trace, s.head.Pending
	for i := range out.Nodes {
		out.Nodes[i].Stats = s.nodes[i].Stats
		if out.Trace != nil {
			out.Nodes[i].Times = &s.times[i]
		}
	}
	return out, nil
}

// maxElements is how many elements the definitions of a process may have: readers
// of run files refuse more.
const maxElements = 1 << 24

// Check checks the rules of a process that was read.
func Check(p *efg.Process) error {
	total := 0
	for i := range p.Defs {
		total += len(p.Defs[i].Words)
	}
	if total > maxElements {
		return fmt.Errorf("%w: definitions of %d elements", ErrContent, total)
	}
	if n, err := efg.CheckDefs(p.Defs); err != nil {
		return fmt.Errorf("definition %d: %w", n, err)
	}
	for i := range p.Streams {
		s := &p.Streams[i]
		if i > 0 && s.Thread <= p.Streams[i-1].Thread {
			return fmt.Errorf("thread %d after %d", s.Thread, p.Streams[i-1].Thread)
		}
		if n, err := efg.CheckStream(s); err != nil {
			return fmt.Errorf("thread %d, node %d: %w", s.Thread, n, err)
		}
		if n, err := efg.CheckTimes(s); err != nil {
			return fmt.Errorf("thread %d, node %d: %w", s.Thread, n, err)
		}
	}
	return nil
}

// IntervalText writes the statistics of intervals: sum, minimum, maximum, and the nonempty
// bins, BIN:NUMBER.
func IntervalText(v *efg.Interval) string {
	b := []byte(fmt.Sprintf("%d %d %d", v.Sum, v.Min, v.Max))
	for i, n := range v.Bins {
		if n != 0 {
			b = fmt.Appendf(b, " %d:%d", i, n)
		}
	}
	return string(b)
}

// ParseInterval reads what IntervalText wrote.
func ParseInterval(s string) (v efg.Interval, err error) {
	fields := strings.Fields(s)
	bad := fmt.Errorf("%q: want SUM MIN MAX and any number of BIN:NUMBER", s)
	if len(fields) < 3 {
		return v, bad
	}
	for i, to := range []*uint64{&v.Sum, &v.Min, &v.Max} {
		if *to, err = strconv.ParseUint(fields[i], 10, 64); err != nil {
			return v, bad
		}
	}
	for _, f := range fields[3:] {
		bin, n, _ := strings.Cut(f, ":")
		i, err1 := strconv.ParseUint(bin, 10, 8)
		c, err2 := strconv.ParseUint(n, 10, 32)
		if err1 != nil || err2 != nil || i >= uint64(len(v.Bins)) {
			return v, bad
		}
		v.Bins[i] = uint32(c)
	}
	return v, nil
}
