package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/live"
	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type topOptions struct {
	interval time.Duration
	count    int
	rows     int
	sort     string
	json     bool
	textForm
}

// topOrders are what --sort selects from.
var topOrders = []string{"rank", "events", "mpi"}

func newTop() *cobra.Command {
	var opt topOptions
	cmd := &cobra.Command{
		Use:   "top [DIR | RUN]",
		Short: "Show live what the ranks of a running job are doing",
		Long: `Show live what the ranks of a running job are doing: events per second, the fraction of
time in MPI, the call that each is in, and the callsites where the time goes. DIR and RUN
are as for efg where. On a terminal it runs until it is interrupted, elsewhere it shows
one interval. The processes are not disturbed.`,
		Example:           "  efg top segments --interval 100ms --rows 5",
		Args:              argCount(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeRuns(1, true),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return top(ctx, append(args, "")[0], &opt, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.DurationVar(&opt.interval, "interval", time.Second, "length of an interval")
	f.IntVar(&opt.count, "count", 0, "number of intervals to show (default: unlimited on a terminal, else 1)")
	f.IntVar(&opt.rows, "rows", 20, "rows per table; 0: all")
	f.StringVar(&opt.sort, "sort", "rank", "sort the ranks by: rank, events (per second), mpi (least time in MPI first)")
	f.BoolVar(&opt.json, "json", false, "write JSON Lines, one object per interval")
	opt.textForm.flags(cmd)
	completeWords(cmd, "sort", topOrders...)
	return cmd
}

func (opt *topOptions) check() error {
	switch {
	case opt.interval < 10*time.Millisecond:
		return usageError("--interval %s: want at least 10ms", opt.interval)
	case opt.count < 0:
		return usageError("--count %d: want a number of intervals", opt.count)
	case opt.rows < 0:
		return usageError("--rows %d: want a number of rows, or 0 for all", opt.rows)
	case !slices.Contains(topOrders, opt.sort):
		return usageError("--sort %s: want %s", opt.sort, strings.Join(topOrders, ", "))
	}
	return nil
}

// findEvery is the interval between listings of a job's processes, which take longer than
// sampling them.
const findEvery = time.Second

func top(ctx context.Context, target string, opt *topOptions, out io.Writer) error {
	if err := opt.check(); err != nil {
		return err
	}
	m := live.NewMonitor()
	defer m.Close()
	var find finder
	defer find.close()
	onTerminal := printable.IsTerminal(out) && !opt.json
	tick := time.NewTicker(opt.interval)
	defer tick.Stop()
	var paths []string
	var found time.Time
	for n := 0; ; n++ {
		var err error
		if time.Since(found) >= findEvery {
			paths, err = find.segments(target)
			found = time.Now()
		}
		if err == errStored {
			err = usageError("%s: is not running", target)
		}
		var f *live.Frame
		if err == nil {
			f, err = m.Look(paths)
		}
		if err != nil {
			if n > 1 && onTerminal {
				fmt.Fprintln(out, "the job has ended")
				return nil
			}
			return &exitError{2, err}
		}
		if n > 0 {
			if err := showFrame(f, opt, onTerminal, out); err != nil {
				return err
			}
			if n == opt.count || opt.count == 0 && !onTerminal {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// clearScreen replaces the previous frame.
const clearScreen = "\x1b[H\x1b[2J"

func showFrame(f *live.Frame, opt *topOptions, onTerminal bool, out io.Writer) error {
	if opt.json {
		return json.NewEncoder(out).Encode(f)
	}
	printable.Fields(f)
	if onTerminal {
		io.WriteString(printable.Raw(out), clearScreen)
	}
	w := opt.screen(out)
	(&topWriter{w, f, opt}).write()
	return w.Flush()
}

// topWriter writes a frame as tables.
type topWriter struct {
	*terminal.Screen
	frame *live.Frame
	opt   *topOptions
}

func (w *topWriter) write() {
	f := w.frame
	running := 0
	for i := range f.Ranks {
		if f.Ranks[i].Running {
			running++
		}
	}
	fmt.Fprintf(w, "job     %s\n", strings.Join(f.Command, " "))
	fmt.Fprintf(w, "ranks   %d of %d running\n", running, len(f.Ranks))
	fmt.Fprintf(w, "events  %s; %s\n", grouped(f.Events), rateText(f.Rate))
	if f.Timed {
		fmt.Fprintf(w, "MPI     %.1f%% of the time of all threads\n", 100*f.InMPI)
	}
	w.ranks()
	w.calls()
}

func (w *topWriter) ranks() {
	list := slices.Clone(w.frame.Ranks)
	switch w.opt.sort {
	case "events":
		slices.SortStableFunc(list, func(a, b live.RankRate) int { return cmp.Compare(b.Rate, a.Rate) })
	case "mpi":
		slices.SortStableFunc(list, func(a, b live.RankRate) int { return cmp.Compare(a.InMPI, b.InMPI) })
	}
	t := &terminal.Table{}
	t.Right("rank")
	t.Details("events")
	t.Right("events/s")
	t.Shares("MPI")
	t.Right("for")
	t.Left("doing")
	t.Names("at")
	for i := range w.shown(len(list)) {
		r := &list[i]
		t.Row(fmt.Sprint(r.Rank), grouped(r.Events), rateCell(r.Rate), w.share(r.InMPI), secondsText(r.Seconds), rankDoing(r), r.Site)
	}
	fmt.Fprintf(w, "\n")
	t.Write(w)
	if n := w.shown(len(list)); n < len(list) {
		fmt.Fprintf(w, "and %d more ranks\n", len(list)-n)
	}
}

func rankDoing(r *live.RankRate) string {
	switch {
	case !r.Running:
		return "has ended"
	case r.Inner != "":
		return r.Op + ", inside it " + r.Inner
	case r.Op != "":
		return r.Op
	case r.Last != "":
		return "computing, after " + r.Last
	}
	return "no call yet"
}

func (w *topWriter) calls() {
	t := &terminal.Table{}
	t.Names("callsite")
	t.Left("procedure")
	t.Details("ranks")
	t.Right("calls/s")
	t.Shares("MPI")
	t.Right("mean")
	for i := range w.shown(len(w.frame.Calls)) {
		c := &w.frame.Calls[i]
		mean := "-"
		if c.Mean > 0 {
			mean = units.Nanoseconds(c.Mean * 1e9)
		}
		t.Row(c.Site, c.Op, fmt.Sprint(c.Ranks), rateCell(c.Rate), w.share(c.InMPI), mean)
	}
	if t.Rows() > 0 {
		fmt.Fprintf(w, "\n")
	}
	t.Write(w)
}

func (w *topWriter) share(part float64) string {
	if !w.frame.Timed {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*part)
}

func (w *topWriter) shown(n int) int {
	if w.opt.rows == 0 {
		return n
	}
	return min(n, w.opt.rows)
}

// rateText writes a rate: "1.2 M per second".
func rateText(v float64) string { return rateCell(v) + " per second" }

func rateCell(v float64) string { return units.Count(v) }
