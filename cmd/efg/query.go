package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/query"
	"github.com/efg-tools/efg/internal/terminal"
)

func newQuery() *cobra.Command {
	var format, clock string
	var depth siteDepth
	cmd := &cobra.Command{
		Use:   "query FILE QUERY",
		Short: "Select or count operations and messages",
		Long: `Answer a query in the query language of the MPI Trace Format: which operations, of
which processes, on which communicator, of which size. docs/query.md has the grammar.

  SELECT what [FOR|AMONG|BETWEEN processes] [IN COMM(...)] [WHERE ...] [LIMIT n]
  SELECT COUNT(what), SUM(SIZE), ... [...] [GROUP BY field, ...]
  SELECT M_FAN_IN, M_FAN_OUT [...]
  SELECT TOPOLOGY [...]

Formats: jsonl, one JSON object per line (the default unless the output is a
terminal); text, human-readable (the default on a terminal); mtf, for selected calls,
as written by efg reconstruct.`,
		Example: `  efg query jacobi.efg 'SELECT SENDS FOR PROCESS(0-3) WHERE SIZE > 64'
  efg query jacobi.efg 'SELECT ALL MESSAGES BETWEEN PROCESS(0,1) LIMIT 10'
  efg query jacobi.efg 'SELECT COUNT(MESSAGES), SUM(SIZE) GROUP BY SENDER, RECEIVER'
  efg query jacobi.efg 'SELECT TOPOLOGY'`,
		Args:              argCount(cobra.ExactArgs(2)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := queryRun(args[0], args[1], format, clock, depth, cmd.OutOrStdout(), cmd.ErrOrStderr())
			var wrong *query.Error
			if errors.As(err, &wrong) {
				return &exitError{2, err}
			}
			return err
		},
	}
	clockFlag(cmd, &clock)
	depth.listFlag(cmd)
	cmd.Flags().StringVar(&format, "format", "", "jsonl, text or mtf")
	completeWords(cmd, "format", "jsonl", "text", "mtf")
	return cmd
}

func queryRun(path, text, format, clock string, depth siteDepth, out, errOut io.Writer) error {
	format = eventFormat(format, out)
	write, err := eventWriter(format)
	if err != nil {
		return err
	}
	q, err := query.Parse(text)
	if err != nil {
		return err
	}
	if format == "mtf" && (q.IsTotal() || q.IsTopology() || q.IsMessages()) {
		return usageError("--format mtf: is for selected operations")
	}
	r, err := openShown(path, format != "text")
	if err != nil {
		return err
	}
	defer r.Close()
	r = depth.of(r, path, errOut)
	if err := checkClock(clock); err != nil {
		return err
	}
	if q.NeedsTimes() {
		if err := correctClocks(context.Background(), r, clock, errOut); err != nil {
			return err
		}
	}
	earlyNote(errOut, r)
	bar := progressBeside(out, errOut, uint64(len(r.Procs)))
	defer bar.close()
	q.Progress = bar.show
	switch {
	case q.IsTopology():
		return showTopology(q, r, format, out)
	case q.IsTotal():
		return showTotals(q, r, format, out)
	}
	return showMatches(q, r, format, write, out)
}

func showMatches(q *query.Query, r *runfile.Run, format string, write writer, out io.Writer) error {
	const full = 1 << 16
	b := make([]byte, 0, 2*full)
	err := q.Select(r, format == "mtf", func(m *query.Match) error {
		switch {
		case !m.IsMessages():
			b = write.event(m.Event, b)
		case format == "text":
			b = m.AppendMessagesText(b)
		default:
			b = m.AppendMessages(b)
		}
		if len(b) < full {
			return nil
		}
		_, err := out.Write(b)
		b = b[:0]
		return err
	})
	_, failed := out.Write(b)
	return errors.Join(err, failed)
}

func showTotals(q *query.Query, r *runfile.Run, format string, out io.Writer) error {
	t, err := q.Totals(r)
	if err != nil {
		return err
	}
	return showTable(t, format, out)
}

func showTable(t *query.Table, format string, out io.Writer) error {
	if format != "text" {
		_, err := out.Write(t.AppendJSON(nil))
		return err
	}
	text := &terminal.Table{}
	for i, c := range t.Columns {
		addColumn(text, c, isText(t.Rows, i))
	}
	for _, row := range t.Rows {
		var cells []string
		for i, v := range row {
			if x, ok := v.(float64); ok && !strings.HasPrefix(t.Columns[i], "avg_") {
				cells = append(cells, strconv.FormatFloat(x, 'g', -1, 64)) // the value of an attribute
				continue
			}
			cells = append(cells, cellText(v))
		}
		text.Row(cells...)
	}
	return text.Write(out)
}

// addColumn adds a column of text, or of numbers.
func addColumn(t *terminal.Table, head string, text bool) {
	if text {
		t.Left(head)
	} else {
		t.Right(head)
	}
}

// isText reports whether a column contains text, or lists.
func isText(rows [][]any, column int) bool {
	return slices.ContainsFunc(rows, func(row []any) bool {
		switch row[column].(type) {
		case string, []int:
			return true
		}
		return false
	})
}

func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case uint64:
		return grouped(v)
	case float64:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case []int:
		return strings.Trim(fmt.Sprint(v), "[]")
	}
	return fmt.Sprint(v)
}

func showTopology(q *query.Query, r *runfile.Run, format string, out io.Writer) error {
	t, err := q.Topology(r)
	if err != nil {
		return err
	}
	if format != "text" {
		_, err := out.Write(t.AppendJSON(nil))
		return err
	}
	if _, err := fmt.Fprintf(out, "%s\n\n", t.Shape); err != nil {
		return err
	}
	return showTable(t.Table, format, out)
}
