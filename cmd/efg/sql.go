package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	dbsql "database/sql"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/analysis/sql"
	"github.com/efg-tools/efg/internal/printable"
)

func newSQL() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "sql FILE STATEMENT",
		Short: "Ask a run in SQL",
		Long: `Run an SQL statement on a run file. Its tables: events, nodes, edges, ranks and
communicators; docs/sql.md has their columns. Events are made while they are read:
nothing is stored. The SQL is that of SQLite.`,
		Example: `  efg sql jacobi.efg 'select op, count(*), sum(bytes) from events group by op'
  efg sql jacobi.efg 'select seq, op, peer, tag from events where rank = 2 and seq < 20'
  efg sql jacobi.efg 'select rank, host, events from ranks' --format csv`,
		Args:              argCount(cobra.ExactArgs(2)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return sqlRun(args[0], args[1], format, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "table, csv or json (an object a line)")
	completeWords(cmd, "format", "table", "csv", "json")
	return cmd
}

func sqlRun(path, statement, format string, out, errOut io.Writer) error {
	write := map[string]func(io.Writer, []string) rowWriter{"table": newTableRows, "csv": newCSVRows, "json": newJSONRows}[format]
	if write == nil {
		return usageError("--format %s: want table, csv or json", format)
	}
	r, err := openShown(path, format != "table")
	if err != nil {
		return err
	}
	defer r.Close()
	db, err := sql.Open(r)
	if err != nil {
		return err
	}
	defer db.Close()
	bar := progressBeside(out, errOut, uint64(len(r.Procs)))
	defer bar.close()
	db.Progress = bar.show
	rows, err := db.Query(statement)
	if err != nil {
		if failed := db.Failure(); failed != nil {
			return failed
		}
		return &exitError{2, err}
	}
	defer rows.Close()
	if format == "csv" {
		out = printable.Data(out)
	}
	w := bufio.NewWriterSize(out, 1<<16)
	columns, err := rows.Columns()
	if err == nil {
		err = writeRows(rows, write(w, columns), len(columns))
	}
	if failed := db.Failure(); failed != nil {
		err = failed
	}
	return errors.Join(err, w.Flush())
}

// rowWriter writes rows in some format.
type rowWriter interface {
	row(values []any) error
	end() error
}

func writeRows(rows *dbsql.Rows, w rowWriter, columns int) error {
	values, to := make([]any, columns), make([]any, columns)
	for i := range to {
		to[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		for i, v := range values {
			if b, ok := v.([]byte); ok {
				values[i] = string(b)
			}
		}
		if err := w.row(values); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), w.end())
}

// tableRows aligns rows, so many at a time.
type tableRows struct {
	w       io.Writer
	columns []string
	rows    [][]any
	begun   bool
}

// alignedRows is how many rows are aligned together: a longer result is written
// while it comes.
const alignedRows = 10_000

func newTableRows(w io.Writer, columns []string) rowWriter { return &tableRows{w: w, columns: columns} }

func (t *tableRows) row(values []any) error {
	t.rows = append(t.rows, append([]any(nil), values...))
	if len(t.rows) == alignedRows {
		return t.end()
	}
	return nil
}

func (t *tableRows) end() error {
	text := &table{}
	for i, c := range t.columns {
		text.column(!isText(t.rows, i), []string{c})
	}
	for _, row := range t.rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, sqlText(v, "-"))
		}
		text.row(cells...)
	}
	if len(t.rows) == 0 && !t.begun {
		_, err := fmt.Fprintln(t.w, strings.Join(t.columns, "  "))
		return err
	}
	text.write(t.w)
	t.rows, t.begun = t.rows[:0], true
	return nil
}

// sqlText is a value as SQL has it: no separators in numbers.
func sqlText(v any, null string) string {
	switch v := v.(type) {
	case nil:
		return null
	case string:
		return v
	}
	return fmt.Sprint(v)
}

type csvRows struct {
	w    *csv.Writer
	head []string
}

func newCSVRows(w io.Writer, columns []string) rowWriter {
	return &csvRows{csv.NewWriter(w), columns}
}

func (c *csvRows) row(values []any) error {
	if err := c.header(); err != nil {
		return err
	}
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = sqlText(v, "")
	}
	return c.w.Write(cells)
}

func (c *csvRows) header() error {
	head := c.head
	if c.head = nil; head == nil {
		return nil
	}
	return c.w.Write(head)
}

func (c *csvRows) end() error {
	err := c.header()
	c.w.Flush()
	return errors.Join(err, c.w.Error())
}

// jsonRows writes objects with the columns in their order.
type jsonRows struct {
	w     io.Writer
	names [][]byte
	b     []byte
}

func newJSONRows(w io.Writer, columns []string) rowWriter {
	j := &jsonRows{w: w}
	for _, c := range columns {
		name, err := json.Marshal(c)
		if err != nil {
			name = []byte(`""`)
		}
		j.names = append(j.names, name)
	}
	return j
}

func (j *jsonRows) row(values []any) error {
	j.b = append(j.b[:0], '{')
	for i, v := range values {
		if i > 0 {
			j.b = append(j.b, ',')
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		j.b = append(append(append(j.b, j.names[i]...), ':'), text...)
	}
	_, err := j.w.Write(append(j.b, "}\n"...))
	return err
}

func (j *jsonRows) end() error { return nil }
