package efg

import (
	"fmt"
	"io"
)

// Readable goes through a process as those do who read it from a run file: every event
// of every stream, with its words. A recording that was damaged, and whose graph no
// recorder can have made, is a *StreamError. Long streams get their marks on the way.
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
	if s.Events >= 2*markDistance && s.Marks == nil {
		return -1, s.Mark(defs, markDistance)
	}
	w := s.Walk(defs)
	for w.Next() {
		if w.nodes[w.cur].hasAttr && w.Words() == nil {
			break
		}
	}
	return -1, w.err
}

// ReadBack reads a run file of this size that was just written: all of its pieces, and of
// processes that share all of theirs one.
func ReadBack(file io.ReaderAt, size int64) error {
	r, err := NewRun(file, size)
	if err == nil {
		err = r.readBack()
	}
	if err != nil {
		return fmt.Errorf("what was written does not read: %w", err)
	}
	return nil
}

func (r *Run) readBack() error {
	if _, err := r.Sites(); err != nil {
		return err
	}
	if err := r.validatePieces(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range r.Procs {
		key := r.Procs[i].piecesKey()
		if seen[key] {
			continue
		}
		seen[key] = true
		if _, err := r.Process(i); err != nil {
			return err
		}
	}
	return nil
}

// piecesKey is equal for processes that share all their pieces.
func (p *ProcInfo) piecesKey() string {
	key := fmt.Append(nil, p.defs)
	for i := range p.Streams {
		key = fmt.Append(key, " ", p.Streams[i].piece)
	}
	for _, e := range p.extras() {
		key = fmt.Append(key, " ", e.piece)
	}
	return string(key)
}
