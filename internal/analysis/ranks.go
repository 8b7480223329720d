package analysis

import (
	"bufio"
	"io"
	"slices"
)

// RankTable is a report's table of ranks by columns: a few bytes per rank, so that it can be
// cached, sorted and aggregated repeatedly.
type RankTable struct {
	Timed   bool
	Ranks   []int // in the order of Report.Ranks
	Columns []RankColumn
}

// RankColumn has a value for each process. App, time and setup are in nanoseconds, sent to written
// in bytes.
type RankColumn struct {
	Name   string
	Values []uint64
}

// rankColumns are the columns of a RankTable.
var rankColumns = []struct {
	name string
	of   func(r *RankRow) uint64
}{
	{"pid", func(r *RankRow) uint64 { return uint64(r.PID) }},
	{"threads", func(r *RankRow) uint64 { return uint64(r.Threads) }},
	{"calls", func(r *RankRow) uint64 { return r.Calls }},
	{"app", func(r *RankRow) uint64 { return r.App }},
	{"time", func(r *RankRow) uint64 { return r.TimeSum() }},
	{"setup", func(r *RankRow) uint64 { return r.Setup }},
	{"sent", func(r *RankRow) uint64 { return r.Sent }},
	{"received", func(r *RankRow) uint64 { return r.Received }},
	{"read", func(r *RankRow) uint64 { return r.Read }},
	{"written", func(r *RankRow) uint64 { return r.Written }},
	{"errors", func(r *RankRow) uint64 { return r.Errors }},
}

// RankColumns are the names of the columns of a RankTable.
func RankColumns() []string {
	var list []string
	for _, c := range rankColumns {
		list = append(list, c.name)
	}
	return list
}

// RankTable makes the table of a report's ranks.
func (rep *Report) RankTable() *RankTable {
	t := &RankTable{Timed: rep.Timed, Ranks: make([]int, len(rep.Ranks))}
	for i := range rep.Ranks {
		t.Ranks[i] = rep.Ranks[i].Rank
	}
	for _, c := range rankColumns {
		values := make([]uint64, len(rep.Ranks))
		for i := range rep.Ranks {
			values[i] = c.of(&rep.Ranks[i])
		}
		t.Columns = append(t.Columns, RankColumn{c.name, values})
	}
	return t
}

// Column returns the values of a column by its name; nil if there is no such column.
func (t *RankTable) Column(name string) []uint64 {
	i := slices.IndexFunc(t.Columns, func(c RankColumn) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return t.Columns[i].Values
}

// Encode writes a table for DecodeRankTable.
func (t *RankTable) Encode(w io.Writer) error {
	b := numberWriter{bufio.NewWriter(w)}
	b.put(uint64(truth(t.Timed)))
	b.put(uint64(len(t.Ranks)))
	b.column(len(t.Ranks), func(i int) uint64 { return uint64(t.Ranks[i]) })
	for _, c := range t.Columns {
		b.column(len(c.Values), func(i int) uint64 { return c.Values[i] })
	}
	return b.Flush()
}

// maxTable bounds the number of processes of a decoded table.
const maxTable = 1 << 24

// DecodeRankTable reads what Encode has written.
func DecodeRankTable(r io.Reader) (*RankTable, error) {
	b := newNumberReader(r)
	t := &RankTable{Timed: b.count(1) == 1}
	n := b.count(maxTable)
	for _, rank := range b.column(n) {
		t.Ranks = append(t.Ranks, int(rank))
	}
	for _, c := range rankColumns {
		t.Columns = append(t.Columns, RankColumn{c.name, b.column(n)})
	}
	if b.err != nil {
		return nil, b.err
	}
	return t, nil
}
