package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/findings"
	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/internal/analysis/waits"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type reportOptions struct {
	ranks     string
	by        []string
	top       int
	histogram bool
	depth     siteDepth
	answerForm
	setup bool
	tree  bool
	html  string
	// counters replaces the tables by what was counted.
	counters bool
	// flame is the file of a flame graph, of what it is.
	flame, of string
}

func newReport() *cobra.Command {
	var opt reportOptions
	cmd := &cobra.Command{
		Use:   "report FILE",
		Short: "Show where MPI time and bytes went",
		Long: `Show where MPI time and bytes went: by procedure, by callsite, by rank and by the regions
that the program names (docs/guide.md), the callsites with the largest imbalance, and the longest waits. MPI_Init and MPI_Finalize
are shown apart: --setup includes their time. The first sentences say what
the time went into and why ranks wait, as far as times were recorded. All else is computed on
the graphs and equals what counting the events gives. Bytes are the number of elements
times the size of the datatype; docs/report.md defines what counts as sent and
received. With call paths (efg run --callpath), --tree sums over them; see docs/callpaths.md.
--counters shows what efg run --counters has counted; see docs/counters.md.`,
		Example: `  efg report jacobi.efg
  efg report jacobi.efg --by callsite --histogram
  efg report jacobi.efg --rank 0-2,3 --json
  efg report jacobi.efg --tree
  efg report jacobi.efg --flame jacobi.svg --of bytes
  efg report jacobi.efg --html jacobi.html`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opt.html != "" {
				if cmd.Flags().NFlag() > 1 {
					return usageError("--html writes all of the run: no other option goes with it")
				}
				return reportHTML(cmd.Context(), args[0], opt.html, cmd.ErrOrStderr())
			}
			switch {
			case opt.flame != "":
				if !onlyFlags(cmd, "flame", "of", "site-depth") {
					return usageError("--flame draws all of the run: only --of and --site-depth go with it")
				}
				return reportFlame(cmd.Context(), args[0], &opt, cmd.ErrOrStderr())
			case cmd.Flags().Changed("of"):
				return usageError("--of is for --flame")
			}
			if opt.counters {
				return reportCounters(args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			if opt.tree {
				return reportTree(args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return report(args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.ranks, "rank", "", "ranks to include, as in 0-3,7 (default all)")
	f.StringSliceVar(&opt.by, "by", nil, "tables to show: procedure, callsite, rank, region (default all)")
	f.IntVar(&opt.top, "top", 20, "rows per table; 0: all")
	f.BoolVar(&opt.setup, "setup", false, "include the time in MPI_Init and MPI_Finalize")
	f.BoolVar(&opt.tree, "tree", false, "show the calls by their call paths, as a tree from main down")
	f.BoolVar(&opt.counters, "counters", false, "show what was counted at each callsite, in calls and in the computation before them")
	f.BoolVar(&opt.histogram, "histogram", false, "show the distribution of the durations, and of the bytes that calls move")
	opt.depth.define(cmd, "tell callsites apart by the last `N` calls of their call paths; 0: by whole paths (default 1, with --tree and --flame 0)")
	opt.flags(cmd, "callsites")
	f.StringVar(&opt.html, "html", "", "write a web page that opens without a server to this `file`")
	f.StringVar(&opt.flame, "flame", "", "draw a flame graph to this `FILE.svg`")
	f.StringVar(&opt.of, "of", "time", "with --flame: of the `MEASURE` time, waiting, delay (that is caused), bytes or calls")
	completeWords(cmd, "by", jsondoc.ReportTables...)
	completeWords(cmd, "of", "time", "waiting", "delay", "bytes", "calls")
	return cmd
}

func report(path string, opt *reportOptions, out, errOut io.Writer) error {
	for _, by := range opt.by {
		if !slices.Contains(jsondoc.ReportTables, by) {
			return usageError("--by %s: want %s", by, strings.Join(jsondoc.ReportTables, ", "))
		}
	}
	if err := checkTop(opt.top, "rows"); err != nil {
		return err
	}
	compute := analysis.NewReport
	if opt.setup {
		compute = analysis.NewReportWithSetup
	}
	return overRanks(path, opt.ranks, opt.depth, opt.data(), errOut, compute, func(r *runfile.Run, procs []int, rep *analysis.Report) error {
		found, err := opt.findings(r, errOut)
		if err != nil {
			return err
		}
		byRegion, err := opt.regions(r, procs, rep, errOut)
		if err != nil {
			return err
		}
		return opt.write(out, func() any {
			j := jsondoc.NewReport(path, r, rep, opt.by, found)
			j.Regions = jsondoc.NewRegions(byRegion)
			return j
		}, func(w *terminal.Screen) { newReportWriter(w, rep, byRegion, opt).write(path, r, found) })
	})
}

// findings is what there is to say about the whole run; nothing if only a part is asked for.
func (opt *reportOptions) findings(r *runfile.Run, errOut io.Writer) ([]findings.Finding, error) {
	if opt.ranks != "" || len(opt.by) > 0 {
		return nil, nil
	}
	if findings.Followed(r) { // from rank to rank, for which clocks must agree
		if err := correctClocks(context.Background(), r, "corrected", errOut); err != nil {
			return nil, err
		}
	}
	bar := newProgress(errOut, "ranks", uint64(len(r.Procs)))
	defer bar.close()
	return findings.New(r, bar.show)
}

// regions makes the report by region, if it is wanted. How long calls wait is looked for if that is asked
// for, or if the sentences about the run are.
func (opt *reportOptions) regions(r *runfile.Run, procs []int, rep *analysis.Report, errOut io.Writer) (*regions.Report, error) {
	asked := slices.Contains(opt.by, "region")
	if !rep.Annotated || len(opt.by) > 0 && !asked {
		return &regions.Report{}, nil
	}
	if asked {
		if err := correctClocks(context.Background(), r, "corrected", errOut); err != nil {
			return nil, err
		}
	}
	bar := newProgress(errOut, "ranks", uint64(len(procs)))
	defer bar.close()
	return waits.ByRegion(r, procs, asked || findings.Followed(r), bar.show)
}

// reportWriter writes a report as tables.
type reportWriter struct {
	*terminal.Screen
	*analysis.Report
	regions *regions.Report
	opt     *reportOptions
	// received, files: whether some calls received, and read or wrote files; nested: whether there are calls
	// inside others.
	received, files, nested bool
}

func newReportWriter(w *terminal.Screen, r *analysis.Report, byRegion *regions.Report, opt *reportOptions) *reportWriter {
	nested := slices.ContainsFunc(r.Procedures, func(row analysis.OpRow) bool { return row.Inclusive > row.Time.Sum })
	return &reportWriter{w, r, byRegion, opt, r.Total.Received > 0, r.Total.Read+r.Total.Written > 0, nested}
}

func (w *reportWriter) write(path string, r *runfile.Run, found []findings.Finding) {
	w.head(path, r)
	w.say(found)
	tables := map[string]func(){"procedure": w.procedures, "callsite": w.callsites, "rank": w.ranks, "region": w.byRegion}
	for _, name := range jsondoc.ReportTables {
		if len(w.opt.by) == 0 || slices.Contains(w.opt.by, name) {
			tables[name]()
		}
	}
	if w.opt.histogram {
		w.histogram()
		if len(w.opt.by) == 0 || slices.Contains(w.opt.by, "callsite") {
			w.sizes("callsite", w.Callsites)
		} else {
			w.sizes("procedure", w.Procedures)
		}
	}
	if len(w.opt.by) == 0 || slices.Contains(w.opt.by, "callsite") {
		w.imbalance()
		w.waits()
	}
	w.notes()
}

func (w *reportWriter) head(path string, r *runfile.Run) {
	t := &w.Total
	fmt.Fprintf(w, "file      %s\n", path)
	if len(r.Meta.Command) > 0 {
		fmt.Fprintf(w, "command   %s\n", strings.Join(r.Meta.Command, " "))
	}
	fmt.Fprintf(w, "ranks     %d", len(w.Ranks))
	if len(w.Ranks) < len(r.Procs) {
		fmt.Fprintf(w, " of %d", len(r.Procs))
	}
	fmt.Fprintf(w, "\ncalls     %s\n", grouped(t.Calls))
	fmt.Fprintf(w, "sent      %s; %s point-to-point messages\n", byteText(t.Sent), grouped(t.Messages))
	if w.Timed {
		fmt.Fprintf(w, "time      %s in MPI of %s (%s), all ranks together\n", units.Nanoseconds(float64(t.Time.Sum)), units.Nanoseconds(float64(w.App)), units.Percent(t.Time.Sum, w.App))
	} else {
		fmt.Fprintf(w, "time      not recorded; efg run --time stats records it\n")
	}
	if !w.WithSetup {
		writeSetup(w, w.Setup.Sum, "all ranks together")
	}
	switch x := w.InProgress; {
	case x.Time > 0:
		fmt.Fprintf(w, "besides   %s in %s that had not returned when the recording ended\n", units.Nanoseconds(float64(x.Time)), plural(int(x.Calls), "call"))
	case x.Calls > 0:
		fmt.Fprintf(w, "besides   %s that had not returned when the recording ended\n", plural(int(x.Calls), "call"))
	}
}

// writeSetup writes the line about the time in MPI_Init and MPI_Finalize, which is apart.
func writeSetup(w io.Writer, ns uint64, of string) {
	if ns > 0 {
		fmt.Fprintf(w, "apart     MPI_Init and MPI_Finalize: %s, %s\n", units.Nanoseconds(float64(ns)), of)
	}
}

// say writes sentences, in lines.
func (w *reportWriter) say(found []findings.Finding) {
	for i := range found {
		if i == 0 {
			fmt.Fprintln(w)
		}
		for k, line := range wrapped(found[i].Text, min(lineWidth, w.Width(lineWidth))-len("- ")) {
			indent := "- "
			if k > 0 {
				indent = "  "
			}
			fmt.Fprintf(w, "%s%s\n", indent, line)
		}
	}
}

// durationsWidth is the width of the distribution of durations.
const durationsWidth = 10

// lineWidth is the most characters that a line of a sentence has.
const lineWidth = 100

// wrapped divides a text into lines between words.
func wrapped(text string, width int) []string {
	var lines []string
	for word := range strings.FieldsSeq(text) {
		if last := len(lines) - 1; last >= 0 && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// opColumns are the columns that procedures and callsites have in common.
func (w *reportWriter) opColumns(t *terminal.Table) {
	t.Right("calls")
	if w.Timed {
		t.Right("time")
		if w.nested {
			t.Right("with inner")
		}
		t.Shares("%MPI")
		t.Details("%app")
		t.Right("mean")
		t.Details("min", "max")
		t.Pictures("durations")
	}
	w.volumeColumns(t)
}

func (w *reportWriter) volumeColumns(t *terminal.Table) {
	t.Details("sent", "per call")
	if w.received {
		t.Details("received")
	}
	if w.files {
		t.Details("read", "written")
	}
}

func (w *reportWriter) volumeCells(r *analysis.Row) []string {
	cells := []string{byteCell(r.Sent), meanBytes(r.Sent, r.Calls)}
	if w.received {
		cells = append(cells, byteCell(r.Received))
	}
	if w.files {
		cells = append(cells, byteCell(r.Read), byteCell(r.Written))
	}
	return cells
}

func (w *reportWriter) opCells(r *analysis.OpRow) []string {
	cells := []string{grouped(r.Calls)}
	if w.Timed {
		t := &r.Time
		ofMPI, ofApp := "apart", "apart"
		if !r.Apart {
			ofMPI, ofApp = units.Percent(t.Sum, w.Total.Time.Sum), units.Percent(t.Sum, w.App)
		}
		cells = append(cells, units.Nanoseconds(float64(t.Sum)))
		if w.nested {
			cells = append(cells, units.Nanoseconds(float64(r.Inclusive)))
		}
		cells = append(cells, ofMPI, ofApp,
			units.Nanoseconds(t.Mean()), units.Nanoseconds(float64(t.Min)), units.Nanoseconds(float64(t.Max)),
			terminal.Distribution(t.Bins[:], durationsWidth))
	}
	return append(cells, w.volumeCells(&r.Row)...)
}

func (w *reportWriter) procedures() {
	t := &terminal.Table{}
	t.Left("procedure")
	w.opColumns(t)
	for i := range w.shown(len(w.Procedures)) {
		t.Row(append([]string{w.Procedures[i].Op}, w.opCells(&w.Procedures[i])...)...)
	}
	w.title("Procedures", len(w.Procedures), w.order())
	t.Write(w)
}

func (w *reportWriter) callsites() {
	t := &terminal.Table{}
	t.Names("callsite")
	t.Left("procedure")
	t.Details("ranks")
	w.opColumns(t)
	for i := range w.shown(len(w.Callsites)) {
		r := &w.Callsites[i]
		t.Row(append([]string{r.Site, r.Op, grouped(uint64(r.Ranks))}, w.opCells(r)...)...)
	}
	w.title("Callsites", len(w.Callsites), w.order())
	t.Write(w)
}

func (w *reportWriter) order() string {
	if w.Timed {
		return "by time"
	}
	return "by calls"
}

// ranks lists the ranks, or, if there are too many, those with the most time in MPI.
func (w *reportWriter) ranks() {
	list, order := w.Ranks, "by number"
	if n := w.shown(len(list)); n < len(list) {
		order = w.order()
		list = first(list, n, func(x, y *analysis.RankRow) int {
			if w.Timed {
				return compare(y.TimeSum(), x.TimeSum())
			}
			return compare(y.Calls, x.Calls)
		})
	}
	t := &terminal.Table{}
	t.Right("rank")
	t.Details("threads")
	t.Right("calls")
	if w.Timed {
		t.Right("app", "MPI")
		t.Shares("%app")
	}
	w.volumeColumns(t)
	for i := range w.shown(len(list)) {
		r := &list[i]
		sums := r.Row()
		w.rankRow(t, fmt.Sprint(r.Rank), fmt.Sprint(r.Threads), &sums, r.App)
	}
	if len(w.Ranks) > 1 {
		w.rankRow(t, "all", "", &w.Total, w.App)
	}
	w.title("Ranks", len(w.Ranks), order)
	t.Write(w)
}

func (w *reportWriter) rankRow(t *terminal.Table, rank, threads string, r *analysis.Row, app uint64) {
	cells := []string{rank, threads, grouped(r.Calls)}
	if w.Timed {
		cells = append(cells, units.Nanoseconds(float64(app)), units.Nanoseconds(float64(r.Time.Sum)), units.Percent(r.Time.Sum, app))
	}
	t.Row(append(cells, w.volumeCells(r)...)...)
}

func compare(x, y uint64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// shown returns how many of n rows a table shows.
func (w *reportWriter) shown(n int) int {
	if w.opt.top == 0 {
		return n
	}
	return min(n, w.opt.top)
}

func (w *reportWriter) title(name string, n int, order string) {
	if k := w.shown(n); k < n {
		fmt.Fprintf(w, "\n%s: the first %d of %s, %s\n", name, k, grouped(uint64(n)), order)
		return
	}
	fmt.Fprintf(w, "\n%s, %s\n", name, order)
}

func (w *reportWriter) byRegion() {
	rows := w.regions.Rows
	if len(rows) == 0 {
		if len(w.opt.by) > 0 {
			fmt.Fprintf(w, "\nThe program names no regions (efg hook include DIR writes what it needs for that)\n")
		}
		return
	}
	w.title("Regions", len(rows), "by time")
	regionTable(w.regions, rows[:w.shown(len(rows))]).Write(w)
	regionNotes(w.Screen, w.regions)
}

func (w *reportWriter) imbalance() {
	list := w.Imbalanced(jsondoc.MostImbalanced)
	if len(list) == 0 {
		return
	}
	t := &terminal.Table{}
	t.Names("callsite")
	t.Left("procedure")
	t.Details("ranks", "mean/rank")
	t.Right("max/rank", "of rank", "imbalance", "cost")
	for i := range list {
		r := &list[i]
		t.Row(r.Site, r.Op, grouped(uint64(r.Ranks)), units.Nanoseconds(r.Mean()), units.Nanoseconds(float64(r.Most)), fmt.Sprint(r.MostRank),
			fmt.Sprintf("%.0f%%", 100*r.Imbalance()), units.Nanoseconds(r.Cost()))
	}
	fmt.Fprintf(w, "\nImbalance: callsites by how much longer the slowest rank takes than the mean of the ranks that make the call\n")
	t.Write(w)
}

func (w *reportWriter) waits() {
	if len(w.Waits) == 0 {
		return
	}
	t := &terminal.Table{}
	t.Right("rank", "longest")
	t.Names("callsite")
	t.Left("procedure")
	t.Right("calls")
	for _, v := range w.Waits[:min(len(w.Waits), jsondoc.LongestWaits)] {
		t.Row(fmt.Sprint(v.Rank), units.Nanoseconds(float64(v.Time)), v.Site, v.Op, grouped(v.Calls))
	}
	fmt.Fprintf(w, "\nLargest waits: the longest single call of a rank at a callsite\n")
	t.Write(w)
}

func (w *reportWriter) notes() {
	note := func(n uint64, text string) {
		if n > 0 {
			fmt.Fprintf(w, "\nnote: "+text+"\n", grouped(n))
		}
	}
	note(w.Total.Errors, "calls that returned an error: %s; they move nothing")
	note(w.Total.Unknown, "calls of unknown size: %s; they count as 0")
	note(w.Untimed, "calls without times: %s")
	note(uint64(w.Incomplete), "incomplete streams: %s; efg info says why")
	note(w.Dropped, "calls that were not recorded for lack of space: %s")
}
