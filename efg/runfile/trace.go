package runfile

import (
	"fmt"
	"slices"
	"sort"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/signature"
)

// A times block holds the times of each event: of all streams of a few ranks,
// or, if these have many events, of one stream from one checkpoint to the next. (Trace blocks
// are what earlier versions wrote in their place: trace_old.go.)

// sharedTrace is the maximum number of events of the ranks of a batch that share a block. Tests change it.
var sharedTrace uint64 = 1 << 18

// Columns of a times block.
const (
	timesNodes = iota // of a stream: number of nodes + 1; 0: it has no times
	timesError        // of a stream
	timesBound        // of a stream, ticks
	timesBegin        // of a stream, a tick
	timesClock        // of a stream: ticks of its clock before the first event in the block
	timesGap          // of an event: number of the interval + 1; 0: it is in the column at the end
	timesDur
	timesOther  // ticks
	timesVisits // of a node, if the stream's times end before the block's last event: how many it has
)

// traceBlock is a trace block in the index: that of some streams, or a part of one; the parts
// of a stream are consecutive.
type traceBlock struct {
	first, streams int
	block          int
}

// tracesOfBatch returns the times blocks of a batch's processes; first counts
// from the batch's first stream. names are the counters of the file.
func tracesOfBatch(batch []placed, names []string) ([]encodedTrace, error) {
	if from := wholeTraces(batch, names); from != nil {
		return from.run.copyTraces(from.run.Procs[from.proc].first, streamsOf(batch))
	}
	var streams []*efg.Stream
	var checkpoints []*efg.Checkpoints
	var values [][]int // of each stream: valuesAt
	events := uint64(0)
	for i := range batch {
		s, m, err := batch[i].source.traces()
		if err != nil {
			return nil, err
		}
		streams, checkpoints = append(streams, s...), append(checkpoints, m...)
		for _, s := range s {
			values = append(values, valuesAt(s, batch[i].source.counters(), names))
		}
	}
	kind := blockTimes
	if len(names) > 0 && valuedStreams(streams) {
		kind = blockValues
	}
	timed := false
	for _, s := range streams {
		events += s.Events
		timed = timed || s.Trace != nil
	}
	switch {
	case !timed:
		return nil, nil
	case events <= sharedTrace:
		var cols block.Columns
		for i, s := range streams {
			w, err := newTimesWriter(s, nil, kind, values[i])
			if err == nil {
				err = w.put(&cols)
			}
			if err != nil {
				return nil, err
			}
		}
		return []encodedTrace{{0, len(streams), kind, block.AppendFast(nil, kind, cols)}}, nil
	}
	var out []encodedTrace
	for i, s := range streams {
		blocks, err := streamTraces(s, checkpoints[i], kind, values[i])
		if err != nil {
			return nil, err
		}
		for _, b := range blocks {
			out = append(out, encodedTrace{i, 1, kind, b})
		}
	}
	return out, nil
}

// encodedTrace is a block to be written.
type encodedTrace struct {
	first, streams int
	kind           block.Kind
	raw            []byte
}

// streamsOf is the number of streams of a batch's processes.
func streamsOf(batch []placed) int {
	n := 0
	for i := range batch {
		n += len(batch[i].source.info().Streams)
	}
	return n
}

// streamTraces divides the times of a stream at its checkpoints.
func streamTraces(s *efg.Stream, m *efg.Checkpoints, kind block.Kind, values []int) ([][]byte, error) {
	if s.Trace == nil {
		m = nil
	}
	w, err := newTimesWriter(s, m, kind, values)
	if err != nil {
		return nil, err
	}
	parts := uint64(1)
	if m != nil {
		parts = m.TimesParts(s)
	}
	var out [][]byte
	for range parts {
		var cols block.Columns
		if err := w.put(&cols); err != nil {
			return nil, err
		}
		out = append(out, block.AppendFast(nil, kind, cols))
	}
	return out, nil
}

// traceOrder lists the nodes of a stream such that those of a callsite are adjacent: their
// times are similar.
func traceOrder(nodes []efg.Node) []int {
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool {
		x, y := nodes[order[a]].Words, nodes[order[b]].Words
		return x[0] < y[0] || x[0] == y[0] && x[1] < y[1]
	})
	return order
}

// timesWriter puts the parts of a stream's times into columns, one after the other.
type timesWriter struct {
	stream      *efg.Stream
	checkpoints *efg.Checkpoints
	intervals   *efg.TimeQuantizer
	nodes       []nodeTimes
	order       []int
	kind        block.Kind
	values      []int  // see valuesAt
	part, clock uint64 // the next part, and the ticks before it
}

// nodeTimes are the times of a node that have not been written.
type nodeTimes struct {
	gap, dur efg.TimeIter
	values   []efg.ValueIter
}

// newTimesWriter returns a writer for blocks of a kind; values is valuesAt of the stream.
func newTimesWriter(s *efg.Stream, m *efg.Checkpoints, kind block.Kind, values []int) (*timesWriter, error) {
	w := &timesWriter{stream: s, checkpoints: m, kind: kind, values: values}
	if s.Trace == nil {
		return w, nil
	}
	var err error
	if w.intervals, err = efg.NewTimeQuantizer(s.Trace.Error, s.Trace.Bound); err != nil {
		return nil, fmt.Errorf("%w: %v", efg.ErrTimes, err)
	}
	w.nodes, w.order = make([]nodeTimes, len(s.Nodes)), traceOrder(s.Nodes)
	for i := range s.Nodes {
		if t := s.Nodes[i].Times; t != nil {
			w.nodes[i] = nodeTimes{t.Gap.Iter(), t.Dur.Iter(), t.ValueIters()}
		}
	}
	return w, nil
}

// put appends the next part.
func (w *timesWriter) put(c *block.Columns) error {
	s := w.stream
	if s.Trace == nil {
		c.Put(timesNodes, 0)
		return nil
	}
	from, to, err := w.checkpoints.Span(s, w.part)
	if err != nil {
		return err
	}
	c.Put(timesNodes, uint64(len(s.Nodes))+1)
	c.Put(timesError, uint64(s.Trace.Error))
	c.Put(timesBound, s.Trace.Bound)
	c.Put(timesBegin, s.Trace.Begin)
	c.Put(timesClock, w.clock)
	if w.kind == blockValues {
		c.Put(valuesCounters, uint64(len(w.values)))
	}
	early := s.TimedEvents() < sum(to)
	for _, i := range w.order {
		t := s.Nodes[i].Times
		if early && t != nil {
			to[i] = t.Gap.Len()
			c.Put(timesVisits, to[i]-from[i])
		}
		if t == nil || t.Gap.Len() < to[i] || t.Dur.Len() < to[i] || to[i] < from[i] {
			return fmt.Errorf("%w: node %d has not %d", efg.ErrTimes, i, to[i])
		}
		took := w.putIntervals(c, timesGap, &w.nodes[i].gap, to[i]-from[i]) + w.putIntervals(c, timesDur, &w.nodes[i].dur, to[i]-from[i])
		if signature.Header(s.Nodes[i].Words[0]).Depth() == 0 { // others are in the times of these
			w.clock += took
		}
		putValues(c, w.values, w.nodes[i].values, to[i]-from[i])
	}
	w.part++
	return nil
}

func sum(list []uint64) (n uint64) {
	for _, v := range list {
		n += v
	}
	return n
}

// putIntervals appends the next count intervals of a sequence, and returns their sum.
func (w *timesWriter) putIntervals(c *block.Columns, column int, it *efg.TimeIter, count uint64) (sum uint64) {
	for range count {
		ticks, _ := it.Next()
		sum += ticks
		if n, ok := w.intervals.Number(ticks); ok && n+1 != 0 {
			c.Put(column, n+1)
			continue
		}
		c.Put(column, 0)
		c.Put(timesOther, ticks)
	}
	return sum
}

// wantedTimes says which times of a stream, or of a part of it, are to be taken from a block.
type wantedTimes struct {
	nodes  []efg.Node // nil: none, the events are passed over
	visits []uint64   // of each of the nodes
	events uint64     // that have times
	early  bool       // events after them have none: the visits are in the block
}

// takeTimes takes a part of a stream's times. It returns nil if the stream has no times, or none
// are wanted.
func takeTimes(b *block.Block, want wantedTimes) *efg.TimesPart {
	return takeTimesAnd(b, want, takeTimesHead)
}

// takeTimesAnd is takeTimes of a block whose heads of streams this function takes; if these say so, it also takes values.
func takeTimesAnd(b *block.Block, want wantedTimes, head func(*block.Block) (*timesHead, uint64)) *efg.TimesPart {
	h, n := head(b)
	if h == nil {
		return nil
	}
	p := &efg.TimesPart{Trace: h.trace, Clock: h.clock}
	q, err := efg.NewTimeQuantizer(p.Trace.Error, p.Trace.Bound)
	if err != nil {
		b.Failf("%w", err)
		return nil
	}
	if want.nodes == nil {
		passTimes(b, q, n, want)
		takeValues(b, h.trace.Counters, nil, want.events)
		return nil
	}
	if n != uint64(len(want.nodes)) {
		b.Failf("times of %d nodes, there are %d", n, len(want.nodes))
		return nil
	}
	p.Times = make([]efg.Times, len(want.nodes))
	left := want.events
	for _, i := range traceOrder(want.nodes) {
		visits := want.visits[i]
		if want.early {
			visits = b.Below(timesVisits, min(visits, left)+1, "number of visits")
			left -= visits
		}
		takeAllTicks(b, timesGap, q, &p.Times[i].Gap, visits)
		takeAllTicks(b, timesDur, q, &p.Times[i].Dur, visits)
		takeValues(b, h.trace.Counters, &p.Times[i], visits)
	}
	if want.early && left > 0 {
		b.Failf("times of all but %d of %d events", left, want.events)
	}
	return p
}

// passTimes passes over the times of a stream with n nodes.
func passTimes(b *block.Block, q *efg.TimeQuantizer, n uint64, want wantedTimes) {
	for k := uint64(0); k < n && want.early && b.Err == nil; k++ {
		b.Get(timesVisits)
	}
	for k := uint64(0); k < want.events && b.Err == nil; k++ {
		takeTicks(b, timesGap, q)
		takeTicks(b, timesDur, q)
	}
}

func takeAllTicks(b *block.Block, column int, q *efg.TimeQuantizer, to *efg.TimeSeq, count uint64) {
	to.Grow(int(min(count, uint64(b.Left(column)))))
	for k := uint64(0); k < count && b.Err == nil; k++ {
		to.Append(takeTicks(b, column, q))
	}
}

func takeTicks(b *block.Block, column int, q *efg.TimeQuantizer) uint64 {
	if v := b.Get(column); v > 0 {
		return q.Value(v - 1)
	}
	return b.Get(timesOther)
}

// wholeTraces returns the first of these processes if they are neighbours in a
// run file and have times blocks for themselves, which can be copied to one with these
// counters.
func wholeTraces(batch []placed, names []string) *fileSource {
	first, ok := batch[0].source.(*fileSource)
	if !ok || first.valued() && !slices.Equal(first.run.Meta.Counters, names) {
		return nil
	}
	for i := range batch {
		s, ok := batch[i].source.(*fileSource)
		if !ok || s.run != first.run || s.proc != first.proc+i {
			return nil
		}
	}
	from := first.run.Procs[first.proc].first
	to := from + streamsOf(batch)
	whole := from < to
	for n := from; n < to && whole; n++ {
		blocks := first.run.traceBlocks(n)
		whole = len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b traceBlock) bool { return b.first < from || b.first+b.streams > to })
	}
	if !whole {
		return nil
	}
	return first
}

// copyTraces returns the times blocks of streams as they are in the file.
func (r *Run) copyTraces(first, streams int) ([]encodedTrace, error) {
	var out []encodedTrace
	for _, t := range r.traces {
		if t.first < first || t.first >= first+streams {
			continue
		}
		raw, _, err := r.readRaw(t.block)
		if err != nil {
			return nil, err
		}
		out = append(out, encodedTrace{t.first - first, t.streams, r.blocks[t.block].Kind, raw})
	}
	return out, nil
}
