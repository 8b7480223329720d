package sql

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"modernc.org/sqlite/vtab"

	"github.com/efg-tools/efg/efg/runfile"
)

// table describes a table. Its first column is the rank, if constraints of it are pushed.
type table struct {
	name    string
	columns string // as in CREATE TABLE
	// pushed are the columns whose constraints are passed to open.
	pushed uint64
	// size estimates the number of rows.
	size func(run *runfile.Run) float64
	open func(db *Database, q *request) (rows, error)
}

// rows are the rows of a table, in some order.
type rows interface {
	// next goes to the next row; false at the end.
	next() (bool, error)
	// column returns a value of the row.
	column(i int) (any, error)
	// id is a number that the row has in every request for the same columns, and that no other
	// row has: SQLite uses it to recognise rows that it has seen in an OR.
	id() int64
	close()
}

// request says what is requested of a table.
type request struct {
	used   uint64 // columns
	bounds map[int]bounds
	texts  map[int]string // columns that must equal a text
}

// bounds of an integer column, both included.
type bounds struct{ low, high int64 }

func (q *request) bound(column int) bounds {
	if b, ok := q.bounds[column]; ok {
		return b
	}
	return bounds{math.MinInt64, math.MaxInt64}
}

func (b bounds) has(v int64) bool { return b.low <= v && v <= b.high }

// uses reports whether one of some columns is requested.
func (q *request) uses(columns uint64) bool { return q.used&columns != 0 }

// operators that are pushed down, by their letters in a plan.
var operators = map[vtab.ConstraintOp]string{
	vtab.OpEQ: "=", vtab.OpGT: ">", vtab.OpGE: "]", vtab.OpLT: "<", vtab.OpLE: "[",
}

// errStopped is returned if the statement must stop.
var errStopped = errors.New("stopped")

// module makes a table known to SQLite.
type module struct {
	db    *Database
	table *table
}

func (m *module) Create(ctx vtab.Context, _ []string) (vtab.Table, error) {
	return m, ctx.Declare("CREATE TABLE t(" + m.table.columns + ")")
}

func (m *module) Connect(ctx vtab.Context, args []string) (vtab.Table, error) {
	return m.Create(ctx, args)
}

func (m *module) Disconnect() error { return nil }
func (m *module) Destroy() error    { return nil }

func (m *module) Open() (vtab.Cursor, error) { return &cursor{module: m}, nil }

// BestIndex uses all constraints that open understands, and returns the plan: the columns in
// use, then column and operator for each argument. SQLite checks the constraints again, so that
// they need not be applied exactly.
func (m *module) BestIndex(info *vtab.IndexInfo) error {
	plan := strconv.FormatUint(info.ColUsed, 16)
	cost := m.table.size(m.db.run) + 1
	n := 0
	for i := range info.Constraints {
		c := &info.Constraints[i]
		operator, ok := operators[c.Op]
		if !ok || !c.Usable || c.Column < 0 || m.table.pushed>>c.Column&1 == 0 {
			continue
		}
		c.ArgIndex = n
		n++
		plan += fmt.Sprintf(" %d%s", c.Column, operator)
		switch {
		case c.Op != vtab.OpEQ:
			cost /= 2
		case c.Column == 0:
			cost /= float64(len(m.db.run.Procs) + 1)
		default:
			cost /= 8
		}
	}
	info.IdxStr, info.EstimatedCost, info.EstimatedRows = plan, cost, int64(min(cost, 1e15))+1
	return nil
}

// cursor iterates over the rows of a table.
type cursor struct {
	*module
	rows rows
	done bool
}

func (c *cursor) Filter(_ int, plan string, values []vtab.Value) error {
	c.Close()
	q, err := parsePlan(plan, values)
	if err != nil {
		return err
	}
	if c.rows, err = c.table.open(c.db, q); err != nil {
		return c.db.fail(err)
	}
	c.done = false
	return c.Next()
}

func parsePlan(plan string, values []vtab.Value) (*request, error) {
	parts := strings.Fields(plan)
	q := &request{bounds: map[int]bounds{}, texts: map[int]string{}}
	var err error
	if q.used, err = strconv.ParseUint(parts[0], 16, 64); err != nil {
		return nil, err
	}
	for i, part := range parts[1:] {
		column, err := strconv.Atoi(part[:len(part)-1])
		if err != nil {
			return nil, err
		}
		q.constrain(column, part[len(part)-1], values[i])
	}
	return q, nil
}

// constrain adds a constraint; one with a value of another type than the column's changes
// nothing.
func (q *request) constrain(column int, operator byte, value vtab.Value) {
	b := q.bound(column)
	var v int64
	switch x := value.(type) {
	case string:
		if operator == '=' {
			q.texts[column] = x
		}
		return
	case int64:
		v = x
	case float64:
		if math.Abs(x) >= 1<<53 {
			return
		}
		// Integers greater than x are greater than its floor; those less than x are less than
		// its ceiling.
		v = int64(math.Floor(x))
		if (operator == '<' || operator == ']' || operator == '=') && float64(v) != x {
			v++
			if operator == '=' {
				b = bounds{1, 0}
			}
		}
	default:
		return
	}
	switch operator {
	case '=':
		b = bounds{max(b.low, v), min(b.high, v)}
	case '>':
		if v < math.MaxInt64 {
			b.low = max(b.low, v+1)
		}
	case ']':
		b.low = max(b.low, v)
	case '<':
		if v > math.MinInt64 {
			b.high = min(b.high, v-1)
		}
	case '[':
		b.high = min(b.high, v)
	}
	q.bounds[column] = b
}

func (c *cursor) Next() error {
	if c.db.sandbox.stopped.Load() {
		return errStopped
	}
	more, err := c.rows.next()
	if err != nil {
		return c.db.fail(err)
	}
	c.done = !more
	return nil
}

func (c *cursor) Eof() bool { return c.done || c.rows == nil }

func (c *cursor) Column(i int) (vtab.Value, error) {
	v, err := c.rows.column(i)
	if err != nil {
		return nil, c.db.fail(err)
	}
	return v, nil
}

func (c *cursor) Rowid() (int64, error) { return c.rows.id(), nil }

func (c *cursor) Close() error {
	if c.rows != nil {
		c.rows.close()
		c.rows = nil
	}
	return nil
}
