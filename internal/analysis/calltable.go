package analysis

import (
	"github.com/efg-tools/efg/reconstruct"
)

// callTable says which row each node of a process belongs to.
type callTable struct {
	rows   [][]int32 // by stream and node; -1 for annotations, which are not calls
	keys   []callKey // by row
	op     []int32   // by row: number of the procedure
	setup  []bool    // by number of a procedure: it begins or ends MPI
	calls  []*OpRow
	ops    []*OpRow
	waiter []bool // by row: the call may wait for other processes
	// annotated: there are annotations.
	annotated bool
}

// maxTables bounds the tables that are kept for other ranks of a class.
const maxTables = 1 << 12

// table finds or makes the table of a process.
func (b *reportBuilder) table(p *Process, nodes [][]Node) *callTable {
	key, ok := p.Class()
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tables[key]; ok && t != nil {
		return t
	}
	t := newCallTable(nodes)
	b.nameSites(p, t.keys)
	names := make([]string, len(t.ops))
	for i, k := range t.keys {
		t.calls = append(t.calls, rowOf(b.calls, k))
		names[t.op[i]] = k.op
	}
	t.setup = make([]bool, len(t.ops))
	for i, op := range names {
		t.ops[i], t.setup[i] = rowOf(b.ops, callKey{op: op}), !Running(op)
	}
	if ok && len(b.tables) < maxTables {
		b.tables[key] = t
	}
	return t
}

func rowOf(rows map[callKey]*OpRow, key callKey) *OpRow {
	if rows[key] == nil {
		rows[key] = &OpRow{Op: key.op}
	}
	return rows[key]
}

func newCallTable(nodes [][]Node) *callTable {
	t := &callTable{}
	rows, ops := map[callKey]int32{}, map[string]int32{}
	for _, list := range nodes {
		at := make([]int32, len(list))
		for k := range list {
			if list[k].Annotates() {
				at[k], t.annotated = -1, true
				continue
			}
			key := callKey{list[k].Op, list[k].Site}
			row, ok := rows[key]
			if !ok {
				row = int32(len(t.keys))
				rows[key] = row
				op, ok := ops[key.op]
				if !ok {
					op = int32(len(ops))
					ops[key.op] = op
				}
				t.keys, t.op, t.waiter = append(t.keys, key), append(t.op, op), append(t.waiter, waits(key.op))
			}
			at[k] = row
		}
		t.rows = append(t.rows, at)
	}
	t.ops = make([]*OpRow, len(ops))
	return t
}

// nameSites finds the texts of new callsites.
func (b *reportBuilder) nameSites(p *Process, keys []callKey) {
	var own *reconstruct.Names
	for _, key := range keys {
		if _, ok := b.siteTexts[key.site]; ok {
			continue
		}
		names := b.names
		if !b.known[key.site] {
			if own == nil {
				own = reconstruct.NewNames(places(p.Data.Defs), nil)
			}
			names = own
		}
		b.siteTexts[key.site], b.sitePaths[key.site] = names.Site(key.site), names.Path(key.site)
		if b.sitePaths[key.site] == nil {
			b.sitePaths[key.site] = []string{names.Call(key.site)}
		}
	}
}
