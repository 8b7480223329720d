package runfile

import (
	"fmt"
	"sort"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

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
	want, err := r.wanted(i, j, s, part, len(blocks))
	if err != nil {
		return nil, err
	}
	number := blocks[part].block
	take := r.timesTaker(number)
	if blocks[part].streams == 1 {
		return r.ofOne.get(number, func() (*efg.TimesPart, error) {
			b, err := r.read(number)
			if err != nil {
				return nil, err
			}
			p := take(b, want)
			return p, b.Err
		})
	}
	kept, err := r.shared.find(r, number)
	if err != nil {
		return nil, err
	}
	b, at := kept.open(blocks[part].first, n)
	for ; at < n; at++ {
		take(b, r.passed(at))
	}
	p := take(b, want)
	if b.Err == nil {
		kept.reach(n+1, b)
	}
	return p, b.Err
}

// wanted is what a part, of several, of the times of Procs[i].Streams[j] contains.
func (r *Run) wanted(i, j int, s *efg.Stream, part, parts int) (want wantedTimes, err error) {
	if part >= parts {
		return want, fmt.Errorf("%w: part %d of %d", efg.ErrTimes, part, parts)
	}
	checkpoints := s.Checkpoints
	if parts == 1 {
		checkpoints = nil
	} else if checkpoints == nil || uint64(parts) > checkpoints.Events.Len()+1 {
		return want, fmt.Errorf("%w: %d parts, other checkpoints", efg.ErrTimes, parts)
	}
	from, to, err := checkpoints.Span(s, uint64(part))
	if err != nil {
		return want, err
	}
	before, end := sum(from), sum(to)
	timed := s.Events - r.Procs[i].Streams[j].Untimed
	if before > timed || part == parts-1 && end < timed {
		return want, fmt.Errorf("%w: %d parts of %d events, other checkpoints", efg.ErrTimes, parts, timed)
	}
	for k := range to {
		to[k] -= from[k]
	}
	return wantedTimes{s.Nodes, to, min(timed, end) - before, timed < end}, nil
}

// passed is what a block contains of the times of stream n of the file, if these are not wanted.
func (r *Run) passed(n int) wantedTimes {
	i := sort.Search(len(r.Procs), func(i int) bool { return r.Procs[i].first > n }) - 1
	s := &r.Procs[i].Streams[n-r.Procs[i].first]
	return wantedTimes{events: s.Events - s.Untimed, early: s.Untimed > 0}
}

// timesTaker returns the function that takes times from a block.
func (r *Run) timesTaker(number int) func(*block.Block, wantedTimes) *efg.TimesPart {
	switch r.blocks[number].Kind {
	case blockTrace:
		return takeTrace
	case blockValues:
		return valuesTaker(len(r.Meta.Counters))
	}
	return takeTimes
}

// attachTrace gives a stream that was read its times: at once if they are in
// one part, else as they are needed.
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
		s.Trace = r.traceOf(h.trace, i, j)
		s.ReadTimesFrom(&traceParts{r, i, j, s})
		return nil
	}
	p, err := r.readTrace(i, j, s, 0)
	if err != nil || p == nil {
		return err
	}
	s.Trace = r.traceOf(p.Trace, i, j)
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
