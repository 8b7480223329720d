package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/loops"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type loopsOptions struct {
	ranks string
	top   int
	depth siteDepth
	answerForm
}

func newLoops() *cobra.Command {
	var opt loopsOptions
	cmd := &cobra.Command{
		Use:   "loops FILE",
		Short: "Show the loops of the program, derived from its calls",
		Long: `Show the loops of the program, derived from its calls: how they are nested, how
often each was entered and iterated, and the calls, bytes and time per iteration.
Loops are found on the graphs without expanding them; the counts are exact. Ranks
with the same loops are shown together. docs/loops.md defines a loop.`,
		Example: `  efg loops jacobi.efg
  efg loops jacobi.efg --rank 2 --json`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return findLoops(args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.ranks, "rank", "", "ranks to include, as in 0-3,7 (default all)")
	f.IntVar(&opt.top, "top", 20, "groups of ranks to show; 0: all")
	opt.depth.flag(cmd)
	opt.flags(cmd, "groups.loops")
	return cmd
}

func findLoops(path string, opt *loopsOptions, out, errOut io.Writer) error {
	if err := checkTop(opt.top, "groups"); err != nil {
		return err
	}
	return overRanks(path, opt.ranks, opt.depth, opt.data(), errOut, loops.Summarize, func(r *runfile.Run, procs []int, s *loops.Summary) error {
		return opt.write(out, func() any { return jsondoc.NewLoops(path, r, s, len(procs)) },
			func(w *terminal.Screen) { loopsText(w, path, r, s, opt, len(procs)) })
	})
}

func loopsText(w *terminal.Screen, path string, r *runfile.Run, s *loops.Summary, opt *loopsOptions, procs int) {
	fmt.Fprintf(w, "file      %s\n", path)
	if len(r.Meta.Command) > 0 {
		fmt.Fprintf(w, "command   %s\n", strings.Join(r.Meta.Command, " "))
	}
	fmt.Fprintf(w, "ranks     %d", procs)
	if procs < len(r.Procs) {
		fmt.Fprintf(w, " of %d", len(r.Procs))
	}
	fmt.Fprintf(w, "\nloops     %s\n", loopCounts(s))
	if !s.Timed {
		fmt.Fprintf(w, "time      not recorded; efg run --time stats records it\n")
	}
	shown := s.Groups
	if opt.top > 0 && opt.top < len(shown) {
		shown = shown[:opt.top]
	}
	for i := range shown {
		writeLoops(w, &shown[i], s.Timed)
	}
	if n := len(s.Groups) - len(shown); n > 0 {
		fmt.Fprintf(w, "\nand %s more; --top 0 shows all\n", plural(n, "group"))
	}
}

// loopCounts says how many loops there are: "3; 1 group of ranks with the same
// loops".
func loopCounts(s *loops.Summary) string {
	least, most := 0, 0
	for i := range s.Groups {
		n := len(s.Groups[i].Rows)
		if i == 0 {
			least = n
		}
		least, most = min(least, n), max(most, n)
	}
	text := strconv.Itoa(most)
	if least < most {
		text = fmt.Sprintf("%d to %d", least, most)
	}
	return text + "; " + plural(len(s.Groups), "group") + " of ranks with the same loops, " + plural(s.Graphs, "different graph")
}

// maxRanksText is the maximum length of a list of ranks in a title.
const maxRanksText = 60

func writeLoops(w *terminal.Screen, g *loops.Group, timed bool) {
	title := "ranks " + shorten(rankset.Text(g.Ranks), maxRanksText)
	if len(g.Ranks) == 1 {
		title = fmt.Sprintf("rank %d", g.Ranks[0])
	}
	if g.Thread > 0 {
		title += fmt.Sprintf(", thread %d", g.Thread)
	}
	if len(g.Rows) == 0 {
		fmt.Fprintf(w, "\nNo loops on %s: %s calls\n", title, grouped(g.Calls))
		return
	}
	fmt.Fprintf(w, "\nLoops of %s\n", title)
	t := &terminal.Table{}
	t.Left("loop")
	t.Names("begins at")
	t.Left("with")
	t.Details("entered")
	t.Right("iterations")
	t.Details("per entry")
	t.Right("calls/it.")
	t.Details("sent/it.", "received/it.")
	if timed {
		t.Right("MPI/it.")
		t.Details("between/it.")
		t.Shares("%app")
	}
	irreducible := false
	numbers := loops.Numbers(g.Rows)
	for i := range g.Rows {
		row := &g.Rows[i]
		t.Row(loopCells(row, numbers[i], g.App, timed)...)
		irreducible = irreducible || row.Irreducible
	}
	t.Write(w)
	if irreducible {
		fmt.Fprintf(w, "*: irreducible: entered at several calls, the most frequent of which counts as the start of an iteration, or several such loops entangled\n")
	}
}

func loopCells(row *loops.Row, number string, app uint64, timed bool) []string {
	if row.Irreducible {
		number += " *"
	}
	cells := []string{
		strings.Repeat("  ", row.Depth-1) + number, row.Site, row.Op, spreadText(&row.Entries), spreadText(&row.Iterations), perEntryText(row),
		perIteration(row, row.Calls), meanBytes(row.Sent, row.Iterations.Sum), meanBytes(row.Received, row.Iterations.Sum),
	}
	if timed {
		cells = append(cells, units.Nanoseconds(row.PerIteration(row.Time.Sum)), units.Nanoseconds(row.PerIteration(row.Gap)), units.Percent(row.Time.Sum+row.Gap, app))
	}
	return cells
}

// spreadText is the number of each rank, or their minimum and maximum.
func spreadText(s *loops.Spread) string {
	if s.Least == s.Most {
		return grouped(s.Most)
	}
	return grouped(s.Least) + "-" + grouped(s.Most)
}

// perEntryText is the number of iterations of each entry, or their mean, followed by minimum
// and maximum.
func perEntryText(row *loops.Row) string {
	if row.Least == row.Most {
		return grouped(row.Most)
	}
	return fmt.Sprintf("%s (%s-%s)", decimal(row.PerEntry()), grouped(row.Least), grouped(row.Most))
}

func perIteration(row *loops.Row, sum uint64) string {
	n := row.Iterations.Sum
	if n > 0 && sum%n == 0 {
		return grouped(sum / n)
	}
	return decimal(row.PerIteration(sum))
}

// decimal writes a number with one or two decimals.
func decimal(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
