package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/loops"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/phases"
	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/internal/analysis/sections"
	"github.com/efg-tools/efg/internal/analysis/unfinished"
	"github.com/efg-tools/efg/internal/analysis/waits"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type waitsOptions struct {
	ranks string
	clock string
	top   int
	depth siteDepth
	answerForm
}

func newWaits() *cobra.Command {
	var opt waitsOptions
	cmd := &cobra.Command{
		Use:   "waits FILE",
		Short: "Show which calls wait, how long, and for which calls of which ranks",
		Long: `Show the wait states of a run: late senders and receivers, waiting at barriers and other
collectives, at windows and files. Each row sums the waits of one kind at one callsite for
another: the ranks that wait there, and the ranks and the call that they wait for. The
most expensive come first, those of MPI_Init and MPI_Finalize last.

All waiting is handed back to its causes: the computations and calls in which the late
ranks took longer than those that waited for them, directly, or indirectly because these
had waited before. The critical path is what determined when the run was over.

With --rank, only the waits of these ranks, and their causes, are shown.

The times of each call are needed (the default of efg run). See docs/waits.md.`,
		Example: `  efg waits traced.efg
  efg waits traced.efg --rank 0-1 --top 5
  efg waits traced.efg --json`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showWaits(args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.ranks, "rank", "", "ranks whose waits to show, as in 0-3,7 (default all)")
	clockFlag(cmd, &opt.clock)
	f.IntVar(&opt.top, "top", 20, "rows in the table; 0: all")
	opt.depth.flag(cmd)
	opt.flags(cmd, "rows")
	return cmd
}

func showWaits(path string, opt *waitsOptions, out, errOut io.Writer) error {
	if err := checkTop(opt.top, "rows"); err != nil {
		return err
	}
	err := overRanks(path, opt.ranks, opt.depth, opt.data(), errOut, withClocks(opt.clock, errOut, waits.New), func(r *runfile.Run, _ []int, rep *waits.Report) error {
		return opt.write(out, func() any { return jsondoc.NewWaits(path, rep) },
			func(w *terminal.Screen) { writeWaits(w, path, r, rep, opt.top) })
	})
	if errors.Is(err, match.ErrNoTimes) {
		return usageError("%s: %w", path, err)
	}
	return err
}

func writeWaits(w *terminal.Screen, path string, r *runfile.Run, rep *waits.Report, top int) {
	fmt.Fprintf(w, "file      %s\n", path)
	fmt.Fprintf(w, "ranks     %d", rep.Ranks)
	if rep.Ranks < len(r.Procs) {
		fmt.Fprintf(w, " of %d", len(r.Procs))
	}
	fmt.Fprintf(w, "\ntime      %s of all threads, without MPI_Init and MPI_Finalize\n", units.Nanoseconds(float64(rep.Time)))
	fmt.Fprintf(w, "in MPI    %s, %s\n", units.Nanoseconds(float64(rep.MPI)), share(rep.MPI, rep.Time))
	fmt.Fprintf(w, "waiting   %s, %s\n", units.Nanoseconds(float64(rep.Waiting)), share(rep.Waiting, rep.Time))
	fmt.Fprintf(w, "apart     MPI_Init and MPI_Finalize: %s, waiting %s\n", units.Nanoseconds(float64(rep.Setup)), units.Nanoseconds(float64(rep.SetupWaiting)))
	unfinishedTable(w, rep.Unfinished)
	if len(rep.Rows) == 0 {
		fmt.Fprintf(w, "\nno call waited for another\n")
	} else {
		fmt.Fprintln(w)
		stateTable(w, rep)
		waitTable(w, rep, top)
		causeTable(w, rep, top)
	}
	pathTable(w, rep, top)
	sectionTables(w, rep, top)
	waitNotes(w, rep)
}

// share is a part of a time in percent.
func share(part, whole int64) string {
	return units.Percent(uint64(max(part, 0)), uint64(max(whole, 0)))
}

// unfinishedTable shows the calls that had not returned when the recording ended, and for which
// ranks they had to wait.
func unfinishedTable(w io.Writer, list []unfinished.Row) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\nCalls that had not returned when the recording ended; not included below\n")
	t := &terminal.Table{}
	t.Right("time")
	t.Details("longest")
	t.Names("ranks", "in", "for ranks", "which were")
	for i := range list {
		r := &list[i]
		first := []string{unfinishedTime(r.Time), unfinishedTime(r.Ranks[0].Time), unfinishedRanks(r.Ranks), strings.TrimSpace(r.Op + " " + r.Site)}
		if len(r.Awaited) == 0 {
			t.Row(append(first, "-", "-")...)
		}
		for k := range r.Awaited {
			a := &r.Awaited[k]
			needed := shortRanks(a.Ranks)
			switch {
			case r.Any && k > 0:
				needed = "or " + needed
			case r.Any && len(a.Ranks)+len(r.Awaited) > 2:
				needed = "any of " + needed
			}
			t.Row(append(first, needed, a.Text())...)
			first = make([]string, len(first))
		}
	}
	t.Write(w)
}

// unfinishedTime is how long calls had taken, which may be unknown.
func unfinishedTime(t int64) string {
	if t == 0 {
		return "-"
	}
	return units.Nanoseconds(float64(t))
}

func unfinishedRanks(list []unfinished.RankTime) string {
	ranks := make([]int, len(list))
	for i, r := range list {
		ranks[i] = r.Rank
	}
	return shortRanks(ranks)
}

// shortRanks names ranks, the first and how many others if they are many.
func shortRanks(ranks []int) string {
	first := ranks[0]
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	if text := rankset.Text(ranks); len(text) <= widestRanks {
		return text
	}
	return fmt.Sprintf("%d, %d others", first, len(ranks)-1)
}

func stateTable(w io.Writer, rep *waits.Report) {
	t := &terminal.Table{}
	t.Left("state")
	t.Right("time")
	t.Shares("of time")
	t.Right("waits")
	for _, s := range rep.States {
		part := share(s.Time, rep.Time)
		if s.State.Apart() {
			part = "apart"
		}
		t.Row(s.State.String(), units.Nanoseconds(float64(s.Time)), part, grouped(s.Count))
	}
	t.Write(w)
}

func waitTable(w io.Writer, rep *waits.Report, top int) {
	rows := rep.Rows
	if top > 0 && top < len(rows) {
		fmt.Fprintf(w, "\nThe first %d of %d rows\n", top, len(rows))
		rows = rows[:top]
	} else {
		fmt.Fprintln(w)
	}
	t := &terminal.Table{}
	t.Right("time")
	t.Details("waits", "longest")
	t.Left("state")
	t.Names("ranks", "wait in", "for ranks", "in")
	for i := range rows {
		r := &rows[i]
		t.Row(units.Nanoseconds(float64(r.Time)), grouped(r.Count), units.Nanoseconds(float64(r.Longest.Time)), r.State.String(),
			rankTimesText(r.Ranks), waitPlace(r.Waiting), rankTimesText(r.Culprits), waitPlace(r.Culprit))
	}
	t.Write(w)
}

// cutRows says how many rows of a table are shown.
func cutRows(w io.Writer, title string, rows, top int) int {
	if top == 0 || rows <= top {
		fmt.Fprintf(w, "\n%s\n", title)
		return rows
	}
	fmt.Fprintf(w, "\n%s: the first %d of %d rows\n", title, top, rows)
	return top
}

func causeTable(w io.Writer, rep *waits.Report, top int) {
	if len(rep.Causes) == 0 {
		return
	}
	rows := rep.Causes[:cutRows(w, "Causes: where ranks that others waited for took longer than these", len(rep.Causes), top)]
	t := &terminal.Table{}
	t.Right("waiting")
	t.Shares("of all")
	t.Details("direct", "indirect")
	t.Names("ranks")
	t.Left("loop")
	t.Names("in")
	for i := range rows {
		c := &rows[i]
		t.Row(units.Nanoseconds(float64(c.Short+c.Long)), share(c.Short+c.Long, rep.Waiting), units.Nanoseconds(float64(c.Short)),
			units.Nanoseconds(float64(c.Long)), rankTimesText(c.Ranks), loopCell(c.Loop), regionText(&c.Region))
	}
	t.Write(w)
}

func pathTable(w io.Writer, rep *waits.Report, top int) {
	p := &rep.Path
	title := fmt.Sprintf("Critical path: %s without MPI_Init and MPI_Finalize, %s from rank to rank", units.Nanoseconds(float64(p.Time)), pluralOf(uint64(p.Hops), "step"))
	rows := p.Rows[:cutRows(w, title, len(p.Rows), top)]
	t := &terminal.Table{}
	t.Right("time")
	t.Shares("of path")
	t.Details("mean of ranks", "imbalance")
	t.Left("loop")
	t.Names("in")
	for i := range rows {
		r := &rows[i]
		t.Row(units.Nanoseconds(float64(r.Time)), share(r.Time, p.Time), units.Nanoseconds(r.Mean), units.Nanoseconds(max(float64(r.Time)-r.Mean, 0)), loopCell(r.Loop), regionText(&r.Region))
	}
	t.Write(w)
	var ranks []string
	for i, r := range p.Ranks {
		if i == pathRanks {
			ranks = append(ranks, fmt.Sprintf("%d others", len(p.Ranks)-i))
			break
		}
		ranks = append(ranks, fmt.Sprintf("rank %d %s", r.Rank, share(r.Time, p.Time)))
	}
	if len(ranks) > 0 {
		fmt.Fprintf(w, "on %s\n", strings.Join(ranks, ", "))
	}
}

// pathRanks is how many ranks of the critical path are named.
const pathRanks = 6

// loopCell is the number of a loop, if there is one.
func loopCell(l *loops.Name) string {
	if l == nil {
		return ""
	}
	return l.Number
}

// sectionTables show which loops and phases cause waiting and are on the critical path.
func sectionTables(w io.Writer, rep *waits.Report, top int) {
	if slices.ContainsFunc(rep.Loops, func(r waits.LoopRow) bool { return r.Loop.Number != "" }) {
		rows := rep.Loops[:cutRows(w, "Loops: the waiting that each causes, without the loops in it, and its part of the critical path", len(rep.Loops), top)]
		t := sectionTable("loop")
		for i := range rows {
			name := "none"
			if rows[i].Loop.Number != "" {
				name = sections.LoopText(rows[i].Loop)
			}
			sectionRow(t, rep, &rows[i].SectionTimes, name)
		}
		t.Write(w)
	}
	if len(rep.Regions) > 0 {
		rows := rep.Regions[:cutRows(w, "Regions: the same, without the regions in each", len(rep.Regions), top)]
		t := sectionTable("region")
		for i := range rows {
			name := "outside of regions"
			if len(rows[i].Region) > 0 {
				name = regions.PathText(rows[i].Region)
			}
			sectionRow(t, rep, &rows[i].SectionTimes, name)
		}
		t.Write(w)
	}
	if len(rep.Phases) < 2 {
		return
	}
	rows := rep.Phases[:cutRows(w, "Phases, by the rows of efg phases: the same", len(rep.Phases), top)]
	t := sectionTable("row", "from", "until")
	for i := range rows {
		r := &rows[i]
		if r.Row == 0 {
			sectionRow(t, rep, &r.SectionTimes, "-", "unknown", "")
			continue
		}
		sectionRow(t, rep, &r.SectionTimes, fmt.Sprint(r.Row), placeText(phases.Place(r.From), "begin"), placeText(phases.Place(r.Until), "end"))
	}
	t.Write(w)
}

func sectionTable(names ...string) *terminal.Table {
	t := &terminal.Table{}
	t.Right("waiting")
	t.Shares("of all")
	t.Details("direct", "indirect")
	t.Right("path")
	t.Shares("of path")
	t.Details("mean of ranks")
	t.Names("ranks")
	t.Names(names...)
	return t
}

func sectionRow(t *terminal.Table, rep *waits.Report, s *waits.SectionTimes, names ...string) {
	t.Row(append([]string{
		units.Nanoseconds(float64(s.Short + s.Long)), share(s.Short+s.Long, rep.Waiting), units.Nanoseconds(float64(s.Short)), units.Nanoseconds(float64(s.Long)),
		units.Nanoseconds(float64(s.Path)), share(s.Path, rep.Path.Time), units.Nanoseconds(s.Mean), rankTimesText(s.Ranks),
	}, names...)...)
}

// regionText says where time was spent.
func regionText(r *waits.Region) string {
	switch {
	case r.At.Op == "":
		return "(unknown)"
	case r.Call:
		return waitPlace(r.At)
	case r.From.Op == "":
		return "computation before " + waitPlace(r.At)
	}
	return "computation from " + waitPlace(r.From) + " to " + waitPlace(r.At)
}

func waitPlace(p waits.Place) string {
	if p.Op == "" {
		return "-"
	}
	return strings.TrimSpace(p.Op + " " + p.Site)
}

// widestRanks is how long a list of ranks may be to be shown whole.
const widestRanks = 14

// rankTimesText names ranks; of many, the one with the longest time.
func rankTimesText(list []waits.RankTime) string {
	if len(list) == 0 {
		return "-"
	}
	ranks := make([]int, len(list))
	for i, r := range list {
		ranks[i] = r.Rank
	}
	return shortRanks(ranks)
}

func waitNotes(w io.Writer, rep *waits.Report) {
	m := &rep.Matched
	fmt.Fprintf(w, "\n%s, %s and %s were matched; times are within %s\n", pluralOf(m.Calls, "call"), pluralOf(m.Messages, "message"),
		pluralOf(m.Collectives, "collective call"), units.Nanoseconds(float64(rep.Bound)))
	if rep.End != nil {
		fmt.Fprintf(w, "note: %s\n", endNote(*rep.End))
	}
	if rep.Ended > 0 {
		fmt.Fprintf(w, "note: ranks whose recording ends early: %d; efg info says why\n", rep.Ended)
	}
	if m.Unmatched > 0 {
		fmt.Fprintf(w, "note: calls whose counterpart is not in the recording: %s\n", grouped(m.Unmatched))
	}
	if m.Outside > 0 {
		fmt.Fprintf(w, "note: messages from or to processes that are not in the file: %s\n", grouped(m.Outside))
	}
	if m.Disagreeing > 0 {
		fmt.Fprintf(w, "note: collective calls that do not fit those of other ranks: %s; efg check says more\n", grouped(m.Disagreeing))
	}
	if rep.Untimed > 0 {
		fmt.Fprintf(w, "note: threads without the times of each call: %d\n", rep.Untimed)
	}
}
