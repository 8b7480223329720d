package timeline

import (
	"context"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// leafEvents is the approximate number of events that are walked for one chunk; a chunk with
// more events is made from its halves. Tests change it.
var leafEvents uint64 = 4 << 20

// budget is the number of events that may still be walked for a query.
type budget struct {
	mu   sync.Mutex
	left uint64
	all  bool // no limit
}

// take reserves events to be walked, if the budget allows.
func (b *budget) take(n uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all {
		return true
	}
	if b.left == 0 {
		return false
	}
	b.left -= min(b.left, max(n, 1))
	return true
}

// checkpointTimes are the known times of a stream's checkpoints since its clock began. They outlive
// the stream's graph.
type checkpointTimes struct {
	mu     sync.Mutex
	events []uint64 // before each checkpoint
	at     map[int]int64
}

// stream is a stream that is being read.
type stream struct {
	*efg.Stream
	number      int // in the run
	begin       int64
	checkpoints *checkpointTimes
	procs       []uint16 // by node
	nested      []bool   // by node: its calls were made inside others
	annotates   []bool   // by node: it is an annotation, and no call
	unfinished  *unfinished
}

func newStream(p *efg.Process, s *efg.Stream, number int, marks *checkpointTimes) *stream {
	out := &stream{Stream: s, number: number, begin: int64(s.Trace.BeginMono()) + p.Clock, checkpoints: marks, procs: make([]uint16, len(s.Nodes)), nested: make([]bool, len(s.Nodes)), annotates: make([]bool, len(s.Nodes))}
	for i := range s.Nodes {
		h := signature.Header(s.Nodes[i].Words[0])
		out.procs[i], out.nested[i], out.annotates[i] = uint16(h.Proc()), h.Depth() > 0, signature.ProcByID(h.Proc()).Annotates()
	}
	marks.mu.Lock()
	defer marks.mu.Unlock()
	if marks.at == nil {
		marks.at = map[int]int64{}
		if s.Checkpoints != nil {
			it := s.Checkpoints.Events.Iter()
			for e, ok := it.Next(); ok && (e < s.TimedEvents() || s.Trace.Untimed == 0); e, ok = it.Next() {
				marks.events = append(marks.events, e)
			}
		}
	}
	return out
}

// checkpointTime is the time at checkpoint k.
func (s *stream) checkpointTime(k int) (int64, error) {
	s.checkpoints.mu.Lock()
	at, ok := s.checkpoints.at[k]
	s.checkpoints.mu.Unlock()
	if ok {
		return s.begin + at, nil
	}
	passed, err := s.CheckpointTime(k)
	if err != nil {
		return 0, err
	}
	s.noteCheckpoint(k, passed)
	return s.begin + int64(passed), nil
}

func (s *stream) noteCheckpoint(k int, at uint64) {
	s.checkpoints.mu.Lock()
	defer s.checkpoints.mu.Unlock()
	s.checkpoints.at[k] = int64(at)
}

// checkpointsUpTo is the number of checkpoints up to a time, inclusive.
func (s *stream) checkpointsUpTo(at int64) (int, error) {
	var failed error
	n := sort.Search(len(s.checkpoints.events), func(k int) bool {
		t, err := s.checkpointTime(k)
		if err != nil {
			failed = err
		}
		return t > at
	})
	return n, failed
}

// around determines where a walk must start to see all calls from a time on, how many events
// lie between the checkpoints around an interval, and whether there are checkpoints in the
// interval.
func (s *stream) around(from, to int64) (first, events uint64, divided bool, err error) {
	a, err := s.checkpointsUpTo(from)
	if err != nil {
		return 0, 0, false, err
	}
	b, err := s.checkpointsUpTo(to - 1)
	if err != nil {
		return 0, 0, false, err
	}
	end := s.TimedEvents()
	if a > 0 {
		first = s.checkpoints.events[a-1]
	}
	if b < len(s.checkpoints.events) {
		end = s.checkpoints.events[b]
	}
	return first, end - min(first, end), b > a, nil
}

// walk calls show for the outermost calls, without annotations, that end after from and start before to, in order, and at last for the
// one that had not returned. It also reports whether there are no later ones, and when the last one ended.
func (s *stream) walk(ctx context.Context, first uint64, from, to int64, show func(node int, start, end int64)) (ended bool, last int64, err error) {
	clock, err := s.ClockFrom(first)
	if err != nil {
		return false, 0, err
	}
	w := s.WalkFrom(nil, first)
	last = s.begin + int64(clock.Now())
	mark := sort.Search(len(s.checkpoints.events), func(k int) bool { return s.checkpoints.events[k] > first })
	for n := 0; w.Seq()+1 < s.TimedEvents() && w.Next(); n++ {
		if mark < len(s.checkpoints.events) && s.checkpoints.events[mark] == w.Seq() {
			s.noteCheckpoint(mark, uint64(last-s.begin))
			mark++
		}
		a, b, err := clock.Next(uint32(w.Node()))
		if err != nil {
			return false, 0, err
		}
		if s.nested[w.Node()] {
			continue
		}
		start, end := s.begin+int64(a), s.begin+int64(b)
		if start >= to {
			return false, 0, nil
		}
		if last = end; end >= from && !s.annotates[w.Node()] {
			show(w.Node(), start, end)
		}
		if n&0xfff == 0 && ctx.Err() != nil {
			return false, 0, ctx.Err()
		}
	}
	if u := s.unfinished; u != nil && max(u.from, last) < u.to {
		start := max(u.from, last)
		if start >= to {
			return false, 0, w.Err()
		}
		last = u.to
		show(u.node, start, last)
	}
	return true, last, w.Err()
}

// maker makes chunks of a stream.
type maker struct {
	ctx    context.Context
	stream *stream
	cache  *cache
	budget *budget
}

// make returns the chunk at a place; parts may be missing if the budget is used up.
func (m *maker) make(p place) (*chunk, error) {
	if c := m.cache.get(p); c != nil {
		return c, nil
	}
	from, to := p.span()
	first, events, divided, err := m.stream.around(from, to)
	if err != nil {
		return nil, err
	}
	var c *chunk
	switch {
	case p.level > 0 && (divided && events > leafEvents || m.halvesKept(p)):
		a, err := m.make(p.half(0))
		if err != nil {
			return nil, err
		}
		b, err := m.make(p.half(1))
		if err != nil {
			return nil, err
		}
		c = join(a, b)
	case !m.budget.take(events):
		return unknown(), nil
	default:
		if c, err = m.count(p, first); err != nil {
			return nil, err
		}
	}
	if len(c.missing) == 0 {
		m.cache.put(p, c)
	}
	return c, nil
}

func (m *maker) halvesKept(p place) bool {
	return m.cache.get(p.half(0)) != nil && m.cache.get(p.half(1)) != nil
}

// count walks through the events of a chunk's time.
func (m *maker) count(p place, first uint64) (*chunk, error) {
	s := m.stream
	from, to := p.span()
	sums := map[uint16]*[chunkCells]uint64{}
	ended, last, err := s.walk(m.ctx, first, from, to, func(node int, start, end int64) {
		sum := sums[s.procs[node]]
		if sum == nil {
			sum = new([chunkCells]uint64)
			sums[s.procs[node]] = sum
		}
		spread(sum, p.level, from, max(start, from), min(end, to))
	})
	if err != nil {
		return nil, err
	}
	until := int64(math.MaxInt64)
	if ended {
		until = last
	}
	c := &chunk{from: max(from, s.begin), until: min(to, until)}
	if c.until <= c.from {
		c.from, c.until = 0, 0
	}
	for proc, sum := range sums {
		for i, ns := range sum {
			if ns > 0 {
				c.entries = append(c.entries, entry{uint16(i), proc, ns})
			}
		}
	}
	c.entries = slices.Clip(addUp(c.entries))
	return c, nil
}

// spread adds an interval to the cells that it overlaps; the first cell begins at base.
func spread(sum *[chunkCells]uint64, level uint8, base, from, to int64) {
	for from < to {
		cell := (from - base) >> level
		end := min(to, base+(cell+1)<<level)
		sum[cell] += uint64(end - from)
		from = end
	}
}
