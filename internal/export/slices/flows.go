package slices

import (
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/table"
)

// findFlows finds the flows of messages of which both sides are drawn.
func (w *writer) findFlows() error {
	w.begin, w.finish = map[callID][]uint64{}, map[callID][]uint64{}
	drawn := map[int]bool{}
	for _, i := range w.job.Procs {
		drawn[w.job.Run.Procs[i].Rank] = true
	}
	next := uint64(0)
	matched := export.Job{Run: w.job.Run, Selection: w.job.Selection, Alone: w.job.Alone, Context: w.job.Context}
	_, _, err := table.Matched(&matched, func(b *table.Batch) error {
		of := func(name string) *table.Vector { return &b.Vectors[b.Column(name)] }
		from := [3]*table.Vector{of("send_rank"), of("send_thread"), of("send_seq")}
		to := [3]*table.Vector{of("recv_rank"), of("recv_thread"), of("done_seq")}
		sent, received := of("sent"), of("received")
		for row := range b.Rows {
			a, z := callAt(from, row), callAt(to, row)
			if received.Ints[row]-sent.Ints[row] < w.resolution || !drawn[a.rank] || !drawn[z.rank] || a == z {
				continue
			}
			next++
			w.begin[a], w.finish[z] = append(w.begin[a], next), append(w.finish[z], next)
		}
		return nil
	}, nil)
	return err
}

// callAt is the call that rank, thread and number of a row name.
func callAt(v [3]*table.Vector, row int) callID {
	return callID{int(v[0].Ints[row]), uint32(v[1].Ints[row]), uint64(v[2].Ints[row])}
}
