package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/analysis/clocks"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type clocksOptions struct {
	top int
	answerForm
}

func newClocks() *cobra.Command {
	var opt clocksOptions
	cmd := &cobra.Command{
		Use:   "clocks FILE",
		Short: "Show how far the clocks of machines differ, and how times are corrected",
		Long: `Show how far the clocks of the machines of a run differ, as its messages and collective
calls tell, and what other commands correct: offset and rate of each machine's clock
relative to a reference machine, in windows of time if a clock was disciplined meanwhile;
and the ranks of which calls were shifted, because they would still be over before their
cause has begun.

The times of each call are needed (the default of efg run). Other commands show corrected
times if a run is of several machines; with --clock raw they show what was recorded. See
docs/clocks.md.`,
		Example: `  efg clocks traced.efg
  efg clocks traced.efg --json`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showClocks(cmd.Context(), args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.IntVar(&opt.top, "top", 20, "rows in each table; 0: all")
	opt.flags(cmd, "machines")
	return cmd
}

func showClocks(ctx context.Context, path string, opt *clocksOptions, out, errOut io.Writer) error {
	if err := checkTop(opt.top, "rows"); err != nil {
		return err
	}
	r, err := openShown(path, opt.data())
	if err != nil {
		return err
	}
	defer r.Close()
	bar := newProgress(errOut, "events", 0)
	rep, err := clocks.Correct(ctx, r, func(done, total uint64) { bar.part("events", done, total) })
	bar.close()
	if errors.Is(err, match.ErrNoTimes) {
		return usageError("%s: %w", path, err)
	}
	if err != nil {
		return err
	}
	return opt.write(out, func() any { return jsondoc.NewClocks(path, len(r.Procs), rep) },
		func(w *terminal.Screen) { writeClocks(w, path, len(r.Procs), rep, opt.top) })
}

func writeClocks(w io.Writer, path string, ranks int, rep *clocks.Report, top int) {
	m := &rep.Matched
	fmt.Fprintf(w, "file       %s\n", path)
	fmt.Fprintf(w, "ranks      %d on %s\n", ranks, pluralOf(uint64(len(rep.Machines)), "machine"))
	fmt.Fprintf(w, "matched    %s, %s\n", pluralOf(m.Messages, "message"), pluralOf(m.Collectives, "collective call"))
	fmt.Fprintf(w, "recorded   %s\n", contradictionText(rep.Raw))
	if len(rep.Machines) > 1 {
		fmt.Fprintf(w, "aligned    %s\n", contradictionText(rep.Aligned))
		fmt.Fprintf(w, "corrected  %s\n", contradictionText(clocks.Contradictions{Calls: rep.Remaining}))
	}
	machineTable(w, rep, top)
	clockWindows(w, rep, top)
	shiftTable(w, rep, top)
}

// contradictionText says how many calls are over too early.
func contradictionText(c clocks.Contradictions) string {
	text := pluralOf(c.Calls, "call") + " over before something that had to come first"
	if c.Worst > 0 {
		text += ", by up to " + units.Nanoseconds(float64(c.Worst))
	}
	return text
}

func machineTable(w io.Writer, rep *clocks.Report, top int) {
	list := rep.Machines[:cutRows(w, "Machines", len(rep.Machines), top)]
	t := &terminal.Table{}
	t.Left("machine", "ranks", "clock by")
	t.Right("offset", "rate", "within", "windows")
	for i := range list {
		m := &list[i]
		by, row := "its own", []string{"-", "-", "-", "-"}
		switch {
		case m.Aligned:
			by, row = rep.Machines[m.Reference].Host, append(windowCells(&m.Windows[0]), grouped(uint64(len(m.Windows))))
		case i > 0:
			by = "its own: not aligned"
		}
		t.Row(append([]string{hostText(m.Host), rankset.Text(m.Ranks), by}, row...)...)
	}
	t.Write(w)
}

func hostText(host string) string {
	if host == "" {
		return "-"
	}
	return host
}

// windowCells are offset, rate and error of a window.
func windowCells(x *clocks.Window) []string {
	within := "-"
	if x.Error >= 0 {
		within = units.Nanoseconds(float64(x.Error))
	}
	return []string{signedTime(x.Offset), fmt.Sprintf("%+.3f ppm", x.Rate*1e6), within}
}

func signedTime(ns int64) string {
	if ns < 0 {
		return "-" + units.Nanoseconds(-float64(ns))
	}
	return "+" + units.Nanoseconds(float64(ns))
}

// windowTable shows the windows of machines that have several.
func clockWindows(w io.Writer, rep *clocks.Report, top int) {
	t, rows := &terminal.Table{}, 0
	t.Left("machine")
	t.Right("from", "to", "offset", "rate", "within")
	for i := range rep.Machines {
		m := &rep.Machines[i]
		for k := range m.Windows {
			if len(m.Windows) < 2 {
				continue
			}
			if rows++; top == 0 || rows <= top {
				x := &m.Windows[k]
				t.Row(append([]string{hostText(m.Host), units.Seconds(x.From), units.Seconds(x.To)}, windowCells(x)...)...)
			}
		}
	}
	if rows > 0 {
		cutRows(w, "Windows, by the machine's clock", rows, top)
		t.Write(w)
	}
}

func shiftTable(w io.Writer, rep *clocks.Report, top int) {
	if len(rep.Ranks) == 0 {
		return
	}
	list := rep.Ranks[:cutRows(w, "Calls that end later than recorded by aligned clocks", len(rep.Ranks), top)]
	t := &terminal.Table{}
	t.Right("rank", "calls", "longest", "total", "first at")
	for i := range list {
		s := &list[i]
		t.Row(fmt.Sprint(s.Rank), grouped(s.Calls), units.Nanoseconds(float64(s.Longest)), units.Nanoseconds(float64(s.Total)), strings.TrimSpace(units.Seconds(s.First)))
	}
	t.Write(w)
}
