package runfile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
)

// Validate checks everything that the format requires, including what a reader does not need:
// every block, every graph, and that the index agrees with them.
func Validate(r *Run) error {
	if _, err := r.Sites(); err != nil {
		return err
	}
	if err := r.validateGroups(); err != nil {
		return err
	}
	for i := range r.Procs {
		info := &r.Procs[i]
		if i > 0 && info.Rank >= 0 && uint(info.Rank) <= uint(r.Procs[i-1].Rank) {
			return fmt.Errorf("process %d: rank %d after %d", i, info.Rank, r.Procs[i-1].Rank)
		}
		p, err := r.Process(i)
		if err != nil {
			return err
		}
		if n, err := efg.CheckDefs(p.Defs); err != nil {
			return fmt.Errorf("rank %d, definition %d: %w", info.Rank, n, err)
		}
		for j := range p.Streams {
			if err := r.validateStream(info, j, &p.Streams[j]); err != nil {
				return err
			}
		}
	}
	if err := r.validateTimes(); err != nil {
		return err
	}
	if err := r.validateCounters(); err != nil {
		return err
	}
	return r.validateTraces()
}

// validateGroups checks that every group has as many members as the index says.
func (r *Run) validateGroups() error {
	members := make([]uint64, len(r.groups))
	used := map[int]bool{} // parts of long sequences
	for i := range r.Procs {
		members[r.Procs[i].defs]++
		for j := range r.Procs[i].Streams {
			members[r.Procs[i].Streams[j].group]++
		}
		for _, e := range r.Procs[i].extras() {
			members[e.group]++
		}
	}
	for n := range r.groups {
		p, err := r.group(n)
		if err != nil {
			return err
		}
		if p.members != members[n] {
			return &CorruptError{Section: "index", Cause: fmt.Errorf("group %d has %d members, not %d", n, p.members, members[n])}
		}
		for _, b := range p.bodies {
			for _, n := range b.PartBlocks() {
				used[n] = true
			}
		}
		nodes, edges := uint64(0), uint64(0)
		if p.kind == recordGraph {
			nodes, edges = shapeSizes(p.shape)
		}
		if nodes != r.groups[n].nodes || edges != r.groups[n].edges {
			return &CorruptError{Section: "index", Cause: fmt.Errorf("group %d has %d nodes and %d edges", n, nodes, edges)}
		}
	}
	if len(used) != len(r.parts) {
		return &CorruptError{Section: "index", Cause: fmt.Errorf("%d parts of long sequences, %d are used", len(r.parts), len(used))}
	}
	return nil
}

// validateTimes checks that statistics blocks have no unused values.
func (r *Run) validateTimes() error {
	for _, s := range r.stats {
		b, err := r.read(s.block)
		if err != nil {
			return err
		}
		for i := s.first; i < s.first+s.procs; i++ {
			for range r.Procs[i].Streams {
				r.takeStats(b, nil, nil)
			}
		}
		if err := b.Close(); err != nil {
			return err
		}
	}
	return nil
}

// validateTraces checks that trace blocks have no unused values, and that all parts of a
// stream's times exist.
func (r *Run) validateTraces() error {
	for i := range r.Procs {
		for j := range r.Procs[i].Streams {
			blocks := r.traceBlocks(r.Procs[i].first + j)
			if len(blocks) < 2 {
				continue
			}
			p, err := r.Process(i)
			if err != nil {
				return err
			}
			if s := &p.Streams[j]; s.Trace == nil || len(s.Nodes) == 0 || s.LoadTimes() != nil {
				return &efg.StreamError{Rank: r.Procs[i].Rank, Thread: s.Thread, Node: -1, Cause: fmt.Errorf("%w: parts that do not fit", efg.ErrTimes)}
			}
		}
	}
	for k, t := range r.traces {
		if t.streams == 0 || k > 0 && t.first < r.traces[k-1].first+r.traces[k-1].streams && (t != traceBlock{r.traces[k-1].first, 1, t.block} || r.traces[k-1].streams != 1) {
			return &CorruptError{Section: "index", Cause: fmt.Errorf("trace block %d overlaps the one before", k)}
		}
		if k+1 < len(r.traces) && r.traces[k+1].first == t.first || k > 0 && r.traces[k-1].first == t.first {
			continue // a part: LoadTimes has read it
		}
		b, err := r.read(t.block)
		if err != nil {
			return err
		}
		take := r.timesTaker(t.block)
		for n := t.first; n < t.first+t.streams; n++ {
			take(b, r.passed(n))
		}
		if err := b.Close(); err != nil {
			return err
		}
	}
	return nil
}

// checkValues checks what counters counted at each event. s is a copy: the times that it loads are not kept.
func checkValues(s efg.Stream) (node int, err error) {
	s.Nodes = slices.Clone(s.Nodes)
	if err := s.LoadTimes(); err != nil {
		return -1, err
	}
	if node, err = efg.CheckTimes(&s); err == nil {
		node, err = efg.CheckValues(&s)
	}
	return node, err
}

func (r *Run) validateStream(proc *ProcInfo, j int, s *efg.Stream) error {
	info := &proc.Streams[j]
	node, err := efg.CheckStream(s)
	if err == nil && s.Trace != nil && s.Trace.Counters > 0 {
		node, err = checkValues(*s)
	}
	switch {
	case err != nil:
	case info.Words != s.WordCount():
		node, err = -1, errors.New("index and graph disagree on the number of words")
	case j > 0 && info.Thread <= proc.Streams[j-1].Thread:
		node, err = -1, errors.New("threads are not in order")
	}
	if err != nil {
		return &efg.StreamError{Rank: proc.Rank, Thread: info.Thread, Node: node, Cause: err}
	}
	return nil
}
