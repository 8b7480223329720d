package analysis

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/efg-tools/efg/efg"
)

// RankTable is a report's table of ranks by columns: a few bytes a rank, so that it can be
// kept, ordered and summed up again and again.
type RankTable struct {
	Timed   bool
	Ranks   []int // in the order of Report.Ranks
	Columns []RankColumn
}

// RankColumn has a value for each process. App and time are in nanoseconds, sent to written
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
	{"time", func(r *RankRow) uint64 { return r.Time.Sum }},
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

// NewRankTable makes the table of all processes of a run.
func NewRankTable(run *efg.Run, progress ...Progress) (*RankTable, error) {
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	rep, err := NewReport(run, procs, progress...)
	if err != nil {
		return nil, err
	}
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
	return t, nil
}

// Column is the values of a name; nil if there is no such column.
func (t *RankTable) Column(name string) []uint64 {
	i := slices.IndexFunc(t.Columns, func(c RankColumn) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return t.Columns[i].Values
}

// Encode writes a table: numbers as varints, each as its difference from the one before,
// because neighbours are alike.
func (t *RankTable) Encode(w io.Writer) error {
	b := bufio.NewWriter(w)
	put := func(n uint64) {
		var p [binary.MaxVarintLen64]byte
		b.Write(p[:binary.PutUvarint(p[:], n)]) // the error stays until Flush
	}
	put(uint64(truth(t.Timed)))
	put(uint64(len(t.Ranks)))
	last := int64(0)
	difference := func(v int64) {
		d := v - last
		put(uint64(d<<1) ^ uint64(d>>63))
		last = v
	}
	for _, r := range t.Ranks {
		difference(int64(r))
	}
	for _, c := range t.Columns {
		last = 0
		for _, v := range c.Values {
			difference(int64(v))
		}
	}
	return b.Flush()
}

// mostTable bounds the processes of a table that is decoded.
const mostTable = 1 << 24

// errTable: what should be a table is none.
var errTable = errors.New("not a table of ranks")

// DecodeRankTable reads what Encode has written.
func DecodeRankTable(r io.Reader) (*RankTable, error) {
	b := bufio.NewReader(r)
	timed, err := binary.ReadUvarint(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errTable, err)
	}
	n, err := binary.ReadUvarint(b)
	if err != nil || n > mostTable {
		return nil, fmt.Errorf("%w: %d ranks: %v", errTable, n, err)
	}
	last := int64(0)
	next := func() int64 {
		u, e := binary.ReadUvarint(b)
		if e != nil && err == nil {
			err = fmt.Errorf("%w: %w", errTable, e)
		}
		last += int64(u>>1) ^ -int64(u&1)
		return last
	}
	t := &RankTable{Timed: timed == 1}
	for range n {
		if t.Ranks = append(t.Ranks, int(next())); err != nil {
			return nil, err
		}
	}
	for _, c := range rankColumns {
		values := make([]uint64, n) // as many ranks as were there
		last = 0
		for i := range values {
			values[i] = uint64(next())
		}
		t.Columns = append(t.Columns, RankColumn{c.name, values})
	}
	return t, err
}
