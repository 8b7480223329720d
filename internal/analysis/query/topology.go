package query

import (
	"fmt"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/topology"
)

// Topology holds which ranks communicate with which, and the shape of that graph.
type Topology struct {
	topology.Shape
	Table *Table // rank, sends_to, receives_from: for the selected ranks
}

// Topology answers SELECT TOPOLOGY.
func (q *Query) Topology(run *runfile.Run) (*Topology, error) {
	e, err := q.bind(run)
	if err != nil {
		return nil, err
	}
	size := 0
	for i, p := range run.Procs {
		size = max(size, p.Rank+1, e.first[i]+p.Size)
	}
	if size > maxRanks {
		return nil, fmt.Errorf("%w: %d", analysis.ErrTooLarge, size)
	}
	to := make([][]int, size)
	var mu sync.Mutex
	err = e.visit(func(r *reader) visitor {
		return &edgeVisitor{reader: r, to: map[int]bool{}}
	}, func(v visitor) {
		mu.Lock()
		defer mu.Unlock()
		f := v.(*edgeVisitor)
		if f.Data.Rank < 0 {
			return
		}
		list := to[f.Data.Rank]
		for r := range f.to {
			if r < size {
				list = append(list, r)
			}
		}
		slices.Sort(list)
		to[f.Data.Rank] = slices.Compact(list)
	})
	if err != nil {
		return nil, err
	}
	return &Topology{topology.Recognise(to), e.neighbours(to)}, nil
}

const maxRanks = 1 << 22

// edgeVisitor collects the ranks that a process sends to.
type edgeVisitor struct {
	*reader
	to map[int]bool
}

func (v *edgeVisitor) call(c *analysis.Call) {
	for _, k := range v.match(c) {
		if to := c.Operations[k].Peer; to >= 0 && to != v.Data.Rank {
			v.to[to] = true
		}
	}
}

func (v *edgeVisitor) endNode(*efg.Node, uint64) error { return nil }

func (e *engine) neighbours(to [][]int) *Table {
	from := make([][]int, len(to))
	for r, list := range to {
		for _, s := range list {
			from[s] = append(from[s], r)
		}
	}
	t := &Table{Columns: []string{"rank", "sends_to", "receives_from"}}
	for _, rank := range e.shown() {
		t.Rows = append(t.Rows, []any{int64(rank), append([]int{}, to[rank]...), append([]int{}, from[rank]...)})
	}
	return t
}

// AppendJSON appends a line for the shape, and one for each rank.
func (t *Topology) AppendJSON(b []byte) []byte {
	s := &t.Shape
	dims, wrap := s.Dims, s.Wrap
	if dims == nil {
		dims, wrap = []int{}, []bool{}
	}
	head := &Table{Columns: []string{"topology", "description", "ranks", "parts", "dims", "wrap", "diagonals", "one_way"}}
	head.Rows = [][]any{{string(s.Kind), s.String(), s.Ranks, s.Parts, dims, wrap, s.Diagonals, s.OneWay}}
	return t.Table.AppendJSON(head.AppendJSON(b))
}
