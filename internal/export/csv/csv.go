// Package csv writes a table of package table as comma-separated values (RFC 4180): a line with the
// names of the columns, then a line for each row. An absent value is an empty field; texts are never
// empty. FORMAT.md in package table describes them.
package csv

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/table"
)

// Write writes the table that the job wants.
func Write(out io.Writer, job *export.Job) error {
	schema := table.Wanted(job)
	w := &writer{out: out}
	for i := range schema.Columns {
		w.text(i, schema.Columns[i].Name)
	}
	w.b = append(w.b, '\r', '\n')
	return errors.Join(table.Each(job, schema, w.batch), w.flush())
}

type writer struct {
	out io.Writer
	b   []byte
}

// full is the size in bytes from which lines are written.
const full = 1 << 16

func (w *writer) flush() error {
	_, err := w.out.Write(w.b)
	w.b = w.b[:0]
	return err
}

func (w *writer) batch(b *table.Batch) error {
	for row := range b.Rows {
		for i := range b.Vectors {
			w.value(i, b.Columns[i].Type, &b.Vectors[i], row)
		}
		if w.b = append(w.b, '\r', '\n'); len(w.b) < full {
			continue
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
	return nil
}

// value appends a value, after a comma unless it is in the first column.
func (w *writer) value(column int, kind table.Type, v *table.Vector, row int) {
	n := v.Value(row)
	switch {
	case v.Null(n):
		w.text(column, "")
	case kind.Textual():
		w.text(column, v.Texts[n])
	case kind == table.Boolean:
		w.text(column, strconv.FormatBool(v.Ints[n] != 0))
	case kind == table.Timestamp:
		w.text(column, time.Unix(0, v.Ints[n]).UTC().Format(time.RFC3339Nano))
	default:
		w.text(column, "")
		w.b = strconv.AppendInt(w.b, v.Ints[n], 10)
	}
}

func (w *writer) text(column int, text string) {
	if column > 0 {
		w.b = append(w.b, ',')
	}
	if !strings.ContainsAny(text, ",\"\r\n") {
		w.b = append(w.b, text...)
		return
	}
	w.b = append(w.b, '"')
	for {
		before, after, found := strings.Cut(text, `"`)
		w.b = append(w.b, before...)
		if !found {
			break
		}
		w.b = append(w.b, '"', '"')
		text = after
	}
	w.b = append(w.b, '"')
}
