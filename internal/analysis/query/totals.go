package query

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/regions"
)

// Table is the result of a query for totals. Cells are nil, int64, uint64,
// float64 or string.
type Table struct {
	Columns []string
	Rows    [][]any
}

// cell sums a field.
type cell struct {
	n, sum   uint64
	min, max uint64
}

func (c *cell) add(v, times uint64) { c.merge(&cell{times, v * times, v, v}) }

func (c *cell) merge(o *cell) {
	if o.n == 0 {
		return
	}
	if c.n == 0 || o.min < c.min {
		c.min = o.min
	}
	c.max = max(c.max, o.max)
	c.n += o.n
	c.sum += o.sum
}

// row is a row of totals.
type row struct {
	key   []any  // int64, float64 or string
	none  []bool // by part of the key: it has no value
	count uint64
	cells []cell
}

// rows are rows by key.
type rows map[string]*row

func (t rows) merge(o rows) {
	for k, r := range o {
		to := t[k]
		if to == nil {
			t[k] = r
			continue
		}
		to.count += r.count
		for i := range to.cells {
			to.cells[i].merge(&r.cells[i])
		}
	}
}

// totaler sums the calls of a process.
type totaler struct {
	*reader
	rows rows
	key  []byte
	seen []*row
	// byNode counts the matching events of a node by row, for times.
	byNode map[*row]uint64
}

func newTotaler(r *reader) *totaler {
	return &totaler{reader: r, rows: rows{}, byNode: map[*row]uint64{}}
}

// call sums the matching operations of a call: its events count once in each row.
func (t *totaler) call(c *analysis.Call) {
	t.seen = t.seen[:0]
	for _, k := range t.match(c) {
		t.item.op = &c.Operations[k]
		row := t.row(&t.item)
		if t.unit.messages || !slices.Contains(t.seen, row) {
			t.seen = append(t.seen, row)
			row.count += c.Times
			t.byNode[row] += c.Times
			t.addTime(row)
		}
		for i, a := range t.aggregates {
			if a.field == nil || a.field.number == nil {
				continue
			}
			if v, ok := a.field.number(&t.item); ok {
				row.cells[i].add(uint64(v), c.Times)
			}
		}
	}
}

// addTime adds the time of the current event, if it has one of its own, without that of the calls
// inside.
func (t *totaler) addTime(r *row) {
	if t.timeTotal == nil || !t.item.timed {
		return
	}
	for i, a := range t.aggregates {
		if a.field != nil && a.field.name == "TIME" {
			r.cells[i].add(uint64(max(0, t.item.end-t.item.start-t.item.inside)), 1)
		}
	}
}

// row finds the row of an operation.
func (t *totaler) row(i *item) *row {
	t.key = t.key[:0]
	for _, f := range t.groups {
		if f.attribute != "" {
			t.key = append(t.key, byte(f.attributeOf(i).Kind))
		}
		if f.text {
			t.key = append(append(t.key, f.word(i)...), 0)
			continue
		}
		n, ok := f.number(i)
		t.key = fmt.Appendf(t.key, "%d %t\x00", n, ok)
	}
	r := t.rows[string(t.key)]
	if r != nil {
		return r
	}
	r = &row{cells: make([]cell, len(t.aggregates))}
	for _, f := range t.groups {
		v, ok := f.key(i)
		r.key, r.none = append(r.key, v), append(r.none, !ok)
	}
	t.rows[string(t.key)] = r
	return r
}

// key is the part of a row's key that a field is; false if the operation has no value.
func (f *field) key(i *item) (v any, ok bool) {
	switch {
	case f.attribute != "":
		x := f.attributeOf(i)
		switch x.Kind {
		case regions.NoValue:
			return nil, false
		case regions.IntValue:
			return x.Int, true
		case regions.DoubleValue:
			return x.Double, true
		}
		return x.Text, true
	case f.text:
		text := f.word(i)
		return text, text != ""
	}
	return f.number(i)
}

// endNode adds the times of a node, which are known only for all its events together.
func (t *totaler) endNode(n *efg.Node, visits uint64) error {
	defer clear(t.byNode)
	if t.timeTotal == nil || len(t.byNode) == 0 {
		return nil
	}
	if n.Stats == nil || n.Stats.Count == 0 {
		if t.traced {
			return errPart
		}
		return nil
	}
	for row, matching := range t.byNode {
		if matching != visits {
			return errPart
		}
		s := n.Stats
		for i, a := range t.aggregates {
			if a.field != nil && a.field.name == "TIME" {
				row.cells[i].merge(&cell{s.Count, s.Dur.Sum, s.Dur.Min, s.Dur.Max})
			}
		}
	}
	return nil
}

// errPart is returned if the graph does not determine the time of some calls.
var errPart = errors.New("some times were recorded only in total for calls of which the query selects a part: the time of that part is unknown")

// errRegions is returned if events of a node are in several regions.
var errRegions = errors.New("the regions of some calls follow from their order")

// Totals answers a query for totals. IsTotal must hold.
func (q *Query) Totals(run *runfile.Run) (*Table, error) {
	e, err := q.bind(run)
	if err != nil {
		return nil, err
	}
	if e.fanIn || e.fanOut {
		return e.fans()
	}
	if e.aggregates == nil {
		return nil, errors.New("not a query for totals")
	}
	all, err := e.allRows()
	if !e.byEvents && (errors.Is(err, errRegions) || errors.Is(err, errPart) && e.traced) {
		e.byEvents = true
		if err = e.checkTimes(); err == nil {
			all, err = e.allRows()
		}
	}
	if errors.Is(err, errPart) {
		err = &Error{e.text, e.timeTotal.at, err.Error()}
	}
	if err != nil {
		return nil, err
	}
	return e.table(all), nil
}

func (e *engine) allRows() (rows, error) {
	all := rows{}
	var mu sync.Mutex
	err := e.visit(func(r *reader) visitor { return newTotaler(r) }, func(v visitor) {
		mu.Lock()
		defer mu.Unlock()
		all.merge(v.(*totaler).rows)
	})
	return all, err
}

// IsTotal reports whether the query asks for totals, and not for a selection or
// the topology.
func (q *Query) IsTotal() bool { return q.isTotal() && !q.topology }

// IsTopology reports whether the query asks for the topology.
func (q *Query) IsTopology() bool { return q.topology }

// table sorts rows by their keys.
func (e *engine) table(all rows) *Table {
	t := &Table{}
	for _, f := range e.groups {
		t.Columns = append(t.Columns, strings.ToLower(f.name))
	}
	for i := range e.aggregates {
		t.Columns = append(t.Columns, e.aggregates[i].name())
	}
	if len(all) == 0 && len(e.groups) == 0 {
		all[""] = &row{cells: make([]cell, len(e.aggregates))}
	}
	list := make([]*row, 0, len(all))
	for _, r := range all {
		list = append(list, r)
	}
	slices.SortFunc(list, compareRows)
	for _, r := range list {
		t.Rows = append(t.Rows, e.line(r))
	}
	return t
}

func compareRows(x, y *row) int {
	for i := range x.key {
		if c := cmp.Or(-cmp.Compare(truth(x.none[i]), truth(y.none[i])), compareKeys(x.key[i], y.key[i])); c != 0 {
			return c
		}
	}
	return 0
}

// compareKeys compares two numbers or texts; numbers come first.
func compareKeys(a, b any) int {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y)
		}
	}
	s, sText := a.(string)
	t, tText := b.(string)
	if sText || tText {
		return cmp.Or(cmp.Compare(truth(sText), truth(tText)), cmp.Compare(s, t))
	}
	return cmp.Compare(number(a), number(b))
}

func number(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (e *engine) line(r *row) []any {
	var list []any
	for i, v := range r.key {
		if r.none[i] {
			v = nil
		}
		list = append(list, v)
	}
	for i := range e.aggregates {
		list = append(list, e.aggregates[i].value(r, &r.cells[i]))
	}
	return list
}

func (a *aggregate) value(r *row, c *cell) any {
	switch {
	case a.field == nil:
		return r.count
	case a.function == "SUM":
		return c.sum
	case c.n == 0:
		return nil
	case a.function == "MIN":
		return c.min
	case a.function == "MAX":
		return c.max
	}
	return float64(c.sum) / float64(c.n)
}
