package runfile

import (
	"fmt"
	"io"
)

// ReadBack reads the run file of this size that was just written: all of its groups, and one of
// the processes that share all of their groups. It may be called once.
func (w *Writer) ReadBack(file io.ReaderAt, size int64) error {
	r, err := NewRun(file, size)
	if err == nil {
		r.decoded, w.decoded = w.decoded, decodedEvents{}
		err = r.readBack()
		w.totals = r.totals()
	}
	if err != nil {
		return fmt.Errorf("what was written does not read: %w", err)
	}
	return nil
}

// Totals are numbers of a run.
type Totals struct {
	Processes int
	Events    uint64
	Dropped   uint64 // events that were not recorded for lack of space
}

// Totals returns those of the run that ReadBack read.
func (w *Writer) Totals() Totals { return w.totals }

func (r *Run) totals() Totals {
	t := Totals{Processes: len(r.Procs)}
	for i := range r.Procs {
		for _, s := range r.Procs[i].Streams {
			t.Events += s.Events
			t.Dropped += s.Dropped
		}
	}
	return t
}

func (r *Run) readBack() error {
	if _, err := r.Sites(); err != nil {
		return err
	}
	if err := r.validateGroups(); err != nil {
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

// piecesKey is equal for processes that share all their groups.
func (p *ProcInfo) piecesKey() string {
	key := fmt.Append(nil, p.defs)
	for i := range p.Streams {
		key = fmt.Append(key, " ", p.Streams[i].group)
	}
	for _, e := range p.extras() {
		key = fmt.Append(key, " ", e.group)
	}
	return string(key)
}
