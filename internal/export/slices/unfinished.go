package slices

import (
	"math"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis/eventrow"
	"github.com/efg-tools/efg/reconstruct"
)

// unfinished draws the calls that the thread of Data().Streams[i] was in when its recording ended, until the process was gone or the run ended, and those
// made inside them that had returned.
func (w *writer) unfinished(p *reconstruct.Process, i int) error {
	_, ended, ok := w.job.InProgress(p, i, w.last)
	if !ok {
		return w.drawInner(w.last, math.MaxInt64)
	}
	data, call := p.Data(), p.Pending(i)
	s := &data.Streams[i]
	calls := s.Pending.Calls()
	for k, c := range calls {
		w.last = min(max(w.last, c.InRun(data)), ended)
		if err := w.sink.Slice(w.openCall(call, c, s.Events, w.last, ended)); err != nil {
			return err
		}
		if k == 0 { // those inside it that had returned did so before the next one
			until := ended
			if len(calls) > 1 {
				until = min(max(w.last, calls[1].InRun(data)), ended)
			}
			if err := w.drawInner(w.last, until); err != nil {
				return err
			}
		}
		call = call.Inner()
	}
	w.last = ended
	return nil
}

func (w *writer) openCall(c *reconstruct.Pending, data *efg.Pending, number uint64, start, end int64) *Slice {
	n := eventrow.NodeOf(data.Words, w.rebuilt.Names())
	return &Slice{
		Start: start, End: end, Calls: 1, Seq: number, Name: n.Op, Class: n.Class, Site: n.Site, Func: n.Func, Path: n.Path,
		Args: c.AppendJSONArguments(nil), Out: []byte("{}"), Unfinished: true,
	}
}
