package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/phases"
	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type phasesOptions struct {
	ranks string
	by    string
	clock string
	top   int
	depth siteDepth
	answerForm
}

func newPhases() *cobra.Command {
	var opt phasesOptions
	cmd := &cobra.Command{
		Use:   "phases FILE",
		Short: "Show calls, bytes and time between global synchronization points",
		Long: `Show calls, bytes and time phase by phase. A phase ends with a global synchronization
point, a call that no rank leaves before all ranks have entered it: MPI_Barrier,
MPI_Allreduce and the like on a communicator of all ranks. Phases between the same two
callsites are one row: a loop with a reduction is one row of many phases.

With the times of each call the arrival of each rank at each of these calls is known, and the
table shows the difference between the first and the last.

--by region shows the regions that the program names (docs/guide.md) instead. See
docs/phases.md.`,
		Example: `  efg phases jacobi.efg
  efg phases jacobi.efg --rank 0-1,2 --json
  efg phases jacobi.efg --by region`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showPhases(args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.ranks, "rank", "", "ranks to include, as in 0-3,7 (default all)")
	f.StringVar(&opt.by, "by", "synchronization", "what divides the run: synchronization, or the region that the program names")
	completeWords(cmd, "by", phasesBy...)
	clockFlag(cmd, &opt.clock)
	f.IntVar(&opt.top, "top", 40, "rows in the table; 0: all")
	opt.depth.flag(cmd)
	opt.flags(cmd, "rows")
	return cmd
}

// phasesBy are the values of --by.
var phasesBy = []string{"synchronization", "region"}

func showPhases(path string, opt *phasesOptions, out, errOut io.Writer) error {
	if !slices.Contains(phasesBy, opt.by) {
		return usageError("--by %s: want %s", opt.by, strings.Join(phasesBy, " or "))
	}
	if err := checkTop(opt.top, "rows"); err != nil {
		return err
	}
	return overRanks(path, opt.ranks, opt.depth, opt.data(), errOut, withClocks(opt.clock, errOut, phases.New), func(r *runfile.Run, procs []int, rep *phases.Report) error {
		if opt.by == "region" {
			return showRegions(path, opt, r, procs, rep, out)
		}
		return opt.write(out, func() any { return jsondoc.NewPhases(path, rep) },
			func(w *terminal.Screen) { writePhases(w, path, r, rep, opt.top) })
	})
}

// showRegions shows the regions that the program names.
func showRegions(path string, opt *phasesOptions, r *runfile.Run, procs []int, rep *phases.Report, out io.Writer) error {
	byRegion, err := regions.New(r, procs)
	if err != nil {
		return err
	}
	return opt.write(out, func() any {
		j := jsondoc.NewPhases(path, rep)
		j.Regions = jsondoc.NewRegions(byRegion)
		return j
	}, func(w *terminal.Screen) {
		writePhasesHead(w, path, r, rep)
		rows := byRegion.Rows
		if len(rows) == 0 {
			fmt.Fprintf(w, "regions   none are named by the program\n")
			return
		}
		fmt.Fprintf(w, "regions   %s\n", grouped(uint64(len(rows)-1)))
		writeSetup(w, uint64(byRegion.Setup/float64(max(byRegion.Ranks, 1))), "per rank")
		rows = rows[:cutRows(w, "Regions, by time", len(rows), opt.top)]
		regionTable(byRegion, rows).Write(w)
		regionNotes(w, byRegion)
	})
}

func writePhasesHead(w *terminal.Screen, path string, r *runfile.Run, rep *phases.Report) {
	fmt.Fprintf(w, "file      %s\n", path)
	fmt.Fprintf(w, "ranks     %d", rep.Ranks)
	if rep.Ranks < len(r.Procs) {
		fmt.Fprintf(w, " of %d", len(r.Procs))
	}
	fmt.Fprintln(w)
}

func writePhases(w *terminal.Screen, path string, r *runfile.Run, rep *phases.Report, top int) {
	writePhasesHead(w, path, r, rep)
	fmt.Fprintf(w, "phases    %s, of %s\n", grouped(rep.Phases), pluralOf(uint64(len(rep.Rows)), "kind"))
	writeSetup(w, uint64(rep.Setup/float64(max(rep.Ranks, 1))), "per rank")
	switch {
	case rep.Traced:
		fmt.Fprintf(w, "time      of each call\n")
	case rep.Timed:
		fmt.Fprintf(w, "time      statistics; arrival times unknown: efg run --time trace records them\n")
	default:
		fmt.Fprintf(w, "time      not recorded; efg run --time stats records it, and --time trace the arrival times too\n")
	}
	rows := rep.Rows
	if top > 0 && top < len(rows) {
		fmt.Fprintf(w, "\nThe first %d kinds\n", top)
		rows = rows[:top]
	} else {
		fmt.Fprintln(w)
	}
	phaseTable(w, rep, rows)
	if rep.Timed {
		fmt.Fprintf(w, "\nImbalance: how much longer the slowest rank takes than the mean to reach the end of a phase\n")
		imbalanceTable(w, rep, rows)
	}
	phaseNotes(w, rep)
}

func placeText(p phases.Place, none string) string {
	if p.Op == "" {
		return none
	}
	return strings.TrimSpace(p.Op + " " + p.Site)
}

// timesText is the number of phases of a row, with the minimum if ranks differ.
func timesText(r *phases.Row) string {
	if r.Least < r.Times {
		return fmt.Sprintf("%s-%s", grouped(r.Least), grouped(r.Times))
	}
	return grouped(r.Times)
}

// approximately returns the mark of a time that was divided by numbers of calls.
func approximately(r *phases.Row, ns float64) string {
	if r.About {
		return "~" + units.Nanoseconds(ns)
	}
	return units.Nanoseconds(ns)
}

func phaseTable(w io.Writer, rep *phases.Report, rows []phases.Row) {
	t := &terminal.Table{}
	t.Right("row", "phases")
	t.Names("from", "until")
	t.Details("calls", "sent")
	if rep.Timed {
		t.Right("time/rank")
		t.Shares("MPI")
		t.Details("per phase", "sent/s")
	}
	for i := range rows {
		r := &rows[i]
		cells := []string{
			fmt.Sprint(i + 1), timesText(r), placeText(r.From, "begin"), placeText(r.Until, "end"), grouped(r.Calls), byteCell(r.Volume.Sent),
		}
		if rep.Timed {
			time := r.App / float64(max(r.Ranks, 1))
			cells = append(cells, approximately(r, time), fmt.Sprintf("%.1f%%", 100*r.MPI/max(r.App, 1)), approximately(r, time/float64(max(r.Times, 1))), byteCell(uint64(r.Rate())))
		}
		t.Row(cells...)
	}
	t.Write(w)
}

func imbalanceTable(w io.Writer, rep *phases.Report, rows []phases.Row) {
	t := &terminal.Table{}
	t.Right("row", "mean", "slowest", "of rank", "imbalance", "in last call")
	if rep.Traced {
		t.Right("first to last", "longest", "in phase", "last rank")
	}
	for i := range rows {
		r := &rows[i]
		cells := []string{
			fmt.Sprint(i + 1), approximately(r, r.Busy), approximately(r, r.MostBusy), fmt.Sprint(r.MostRank),
			fmt.Sprintf("%.0f%%", 100*r.Imbalance()), approximately(r, r.Meeting/float64(max(r.Ranks, 1))),
		}
		if d := r.Dilation; rep.Traced && d != nil {
			cells = append(cells, units.Nanoseconds(d.Mean()), units.Nanoseconds(float64(d.Max)), grouped(d.MaxPhase+1), fmt.Sprint(d.MaxRank))
		} else if rep.Traced {
			cells = append(cells, "-", "-", "-", "-")
		}
		t.Row(cells...)
	}
	t.Write(w)
}

func phaseNotes(w io.Writer, rep *phases.Report) {
	for i := range rep.Rows {
		if rep.Rows[i].About {
			fmt.Fprintf(w, "\nnote: ~ times of calls that are in several rows are divided by their numbers\n")
			break
		}
	}
	if rep.Others.Calls > 0 {
		fmt.Fprintf(w, "\nnote: %s of other threads, %s sent; their phases are unknown\n", pluralOf(rep.Others.Calls, "call"), byteText(rep.Others.Volume.Sent))
	}
	if rep.Incomplete > 0 {
		fmt.Fprintf(w, "\nnote: ranks whose recording ends early: %d; efg info says why\n", rep.Incomplete)
	}
}
