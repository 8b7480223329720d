package timeline

import (
	"math"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// mostAsked bounds the ranks that Work looks at, and earliest the calls of each before the one that
// begins MPI.
const (
	mostAsked = 64
	earliest  = 64
)

// Work returns the part of the run between beginning and ending MPI: from when the first rank has left
// MPI_Init to when the last one enters MPI_Finalize, ns since the run began. A rank that does not do
// either counts from its start, or to its end. Of many ranks some are looked at.
func (t *Timeline) Work() (from, to int64, err error) {
	t.work.Do(func() { t.workFrom, t.workTo, t.workErr = t.findWork() })
	return t.workFrom, t.workTo, t.workErr
}

func (t *Timeline) findWork() (from, to int64, err error) {
	begin, end, err := t.Extent()
	if err != nil {
		return 0, 0, err
	}
	from, to = math.MaxInt64, math.MinInt64
	n := len(t.run.Procs)
	for k := range min(n, mostAsked) {
		i := k * n / min(n, mostAsked)
		spans, err := t.run.Spans(i)
		if err != nil {
			return 0, 0, err
		}
		p, err := t.run.Process(i)
		if err != nil {
			return 0, 0, err
		}
		for j := range p.Streams {
			if p.Streams[j].Trace == nil || len(spans) == 0 {
				continue
			}
			span := spans[0]
			spans = spans[1:]
			s, err := t.open(p, j, t.first[i]+j)
			if err != nil {
				return 0, 0, err
			}
			a, err := s.afterInit()
			if err != nil {
				return 0, 0, err
			}
			if s.unfinished != nil {
				span.End = max(span.End, s.unfinished.to)
			}
			from, to = min(from, a), max(to, s.beforeFinalize(span.End))
		}
	}
	if from, to = max(from, begin), min(to, end); from >= to {
		return begin, end, nil
	}
	return from, to, nil
}

// afterInit is when the stream has begun MPI, or its start.
func (s *stream) afterInit() (int64, error) {
	after := s.begin
	clock, err := s.ClockFrom(0)
	if err != nil {
		return 0, err
	}
	w := s.WalkFrom(nil, 0)
	for range min(earliest, s.TimedEvents()) {
		if !w.Next() {
			return after, w.Err()
		}
		_, end, err := clock.Next(uint32(w.Node()))
		if err != nil {
			return 0, err
		}
		if p := procOf(s.Stream, w.Node()); p != nil && p.Begins {
			return s.begin + int64(end), nil
		}
	}
	return after, nil
}

// beforeFinalize is when the stream, which ends at a time, ends MPI, or that time. Calls after that take
// no time worth mentioning: the statistics say how long it took.
func (s *stream) beforeFinalize(end int64) int64 {
	for i := range s.Nodes {
		if p := procOf(s.Stream, i); p != nil && p.Ends && s.Nodes[i].Stats != nil {
			return end - int64(s.Nodes[i].Stats.Dur.Sum)
		}
	}
	return end
}

func procOf(s *efg.Stream, node int) *signature.Proc {
	return signature.ProcByID(signature.Header(s.Nodes[node].Words[0]).Proc())
}
