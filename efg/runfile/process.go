package runfile

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
)

// Process reads everything of Procs[i].
func (r *Run) Process(i int) (*efg.Process, error) {
	p, err := r.Timed(i)
	if err != nil {
		return nil, err
	}
	return p, r.readSums(i, p)
}

// Timed reads Procs[i] with the times of each event, and what counters counted at each, but without statistics, and without
// the states of the counters.
func (r *Run) Timed(i int) (*efg.Process, error) {
	p, err := r.Untimed(i)
	if err != nil {
		return nil, err
	}
	if r.HasCounterValues() {
		p.Counters = r.countersByNumber()
	}
	for j := range p.Streams {
		if err := r.attachTrace(i, j, &p.Streams[j]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Summed reads Procs[i] without the times of each event, but with statistics.
func (r *Run) Summed(i int) (*efg.Process, error) {
	p, err := r.Untimed(i)
	if err != nil {
		return nil, err
	}
	return p, r.readSums(i, p)
}

// header is Procs[i] without definitions and streams.
func (r *Run) header(i int) *efg.Process {
	info := &r.Procs[i]
	p := &efg.Process{
		Rank: info.Rank, Size: info.Size, World: info.World, PID: info.PID, Host: info.Host,
		Command: info.Command, MPI: info.MPI, Start: info.Start, Gone: info.Gone, Mono: info.Mono, Anchors: info.Anchors, Clock: r.clock(info), WorldBase: info.Rank - int(info.inIts), SiteDepth: r.depth,
	}
	if p.Start == 0 {
		p.Began = r.worlds[info.world].start
	}
	if !r.exact {
		sum := r.hashOfFirst(i)
		p.Sum = &sum
	}
	return p
}

// Untimed reads Procs[i] without times.
func (r *Run) Untimed(i int) (*efg.Process, error) {
	info, p := &r.Procs[i], r.header(i)
	x, err := r.defs(i)
	if err != nil {
		return nil, err
	}
	p.Defs = x.list
	for j := range info.Streams {
		s, err := r.stream(i, j, x)
		if err != nil {
			return nil, err
		}
		p.Streams = append(p.Streams, *s)
	}
	return p, nil
}

// Defs reads the definitions of Procs[i], in the order in which it made them.
func (r *Run) Defs(i int) ([]efg.Def, error) {
	x, err := r.defs(i)
	if err != nil {
		return nil, err
	}
	return x.list, nil
}

func (r *Run) defs(i int) (*defIndex, error) {
	info := &r.Procs[i]
	p, err := r.groupOf(int(info.defs), recordDefs)
	if err != nil {
		return nil, err
	}
	x, err := p.defs(uint64(info.ordinal), r.str, int64(info.inIts), int64(info.Size))
	if err != nil {
		return nil, &CorruptError{Section: fmt.Sprintf("group %d", info.defs), Cause: err}
	}
	return x, nil
}

// stream reads Procs[i].Streams[j] without its times.
func (r *Run) stream(i, j int, x *defIndex) (*efg.Stream, error) {
	proc, info := &r.Procs[i], &r.Procs[i].Streams[j]
	s := &efg.Stream{Thread: info.Thread, Events: info.Events, Hash: info.hash, Dropped: info.Dropped, End: info.End}
	p, err := r.groupOf(info.group, recordGraph)
	if err != nil {
		return nil, err
	}
	in := ranksOf(int(proc.inIts), proc.Size, x.list)
	if s.Nodes, err = p.graph(uint64(info.member), info.Thread, x, in); err != nil {
		return nil, &CorruptError{Section: fmt.Sprintf("group %d", info.group), Cause: err}
	}
	if info.checkpoints > 0 {
		p, err := r.groupOf(info.checkpoints-1, recordCheckpoints)
		if err == nil {
			s.Checkpoints, err = p.checkpoints(uint64(info.checkpointMember))
		}
		if err != nil {
			return nil, err
		}
	}
	s.Pending, err = r.pendingOf(i, j, x)
	return s, err
}

// Stream reads Procs[i].Streams[j].
func (r *Run) Stream(i, j int) (*efg.Stream, error) {
	p, err := r.Process(i)
	if err != nil {
		return nil, err
	}
	return &p.Streams[j], nil
}
