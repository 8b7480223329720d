package efg

import "fmt"

// TimesPart holds the times of a stream from one checkpoint to the next.
type TimesPart struct {
	Trace Trace
	Clock uint64  // ticks of the stream's clock before the part
	Times []Times // of each node
}

// PartReader reads the times of a long stream a part at a time. Part k, counted from 0, ends
// at checkpoint k; the last one where the stream's times end.
type PartReader interface {
	Part(k int) (*TimesPart, error)
	// Clock is TimesPart.Clock of part k.
	Clock(k int) (uint64, error)
}

// ReadTimesFrom makes the stream, which has checkpoints, read its times when they are needed.
func (s *Stream) ReadTimesFrom(r PartReader) { s.parts = r }

// LoadTimes reads the times of a stream of a run file into its nodes. Those of short streams are there; of long ones a Clock reads what it
// needs.
func (s *Stream) LoadTimes() error {
	if s.Trace == nil || s.parts == nil || len(s.Nodes) == 0 || s.Nodes[0].Times != nil {
		return nil
	}
	times := make([]Times, len(s.Nodes))
	for part := range int(s.Checkpoints.TimesParts(s)) {
		p, err := s.parts.Part(part)
		if err != nil {
			return err
		}
		if p == nil || len(p.Times) != len(times) {
			return fmt.Errorf("%w: part %d is of no stream", ErrTimes, part)
		}
		for i := range times {
			times[i].Gap.join(p.Times[i].Gap)
			times[i].Dur.join(p.Times[i].Dur)
			times[i].joinValues(&p.Times[i])
		}
	}
	for i := range times {
		s.Nodes[i].Times = &times[i]
	}
	return nil
}

func (t *Times) joinValues(o *Times) {
	if t.Values == nil && o.Values != nil {
		t.Values = make([]CounterValues, len(o.Values))
	}
	for i := range min(len(t.Values), len(o.Values)) {
		t.Values[i].join(o.Values[i])
	}
}

func (s *TimeSeq) join(o TimeSeq) {
	s.code = append(s.code, o.code...)
	s.n += o.n
}

// TimesParts is the number of parts into which the checkpoints divide the times of the stream s.
func (m *Checkpoints) TimesParts(s *Stream) uint64 {
	if m == nil || s.Trace == nil {
		return 1
	}
	if s.Trace.Untimed == 0 {
		return m.Events.Len() + 1
	}
	parts, timed := uint64(1), s.TimedEvents()
	it := m.Events.Iter()
	for at, ok := it.Next(); ok && at < timed; at, ok = it.Next() {
		parts++
	}
	return parts
}

// Span returns which visits of each node of the stream s lie in part k: from, up to
// to. Without checkpoints, nil, there is one part.
func (m *Checkpoints) Span(s *Stream, k uint64) (from, to []uint64, err error) {
	nodes, parts := len(s.Nodes), uint64(0)
	if m != nil {
		parts = m.Events.Len()
	}
	from, to = make([]uint64, nodes), s.Visits()
	if parts > 0 && len(m.Nodes) != nodes {
		return nil, nil, fmt.Errorf("%w: checkpoints of another graph", ErrTimes)
	}
	if k > 0 {
		if from, err = m.visitsAt(k - 1); err != nil {
			return nil, nil, err
		}
	}
	if k < parts {
		if to, err = m.visitsAt(k); err != nil {
			return nil, nil, err
		}
	}
	for i := range from {
		if from[i] > to[i] {
			return nil, nil, fmt.Errorf("%w: checkpoints that do not fit the graph", ErrTimes)
		}
	}
	return from, to, nil
}

// visitsAt is how often each node was visited before a checkpoint.
func (m *Checkpoints) visitsAt(checkpoint uint64) ([]uint64, error) {
	out := make([]uint64, len(m.Nodes))
	for i := range out {
		v, ok := m.Nodes[i].Visits.At(checkpoint)
		if !ok {
			return nil, fmt.Errorf("%w: checkpoints end early", ErrTimes)
		}
		out[i] = v
	}
	return out, nil
}

// CheckpointTime is how long after the beginning of the stream's clock the event before checkpoint
// k, which has times, ended.
func (s *Stream) CheckpointTime(k int) (uint64, error) {
	events, _ := s.Checkpoints.Events.At(uint64(k))
	if s.parts != nil {
		ticks, err := s.parts.Clock(k + 1)
		return s.Trace.after(ticks, 2*int64(events)-1, &warpReader{}), err
	}
	c, err := s.ClockFrom(events)
	if err != nil {
		return 0, err
	}
	return c.Now(), nil
}
