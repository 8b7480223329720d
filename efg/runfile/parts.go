package runfile

import (
	"container/list"
	"fmt"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// keptShared is the number of decoded blocks with the times of several streams that a run
// keeps, and keptParts the approximate number of bytes of codes in others.
const (
	keptShared = 4
	keptParts  = 24 << 20
)

// partCache keeps the most recently used blocks with the times of one stream, or a part of it.
type partCache struct {
	mu     sync.Mutex
	bytes  int
	blocks map[int]*list.Element
	recent list.List // of *keptPart, the most recently used in front
}

type keptPart struct {
	block int
	bytes int
	once  sync.Once
	part  *efg.TimesPart
	err   error
}

// get returns the part in a block; it calls read if the part is not kept.
func (c *partCache) get(block int, read func() (*efg.TimesPart, error)) (*efg.TimesPart, error) {
	c.mu.Lock()
	if c.blocks == nil {
		c.blocks = map[int]*list.Element{}
	}
	e := c.blocks[block]
	if e == nil {
		e = c.recent.PushFront(&keptPart{block: block})
		c.blocks[block] = e
	}
	c.recent.MoveToFront(e)
	k := e.Value.(*keptPart)
	c.mu.Unlock()
	k.once.Do(func() {
		k.part, k.err = read()
		c.grown(k)
	})
	return k.part, k.err
}

// grown counts what was read, and makes room for it.
func (c *partCache) grown(k *keptPart) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.part != nil {
		for i := range k.part.Times {
			k.bytes += k.part.Times[i].Size()
		}
	}
	c.bytes += k.bytes
	for c.bytes > keptParts && c.recent.Len() > 1 {
		last := c.recent.Remove(c.recent.Back()).(*keptPart)
		delete(c.blocks, last.block)
		c.bytes -= last.bytes
	}
}

// timesHead is what a block says of a stream's times, or of a part of them, in front.
type timesHead struct {
	trace efg.Trace
	clock uint64 // ticks
}

// readHead reads the head of a part of the times of stream n of the file; nil if the
// stream has none.
func (r *Run) readHead(n, part int) (*timesHead, error) {
	blocks := r.traceBlocks(n)
	if part >= len(blocks) {
		return nil, fmt.Errorf("%w: part %d of %d", efg.ErrTimes, part, len(blocks))
	}
	take, columns := takeTimesHead, timesGap
	switch r.blocks[blocks[part].block].Kind {
	case blockTrace:
		take, columns = takeTraceHead, traceGap
	case blockValues:
		take, columns = headTaker(len(r.Meta.Counters)), valuesSets
	}
	_, b, err := r.readColumns(blocks[part].block, columns)
	if err != nil {
		return nil, err
	}
	for at := blocks[part].first; at < n; at++ {
		take(b)
	}
	h, _ := take(b)
	return h, b.Err
}

// takeTraceHead reads the head of a stream's times and the number of its nodes; nil if the
// stream has no times.
func takeTimesHead(b *block.Block) (h *timesHead, nodes uint64) {
	n := b.Get(timesNodes)
	if n == 0 || b.Err != nil {
		return nil, 0
	}
	t := efg.Trace{Error: uint32(b.Below(timesError, efg.ErrorUnit, "error")), Bound: b.Get(timesBound), Begin: b.Get(timesBegin)}
	return &timesHead{t, b.Get(timesClock)}, n - 1
}

// Span is when a stream's recording began and ended, in ns since the run began.
type Span struct{ Begin, End int64 }

// Spans returns when the streams of Procs[i] with traced times began and ended; of a stream whose
// last events have no times, when the last one that has some ended. If the file also has statistics,
// it does not read the times of other streams: an end is then not before that of the last event,
// and later by at most twice the error of the times and what the rate of its clock may be wrong.
func (r *Run) Spans(i int) ([]Span, error) {
	p, err := r.Untimed(i)
	if err == nil {
		err = r.readTimes(i, p.Streams, p.Defs)
	}
	if err != nil {
		return nil, err
	}
	var out []Span
	for j := range p.Streams {
		s := &p.Streams[j]
		n := r.Procs[i].first + j
		if len(r.traceBlocks(n)) == 0 {
			continue
		}
		h, err := r.readHead(n, 0)
		if err != nil {
			return nil, err
		}
		if h == nil {
			continue
		}
		took, err := r.took(i, j, s, h)
		if err != nil {
			return nil, err
		}
		begin := int64(r.traceOf(h.trace, i, j).BeginMono()) + p.Clock
		out = append(out, Span{begin, begin + int64(took)})
	}
	return out, nil
}

// ownRate is the most by which the rate of the clock that a process measured alone, in a millisecond
// or until it was killed, is wrong: one in so many.
const ownRate = 40_000

// took is how long a stream took.
func (r *Run) took(i, j int, s *efg.Stream, h *timesHead) (uint64, error) {
	sum, early := uint64(0), r.Procs[i].Streams[j].Untimed > 0
	for k := range s.Nodes {
		st := s.Nodes[k].Stats
		if st == nil || early {
			if err := r.attachTrace(i, j, s); err != nil {
				return 0, err
			}
			return s.Elapsed()
		}
		sum += st.Gap.Sum + st.Dur.Sum
	}
	trace := r.traceOf(h.trace, i, j)
	if trace.Clock.Rate != 0 { // statistics are converted with the rate that the process alone knew
		sum += sum / ownRate
	}
	return trace.Passed(sum+trace.BoundNS(), 2*int64(s.Events)), nil
}
