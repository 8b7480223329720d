package query

import (
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
)

// fans answers M_FAN_IN and M_FAN_OUT: the bytes that processes receive and send by messages
// and collectives. A message counts at both ends with the number of bytes that its sender
// sends.
func (e *engine) fans() (*Table, error) {
	in, out := map[int]uint64{}, map[int]uint64{}
	var mu sync.Mutex
	err := e.visit(func(r *reader) visitor {
		return &fanVisitor{reader: r, in: map[int]uint64{}, out: map[int]uint64{}}
	}, func(v visitor) {
		f := v.(*fanVisitor)
		mu.Lock()
		defer mu.Unlock()
		for rank, n := range f.in {
			in[rank] += n
		}
		for rank, n := range f.out {
			out[rank] += n
		}
	})
	if err != nil {
		return nil, err
	}
	return e.fanTable(in, out), nil
}

// fanVisitor sums what a process's calls move, by rank.
type fanVisitor struct {
	*reader
	in, out map[int]uint64
}

func (f *fanVisitor) call(c *analysis.Call) {
	for _, k := range f.match(c) {
		o := &c.Operations[k]
		switch o.Kind {
		case analysis.SendOperation:
			f.out[f.Data.Rank] += o.Sent * c.Times
			f.in[o.Peer] += o.Sent * c.Times
		case analysis.CollectiveOperation:
			f.out[f.Data.Rank] += o.Sent * c.Times
			f.in[f.Data.Rank] += o.Received * c.Times
		}
	}
}

func (f *fanVisitor) endNode(*efg.Node, uint64) error { return nil }

func (e *engine) fanTable(in, out map[int]uint64) *Table {
	t := &Table{Columns: []string{"rank"}}
	if e.fanIn {
		t.Columns = append(t.Columns, "m_fan_in")
	}
	if e.fanOut {
		t.Columns = append(t.Columns, "m_fan_out")
	}
	for _, rank := range e.shown() {
		line := []any{int64(rank)}
		if e.fanIn {
			line = append(line, in[rank])
		}
		if e.fanOut {
			line = append(line, out[rank])
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// shown lists the ranks in the table.
func (e *engine) shown() []int {
	var list []int
	for _, p := range e.run.Procs {
		shown := e.relation == anyProcess
		for _, s := range e.sets {
			shown = shown || s.has(p.Rank)
		}
		if p.Rank >= 0 && shown {
			list = append(list, p.Rank)
		}
	}
	return list
}
