package runfile

import (
	"fmt"
	"slices"
	"sort"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// A trace block holds the times of each event: of all streams of a few ranks,
// or, if these have many events, of one stream from one checkpoint to the next.

// sharedTrace is the maximum number of events of the ranks of a batch that share a block.
const sharedTrace = 1 << 18

// Columns of a trace block.
const (
	traceNodes = iota // of a stream: number of nodes
	traceError        // of a stream
	traceBegin        // of a stream
	traceClock        // of a stream: its clock before the first event in the block
	traceGap          // of an event: bin + 1; 0: see the two columns at the end
	traceDur
	traceFineBin
	traceFine // zigzag
)

// traceBlock is a trace block in the index: that of some streams, or a part of one; the parts
// of a stream are consecutive.
type traceBlock struct {
	first, streams int
	block          int
}

// tracesOfBatch returns the trace blocks of a batch's processes; first counts
// from the batch's first stream.
func tracesOfBatch(batch []placed) ([]encodedTrace, error) {
	if from := wholeTraces(batch); from != nil {
		return from.run.copyTraces(from.run.Procs[from.proc].first, streamsOf(batch))
	}
	var streams []*efg.Stream
	var checkpoints []*efg.Checkpoints
	events := uint64(0)
	for i := range batch {
		s, m, err := batch[i].source.traces()
		if err != nil {
			return nil, err
		}
		streams, checkpoints = append(streams, s...), append(checkpoints, m...)
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
		for _, s := range streams {
			if err := putTrace(&cols, s, nil, 0, 0); err != nil {
				return nil, err
			}
		}
		return []encodedTrace{{0, len(streams), block.Append(nil, blockTrace, cols, 0)}}, nil
	}
	var out []encodedTrace
	for i, s := range streams {
		blocks, err := streamTraces(s, checkpoints[i])
		if err != nil {
			return nil, err
		}
		for _, b := range blocks {
			out = append(out, encodedTrace{i, 1, b})
		}
	}
	return out, nil
}

// encodedTrace is a block to be written.
type encodedTrace struct {
	first, streams int
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
func streamTraces(s *efg.Stream, m *efg.Checkpoints) ([][]byte, error) {
	parts := uint64(0)
	if s.Trace == nil {
		m = nil
	}
	if m != nil {
		parts = m.Events.Len()
	}
	var out [][]byte
	clock := uint64(0)
	for k := uint64(0); k <= parts; k++ {
		var cols block.Columns
		if err := putTrace(&cols, s, m, k, clock); err != nil {
			return nil, err
		}
		out = append(out, block.Append(nil, blockTrace, cols, 0))
		if s.Trace != nil && k < parts {
			ns, err := passed(s, m, k)
			if err != nil {
				return nil, err
			}
			clock += ns
		}
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

// putTrace appends a part of a stream's times.
func putTrace(c *block.Columns, s *efg.Stream, m *efg.Checkpoints, k, clock uint64) error {
	if s.Trace == nil {
		c.Put(traceNodes, 0)
		return nil
	}
	from, to, err := m.Span(s, k)
	if err != nil {
		return err
	}
	c.Put(traceNodes, uint64(len(s.Nodes))+1)
	c.Put(traceError, uint64(s.Trace.Error))
	c.Put(traceBegin, s.Trace.Begin)
	c.Put(traceClock, clock)
	for _, i := range traceOrder(s.Nodes) {
		t := s.Nodes[i].Times
		if t == nil || t.Gap.Len() < to[i] || t.Dur.Len() < to[i] {
			return fmt.Errorf("%w: node %d has not %d", efg.ErrTimes, i, to[i])
		}
		gap, dur := t.Gap.Iter(), t.Dur.Iter()
		for v := uint64(0); v < to[i]; v++ {
			g, _ := gap.Next()
			d, _ := dur.Next()
			if v >= from[i] {
				putTimeCode(c, traceGap, g)
				putTimeCode(c, traceDur, d)
			}
		}
	}
	return nil
}

func putTimeCode(c *block.Columns, column int, t efg.TimeCode) {
	if t.Fine == 0 {
		c.Put(column, uint64(t.Bin)+1)
		return
	}
	c.Put(column, 0)
	c.Put(traceFineBin, uint64(t.Bin))
	c.Put(traceFine, block.Zigzag(t.Fine))
}

// passed is the duration of part k of a stream.
func passed(s *efg.Stream, m *efg.Checkpoints, k uint64) (ns uint64, err error) {
	q, err := efg.NewTimeQuantizer(s.Trace.Error)
	if err != nil {
		return 0, err
	}
	from, to, err := m.Span(s, k)
	if err != nil {
		return 0, err
	}
	for i := range s.Nodes {
		for _, seq := range []efg.TimeSeq{s.Nodes[i].Times.Gap, s.Nodes[i].Times.Dur} {
			it := seq.Iter()
			for v := uint64(0); v < to[i]; v++ {
				c, _ := it.Next()
				if v < from[i] {
					continue
				}
				x, err := q.Value(c)
				if err != nil {
					return 0, err
				}
				ns += x
			}
		}
	}
	return ns, nil
}

// takeTrace reads a part of a stream's times: count says how many for each node. If nodes is
// nil, it skips events events. It returns nil if the stream has no times.
func takeTrace(b *block.Block, nodes []efg.Node, count []uint64, events uint64) *efg.TimesPart {
	h, n := takeTraceHead(b)
	if h == nil {
		return nil
	}
	p := &efg.TimesPart{Trace: h.trace, Clock: h.clock}
	q, err := efg.NewTimeQuantizer(p.Trace.Error)
	if err != nil {
		b.Failf("%w", err)
		return nil
	}
	bins := uint64(q.Bins())
	if nodes == nil {
		for range events {
			if takeTimeCode(b, traceGap, bins); b.Err != nil {
				return nil
			}
			takeTimeCode(b, traceDur, bins)
		}
		return nil
	}
	if n != uint64(len(nodes)) {
		b.Failf("times of %d nodes, there are %d", n, len(nodes))
		return nil
	}
	p.Times = make([]efg.Times, len(nodes))
	for _, i := range traceOrder(nodes) {
		for range count[i] {
			if b.Err != nil {
				return nil
			}
			p.Times[i].Gap.Append(takeTimeCode(b, traceGap, bins))
			p.Times[i].Dur.Append(takeTimeCode(b, traceDur, bins))
		}
	}
	return p
}

// takeTimeCode reads the code of a time with bins bins.
func takeTimeCode(b *block.Block, column int, bins uint64) efg.TimeCode {
	if v := b.Below(column, bins+1, "bin"); v > 0 {
		return efg.TimeCode{Bin: uint32(v - 1)}
	}
	bin := b.Below(traceFineBin, bins, "bin")
	return efg.TimeCode{Bin: uint32(bin), Fine: block.Unzigzag(b.Get(traceFine))}
}

// traceBlocks finds the blocks with the times of stream n of the file.
func (r *Run) traceBlocks(n int) []traceBlock {
	i := sort.Search(len(r.traces), func(i int) bool { return r.traces[i].first+r.traces[i].streams > n })
	j := i
	for j < len(r.traces) && r.traces[j].first <= n {
		j++
	}
	return r.traces[i:j]
}

// readTrace reads a part of the times of Procs[i].Streams[j], which is s.
func (r *Run) readTrace(i, j int, s *efg.Stream, part int) (*efg.TimesPart, error) {
	n := r.Procs[i].first + j
	blocks := r.traceBlocks(n)
	if part >= len(blocks) {
		return nil, fmt.Errorf("%w: part %d of %d", efg.ErrTimes, part, len(blocks))
	}
	parts := uint64(len(blocks) - 1)
	if parts > 0 && (s.Checkpoints == nil || s.Checkpoints.Events.Len() != parts) {
		return nil, fmt.Errorf("%w: %d parts, other checkpoints", efg.ErrTimes, len(blocks))
	}
	checkpoints := s.Checkpoints
	if parts == 0 {
		checkpoints = nil
	}
	from, to, err := checkpoints.Span(s, uint64(part))
	if err != nil {
		return nil, err
	}
	for k := range to {
		to[k] -= from[k]
	}
	number := blocks[part].block
	if blocks[part].streams == 1 {
		return r.ofOne.get(number, func() (*efg.TimesPart, error) {
			b, err := r.read(number)
			if err != nil {
				return nil, err
			}
			p := takeTrace(b, s.Nodes, to, 0)
			return p, b.Err
		})
	}
	b, err := r.shared.block(r, number)
	if err != nil {
		return nil, err
	}
	for at := blocks[part].first; at < n; at++ {
		takeTrace(b, nil, nil, r.eventsOf(at))
	}
	p := takeTrace(b, s.Nodes, to, 0)
	return p, b.Err
}

// eventsOf is the number of events of stream n of the file.
func (r *Run) eventsOf(n int) uint64 {
	i := sort.Search(len(r.Procs), func(i int) bool { return r.Procs[i].first > n }) - 1
	return r.Procs[i].Streams[n-r.Procs[i].first].Events
}

// attachTrace sets the times of a stream that was read: immediately if they are in one part,
// otherwise they are read when needed.
func (r *Run) attachTrace(i, j int, s *efg.Stream) error {
	blocks := r.traceBlocks(r.Procs[i].first + j)
	if len(blocks) == 0 {
		return nil
	}
	if len(blocks) > 1 {
		h, err := r.readHead(r.Procs[i].first+j, 0)
		if err != nil || h == nil {
			return err
		}
		s.Trace = &h.trace
		s.ReadTimesFrom(&traceParts{r, i, j, s})
		return nil
	}
	p, err := r.readTrace(i, j, s, 0)
	if err != nil || p == nil {
		return err
	}
	s.Trace = &p.Trace
	for k := range s.Nodes {
		s.Nodes[k].Times = &p.Times[k]
	}
	return nil
}

// traceParts reads the times of Procs[i].Streams[j], which are in several blocks.
type traceParts struct {
	run    *Run
	i, j   int
	stream *efg.Stream
}

func (t *traceParts) Part(k int) (*efg.TimesPart, error) {
	return t.run.readTrace(t.i, t.j, t.stream, k)
}

func (t *traceParts) Clock(k int) (uint64, error) {
	h, err := t.run.readHead(t.run.Procs[t.i].first+t.j, k)
	if err != nil || h == nil {
		return 0, err
	}
	return h.clock, nil
}

// wholeTraces returns the first of these processes if they are adjacent in a run file and have
// trace blocks for themselves, which can be copied.
func wholeTraces(batch []placed) *fileSource {
	first, ok := batch[0].source.(*fileSource)
	if !ok {
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

// copyTraces returns the trace blocks of streams as they are in the file.
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
		out = append(out, encodedTrace{t.first - first, t.streams, raw})
	}
	return out, nil
}
