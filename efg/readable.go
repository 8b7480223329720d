package efg

// Readable iterates over a process as a reader of its run file would: every event of every
// stream, with its words. A damaged recording, whose graph no recorder can have made, causes a
// *StreamError. Long streams get their checkpoints in passing.
func (p *Process) Readable() error {
	for i := range p.Streams {
		s := &p.Streams[i]
		if node, err := s.readable(p.Defs); err != nil {
			return &StreamError{p.Rank, s.Thread, node, err}
		}
	}
	return nil
}

func (s *Stream) readable(defs []Def) (node int, err error) {
	if node, err := CheckTimes(s); err != nil {
		return node, err
	}
	if s.Events >= 2*s.CheckpointDistance() && s.Checkpoints == nil {
		return -1, s.AddCheckpoints(defs, s.CheckpointDistance())
	}
	w := s.Walk(defs)
	for w.Next() {
		if w.nodes[w.cur].hasAttr && w.Words() == nil {
			break
		}
	}
	return -1, w.err
}
