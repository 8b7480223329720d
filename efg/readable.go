package efg

// Readable goes through a process as those do who read it from a run file: every event
// of every stream, with its words. A recording that was damaged, and whose graph no
// recorder can have made, is a *StreamError. Long streams get their checkpoints on the way.
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
	if s.Events >= 2*CheckpointDistance && s.Checkpoints == nil {
		return -1, s.AddCheckpoints(defs, CheckpointDistance)
	}
	w := s.Walk(defs)
	for w.Next() {
		if w.nodes[w.cur].hasAttr && w.Words() == nil {
			break
		}
	}
	return -1, w.err
}
