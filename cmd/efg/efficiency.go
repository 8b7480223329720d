package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/analysis/efficiency"
	"github.com/efg-tools/efg/internal/analysis/sections"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type efficiencyOptions struct {
	scaling string
	windows int
	loops   bool
	phases  bool
	regions bool
	clock   string
	top     int
	depth   siteDepth
	answerForm
}

// scalings are the values of --scaling.
var scalings = map[string]efficiency.Scaling{
	"auto": efficiency.NoScaling, "strong": efficiency.StrongScaling, "weak": efficiency.WeakScaling,
}

func newEfficiency() *cobra.Command {
	var opt efficiencyOptions
	cmd := &cobra.Command{
		Use:   "efficiency FILE...",
		Short: "Show how well a run, or several, use their processors",
		Long: `Show the parallel efficiency of a run as the product of its factors, those of the POP
project: load balance, and communication efficiency, which is serialisation (ranks that
wait for each other on any network) times transfer (what the network takes). MPI_Init and
MPI_Finalize are left out.

Of several runs of one program, the computation scaling relates each to the first one:
whether the ranks compute as much as they should. Strong and weak scaling are told apart by
how the computation grows with the number of ranks, or by --scaling. Of runs with three
numbers of ranks or more, models of the time at each callsite tell which will dominate.

--loops and --phases show the factors for each loop and each kind of phases, as efg loops
and efg phases number them, --regions for each region that the program names.

Serialisation and transfer, and --windows, need the times of each call, the
rest times of any kind. See docs/efficiency.md.`,
		Example: `  efg efficiency jacobi.efg
  efg efficiency traced.efg --windows 5
  efg efficiency jacobi.efg --loops --phases
  efg efficiency jacobi.efg traced.efg --scaling strong --json
  efg efficiency jacobi.efg traced.efg jacobi.efg --top 3`,
		Args:              argCount(cobra.MinimumNArgs(1)),
		ValidArgsFunction: completeRuns(maxEfficiencyFiles, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showEfficiency(args, &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.scaling, "scaling", "auto", "how the work grows with the ranks: strong (not at all), weak (in proportion), auto")
	f.IntVar(&opt.windows, "windows", 0, "divide each run into this many parts of equal time")
	f.BoolVar(&opt.loops, "loops", false, "show each loop, too")
	f.BoolVar(&opt.phases, "phases", false, "show each kind of phases, too")
	f.BoolVar(&opt.regions, "regions", false, "show each region that the program names, too")
	clockFlag(cmd, &opt.clock)
	opt.depth.flag(cmd)
	f.IntVar(&opt.top, "top", 10, "callsites whose models to show; 0: all")
	opt.flags(cmd, "runs")
	return cmd
}

// maxEfficiencyFiles bounds the files whose names are completed, mostWindows the parts of a run.
const (
	maxEfficiencyFiles = 64
	mostWindows        = 10_000
)

func showEfficiency(paths []string, opt *efficiencyOptions, out, errOut io.Writer) error {
	scaling, ok := scalings[opt.scaling]
	if !ok {
		return usageError("--scaling %s: want auto, strong or weak", opt.scaling)
	}
	if opt.windows < 0 || opt.windows > mostWindows {
		return usageError("--windows %d: want a number from 0 to %d", opt.windows, mostWindows)
	}
	if err := checkTop(opt.top, "callsites"); err != nil {
		return err
	}
	var runs []*efficiency.Run
	var times []map[efficiency.Site]float64
	for _, path := range paths {
		r, sites, err := efficiencyOf(path, opt, len(paths) > 2, errOut)
		if err != nil {
			return err
		}
		runs, times = append(runs, r), append(times, sites)
	}
	c, models := efficiency.Compare(runs, scaling), efficiency.Models(runs, times)
	return opt.write(out, func() any { return jsondoc.NewEfficiency(paths, runs, c, models) },
		func(w *terminal.Screen) {
			writeEfficiency(w, paths, runs, c)
			writeModels(w, paths, runs, models, opt.top)
		})
}

// efficiencyOf also returns the times at callsites, if they are wanted.
func efficiencyOf(path string, opt *efficiencyOptions, sites bool, errOut io.Writer) (*efficiency.Run, map[efficiency.Site]float64, error) {
	r, err := openShown(path, false)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	r = opt.depth.of(r, path, errOut)
	if err := correctClocks(context.Background(), r, opt.clock, errOut); err != nil {
		return nil, nil, err
	}
	bar := newProgress(errOut, "ranks", uint64(len(r.Procs)))
	e, err := efficiency.New(r, efficiency.Parts{Windows: opt.windows, Loops: opt.loops, Phases: opt.phases, Regions: opt.regions}, bar.show)
	bar.close()
	if errors.Is(err, efficiency.ErrNoTimes) {
		return nil, nil, usageError("%s: %w", path, err)
	}
	if err != nil || !sites {
		return e, nil, err
	}
	times, err := efficiency.SiteTimes(r, e)
	return e, times, err
}

// writeModels shows how the times at callsites grow.
func writeModels(w io.Writer, paths []string, runs []*efficiency.Run, models []efficiency.Model, top int) {
	if len(models) == 0 {
		return
	}
	ahead := 0
	for _, r := range runs {
		ahead = max(ahead, 4*r.Ranks)
	}
	title := fmt.Sprintf("Growth: mean time of a rank, and what to expect of %s ranks", grouped(uint64(ahead)))
	models = models[:cutRows(w, title, len(models), top)]
	t := &terminal.Table{}
	t.Right(paths...)
	t.Right("expected", "error")
	t.Left("grows with")
	t.Names("in")
	for i := range models {
		m := &models[i]
		var cells []string
		for _, v := range m.Times {
			cells = append(cells, units.Nanoseconds(v))
		}
		growth, in := m.Growth(), "computation"
		if growth == "" {
			growth = "-"
		}
		if m.Op != "" {
			in = strings.TrimSpace(m.Op + " " + m.Site.Site)
		}
		t.Row(append(cells, units.Nanoseconds(m.Ahead), fmt.Sprintf("%.0f%%", 100*m.Error), growth, in)...)
	}
	t.Write(w)
}

func writeEfficiency(w *terminal.Screen, paths []string, runs []*efficiency.Run, c *efficiency.Comparison) {
	t := &terminal.Table{}
	t.Left("")
	t.Right(paths...)
	row := func(name string, cell func(i int, r *efficiency.Run) string) {
		cells := []string{name}
		for i, r := range runs {
			cells = append(cells, cell(i, r))
		}
		t.Row(cells...)
	}
	known := func(v float64) string {
		if v == 0 {
			return "-"
		}
		return fmt.Sprintf("%.1f%%", 100*v)
	}
	row("ranks", func(_ int, r *efficiency.Run) string { return grouped(uint64(r.Ranks)) })
	row("time", func(_ int, r *efficiency.Run) string { return units.Nanoseconds(float64(r.Time)) })
	row("MPI_Init and MPI_Finalize, apart", func(_ int, r *efficiency.Run) string { return units.Nanoseconds(float64(r.Setup)) })
	row("computation, mean of the ranks", func(_ int, r *efficiency.Run) string {
		return units.Nanoseconds(float64(r.Useful) / float64(max(r.Ranks, 1)))
	})
	row("  longest", func(_ int, r *efficiency.Run) string {
		return fmt.Sprintf("%s, rank %d", units.Nanoseconds(float64(r.Most)), r.MostRank)
	})
	row("parallel efficiency", func(_ int, r *efficiency.Run) string { return known(r.Parallel()) })
	row("  load balance", func(_ int, r *efficiency.Run) string { return known(r.LoadBalance()) })
	row("  communication efficiency", func(_ int, r *efficiency.Run) string { return known(r.Communication()) })
	row("    serialisation", func(_ int, r *efficiency.Run) string { return known(r.Serialisation()) })
	row("    transfer", func(_ int, r *efficiency.Run) string { return known(r.Transfer()) })
	if anyCounted(runs) {
		row("instructions per cycle of the computation", func(_ int, r *efficiency.Run) string { return factorText(r.IPC()) })
		row("instructions per ns of it", func(_ int, r *efficiency.Run) string {
			return factorText(float64(r.Instructions) / float64(max(r.Useful, 1)))
		})
	}
	if len(runs) > 1 {
		row("computation scaling", func(i int, _ *efficiency.Run) string { return known(c.Computation[i]) })
		if anyCounted(runs) {
			row("  instruction scaling", func(i int, _ *efficiency.Run) string { return known(c.Instructions[i]) })
			row("  IPC scaling", func(i int, _ *efficiency.Run) string { return known(c.IPC[i]) })
			row("  frequency scaling", func(i int, _ *efficiency.Run) string { return known(c.Frequency[i]) })
		}
		row("global efficiency", func(i int, r *efficiency.Run) string { return known(c.Computation[i] * r.Parallel()) })
		row("speedup", func(i int, _ *efficiency.Run) string { return fmt.Sprintf("%.2f", c.Speedup[i]) })
	}
	t.Write(w)
	for i, r := range runs {
		windowTable(w, paths[i], r)
		loopPartTable(w, paths[i], r)
		phasePartTable(w, paths[i], r)
		regionPartTable(w, paths[i], r)
	}
	efficiencyNotes(w, paths, runs, c)
}

// anyCounted reports whether instructions or cycles of a run are known.
func anyCounted(runs []*efficiency.Run) bool {
	return slices.ContainsFunc(runs, func(r *efficiency.Run) bool { return r.Instructions+r.Cycles > 0 })
}

// factorText writes a factor, "-" if it is not known.
func factorText(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", v)
}

func windowTable(w io.Writer, path string, r *efficiency.Run) {
	if len(r.Windows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s, by time since the run began, MPI_Init and MPI_Finalize included\n", path)
	t := &terminal.Table{}
	t.Right("from", "to", "parallel", "load balance", "communication", "longest", "rank")
	for _, x := range r.Windows {
		part := efficiency.Run{Ranks: r.Ranks, Time: x.Time, Useful: x.Useful, Most: x.Most}
		rank := "-"
		if x.Most > 0 {
			rank = fmt.Sprint(x.MostRank)
		}
		t.Row(units.Nanoseconds(float64(x.Begin)), units.Nanoseconds(float64(x.Begin+x.Time)), fmt.Sprintf("%.1f%%", 100*part.Parallel()),
			fmt.Sprintf("%.1f%%", 100*part.LoadBalance()), fmt.Sprintf("%.1f%%", 100*part.Communication()), units.Nanoseconds(float64(x.Most)), rank)
	}
	t.Write(w)
}

func loopPartTable(w io.Writer, path string, r *efficiency.Run) {
	if len(r.Loops) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s, by loop, those in it included\n", path)
	t := partTable("loop")
	for i := range r.Loops {
		partRow(t, &r.Loops[i].Part, sections.LoopText(r.Loops[i].Loop))
	}
	t.Write(w)
}

func phasePartTable(w io.Writer, path string, r *efficiency.Run) {
	if len(r.Phases) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s, by phases, as the rows of efg phases\n", path)
	t := partTable("row", "from", "until")
	for i := range r.Phases {
		p := &r.Phases[i]
		partRow(t, &p.Part, fmt.Sprint(p.Row), placeText(p.From, "begin"), placeText(p.Until, "end"))
	}
	t.Write(w)
}

func regionPartTable(w io.Writer, path string, r *efficiency.Run) {
	if len(r.Regions) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s, by region, those in it included\n", path)
	t := partTable("region")
	for i := range r.Regions {
		partRow(t, &r.Regions[i].Part, regionName(r.Regions[i].Region))
	}
	t.Write(w)
}

func partTable(names ...string) *terminal.Table {
	t := &terminal.Table{}
	t.Right("time", "parallel", "load balance", "communication")
	t.Details("mean", "longest", "rank")
	t.Names(names...)
	return t
}

func partRow(t *terminal.Table, p *efficiency.Part, names ...string) {
	r := p.Run()
	t.Row(append([]string{
		units.Nanoseconds(float64(p.Time)), fmt.Sprintf("%.1f%%", 100*r.Parallel()), fmt.Sprintf("%.1f%%", 100*r.LoadBalance()), fmt.Sprintf("%.1f%%", 100*r.Communication()),
		units.Nanoseconds(float64(p.Useful) / float64(max(p.Ranks, 1))), units.Nanoseconds(float64(p.Most)), fmt.Sprint(p.MostRank),
	}, names...)...)
}

func efficiencyNotes(w io.Writer, paths []string, runs []*efficiency.Run, c *efficiency.Comparison) {
	fmt.Fprintln(w)
	if len(runs) > 1 {
		switch c.Scaling {
		case efficiency.NoScaling:
			fmt.Fprintf(w, "All runs have as many ranks; computation scaling compares their computation\n")
		default:
			fmt.Fprintf(w, "%s scaling: the computation of all ranks grows with their number to the power of %.2f\n", c.Scaling, c.Exponent)
		}
	}
	for i, r := range runs {
		if r.Reason != "" {
			fmt.Fprintf(w, "note: %s: serialisation and transfer are not known: %s\n", paths[i], r.Reason)
		}
		if r.End != nil && len(r.Windows) > 0 {
			fmt.Fprintf(w, "note: %s: windows end after %s, where the times of each call do in some ranks; efg info says which\n", paths[i], units.Nanoseconds(float64(*r.End)))
		}
		if r.Untimed > 0 {
			fmt.Fprintf(w, "note: %s: calls without times: %s\n", paths[i], grouped(r.Untimed))
		}
	}
}
