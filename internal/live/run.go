package live

import (
	"io/fs"
	"time"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/waitfor"
	"github.com/efg-tools/efg/internal/segment"
)

// OfRun returns what the ranks of a run were doing when its recording ended, according to the
// run file; it is fs.ErrNotExist if none was in a call.
func OfRun(run *runfile.Run) (*Job, error) {
	if !EndedInCall(run) {
		return nil, fs.ErrNotExist
	}
	sites, err := run.Sites()
	if err != nil {
		return nil, err
	}
	j := &Job{Now: uint64(max(run.Meta.Ended, 0)), Sites: sites}
	first := analysis.FirstRanks(run.Procs)
	for i := range run.Procs {
		p, err := run.Process(i)
		if err != nil {
			return nil, err
		}
		r := recorded(p)
		r.First, r.Number = first[i], p.Rank
		for _, a := range r.Activities {
			j.Now = max(j.Now, a.Since)
		}
		if r.Number >= 0 {
			j.Size = max(j.Size, r.First+p.Size, r.Number+1)
		}
		j.Ranks = append(j.Ranks, r)
	}
	j.Real = time.Unix(0, int64(j.Now))
	return j, nil
}

// EndedInCall reports whether a thread of a run that had not finished was in a call.
func EndedInCall(run *runfile.Run) bool {
	for i := range run.Procs {
		for k := range run.Procs[i].Streams {
			if s := &run.Procs[i].Streams[k]; s.InCall && s.End == efg.EndOpen {
				return true
			}
		}
	}
	return false
}

// recorded is a rank according to the run file. Its clock is the time of day.
func recorded(p *efg.Process) *Rank {
	s := &segment.Segment{Process: *p}
	s.Header.StartReal = uint64(p.Start)
	s.Header.Start.Real, s.Header.Start.Mono = uint64(p.Start), uint64(p.Start)
	for i := range p.Streams {
		from := &p.Streams[i]
		if from.End == efg.EndFinalized || from.End == efg.EndExit {
			s.Header.State = uint32(from.End)
		}
		a := segment.Activity{Thread: from.Thread, Events: from.Events}
		if c := from.Pending; c != nil {
			a.InCall, a.Words, a.Since = true, c.Words, uint64(c.At(p))
			if calls := c.Calls(); len(calls) > 1 {
				a.Inner = calls[len(calls)-1].Words
			}
		} else if last := lastNode(from); last != nil {
			a.Words = last.Words
		}
		s.Activities = append(s.Activities, a)
	}
	return &Rank{Segment: s, Moved: make([]bool, len(s.Activities))}
}

// lastNode is the node of a stream's last event: the only one that is left less often than it
// is entered. It is nil if there is none.
func lastNode(s *efg.Stream) *efg.Node {
	for i, left := range waitfor.Visits(s) {
		for _, e := range s.Nodes[i].Edges {
			left -= e.Weight
		}
		if left > 0 {
			return &s.Nodes[i]
		}
	}
	return nil
}
