package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	dbsql "database/sql"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/analysis/sql"
	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/internal/terminal"
)

// sqlOptions are the limits of a statement, and the format of its rows.
type sqlOptions struct {
	format, memory string
	clock          string
	time           time.Duration
	depth          siteDepth
}

func newSQL() *cobra.Command {
	var opt sqlOptions
	cmd := &cobra.Command{
		Use:   "sql FILE STATEMENT",
		Short: "Query a run in SQL",
		Long: `Run an SQL statement on a run file. Its tables are events, nodes, edges, ranks and
communicators; docs/sql.md lists their columns. Events are generated as they are read;
nothing is stored. The dialect is SQLite's, read-only.`,
		Example: `  efg sql jacobi.efg 'select op, count(*), sum(bytes) from events group by op'
  efg sql jacobi.efg 'select seq, op, peer, tag from events where rank = 2 and seq < 20'
  efg sql jacobi.efg 'select rank, host, events from ranks' --format csv`,
		Args:              argCount(cobra.ExactArgs(2)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return sqlRun(args[0], args[1], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.format, "format", "table", "table, csv or json (one object per line)")
	clockFlag(cmd, &opt.clock)
	opt.depth.listFlag(cmd)
	f.DurationVar(&opt.time, "time-limit", time.Hour, "time limit of the statement; 0: none")
	f.StringVar(&opt.memory, "memory", "1GiB", "memory limit of SQLite")
	completeWords(cmd, "format", "table", "csv", "json")
	return cmd
}

func sqlRun(path, statement string, opt *sqlOptions, out, errOut io.Writer) error {
	write := map[string]func(io.Writer, []string) rowWriter{"table": newTableRows, "csv": newCSVRows, "json": newJSONRows}[opt.format]
	if write == nil {
		return usageError("--format %s: want table, csv or json", opt.format)
	}
	memory, err := parseBytes("--memory", opt.memory)
	if err != nil {
		return err
	}
	if opt.time < 0 {
		return usageError("--time-limit %s: want a time", opt.time)
	}
	r, err := openShown(path, opt.format != "table")
	if err != nil {
		return err
	}
	defer r.Close()
	r = opt.depth.of(r, path, errOut)
	earlyNote(errOut, r)
	ctx, stop := opt.context()
	defer stop()
	if err := checkClock(opt.clock); err != nil {
		return err
	}
	if sql.NamesEvents(statement) {
		if err := correctClocks(ctx, r, opt.clock, errOut); err != nil {
			return err
		}
	}
	db, err := sql.Open(ctx, r, sql.Limits{Memory: memory})
	if err != nil {
		return err
	}
	defer db.Close()
	bar := progressBeside(out, errOut, uint64(len(r.Procs)))
	defer bar.close()
	db.Progress = bar.show
	if opt.format == "csv" {
		out = printable.Data(out)
	}
	return sqlStatus(answerSQL(db, statement, out, write))
}

// errInterrupted ends an interrupted statement.
var errInterrupted = errors.New("interrupted")

// context returns a context that is done at an interrupt or when the time limit is reached. A
// second interrupt ends the program.
func (opt *sqlOptions) context() (context.Context, func()) {
	signals, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	context.AfterFunc(signals, func() { stop(); cancel(errInterrupted) })
	if opt.time == 0 {
		return ctx, stop
	}
	timed, done := context.WithTimeoutCause(ctx, opt.time, fmt.Errorf("the statement takes longer than %s; --time-limit allows more", opt.time))
	return timed, func() { done(); stop() }
}

// answerSQL writes the rows of a statement.
func answerSQL(db *sql.Database, statement string, out io.Writer, write func(io.Writer, []string) rowWriter) error {
	rows, err := db.Query(statement)
	if err != nil {
		return db.Reason(err)
	}
	defer rows.Close()
	w := bufio.NewWriterSize(out, 1<<16)
	columns, err := rows.Columns()
	if err == nil {
		err = writeRows(rows, write(w, columns), len(columns))
	}
	return errors.Join(db.Reason(err), w.Flush())
}

// sqlStatus maps errors to exit statuses, with advice.
func sqlStatus(err error) error {
	switch {
	case errors.Is(err, errInterrupted):
		return &exitError{130, err}
	case errors.Is(err, sql.ErrMemory):
		return fmt.Errorf("%w; --memory allows more, and a smaller part of the run needs less", err)
	case errors.As(err, new(*sql.StatementError)):
		return &exitError{2, err}
	}
	return err
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

// tableRows aligns rows, in batches.
type tableRows struct {
	w       io.Writer
	columns []string
	rows    [][]any
	bytes   int // of texts in rows
	begun   bool
}

// Maximum sizes of rows that are aligned together: a longer result is written in batches.
const (
	alignedRows  = 10_000
	alignedBytes = 16 << 20
)

func newTableRows(w io.Writer, columns []string) rowWriter { return &tableRows{w: w, columns: columns} }

func (t *tableRows) row(values []any) error {
	t.rows = append(t.rows, append([]any(nil), values...))
	for _, v := range values {
		if text, ok := v.(string); ok {
			t.bytes += len(text)
		}
	}
	if len(t.rows) == alignedRows || t.bytes > alignedBytes {
		return t.end()
	}
	return nil
}

func (t *tableRows) end() error {
	text := &terminal.Table{}
	for i, c := range t.columns {
		addColumn(text, c, isText(t.rows, i))
	}
	for _, row := range t.rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, sqlText(v, "-"))
		}
		text.Row(cells...)
	}
	if len(t.rows) == 0 && !t.begun {
		_, err := fmt.Fprintln(t.w, strings.Join(t.columns, "  "))
		return err
	}
	if err := text.Write(t.w); err != nil {
		return err
	}
	t.rows, t.bytes, t.begun = t.rows[:0], 0, true
	return nil
}

// sqlText is a value as in SQL, without separators in numbers.
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

// jsonRows writes objects with the columns in order.
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
