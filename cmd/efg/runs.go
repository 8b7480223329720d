package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/httpapi"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
)

type runsOptions struct {
	store, spool string
	last         int
	answerForm
	wait time.Duration
}

func newRuns() *cobra.Command {
	var opt runsOptions
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs that efg daemon has recorded",
		Long: `List the runs that efg daemon has recorded, the newest last, and the jobs that it is
recording. All commands that take a run file also accept the name of a run or a unique
prefix of it; "last" is the newest run.`,
		Example: "  efg runs --store segments --last 5",
		Args:    argCount(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listRuns(&opt, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.store, "store", "", "directory of the runs (default $EFG_STORE, or efg in the user's state directory)")
	f.StringVar(&opt.spool, "spool", "", "directory of the segments (default: the daemon's)")
	f.IntVar(&opt.last, "last", 0, "list only this many of the newest runs; 0: all")
	opt.flags(cmd, "runs")
	f.DurationVar(&opt.wait, "wait", 0, "wait at most this long until jobs that have ended are stored")
	return cmd
}

func listRuns(opt *runsOptions, out io.Writer) error {
	if opt.last < 0 {
		return usageError("--last %d: want a number of runs, or 0 for all", opt.last)
	}
	if opt.wait < 0 {
		return usageError("--wait %s: want a time", opt.wait)
	}
	dir, err := storeDir(opt.store)
	if err != nil {
		return err
	}
	wakeService(dir)
	store, err := daemon.OpenStore(dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return usageError("%s: no runs: efg daemon has not recorded anything yet", dir)
	}
	if err != nil {
		return usageError("%w", err)
	}
	if err := waitStored(opt.spool, opt.wait); err != nil {
		return err
	}
	l, err := httpapi.NewStore(store, opt.spool).List()
	if err != nil {
		return err
	}
	if opt.last > 0 && len(l.Runs) > opt.last {
		l.Runs = l.Runs[len(l.Runs)-opt.last:]
	}
	return opt.write(out, func() any { return l }, func(w *terminal.Screen) {
		writeRuns(w, l)
		writePage(w, l, store)
	})
}

// waitStored waits until all ended jobs in a spool are stored.
func waitStored(dir string, most time.Duration) error {
	spool := daemon.Spool{Dir: cmp.Or(dir, daemon.DefaultSpool())}
	for end := time.Now().Add(most); most > 0; time.Sleep(100 * time.Millisecond) {
		ended := 0
		for _, j := range daemon.JobsIn(spool.Dir) {
			if j.Running() == 0 {
				ended++
			}
		}
		switch {
		case ended == 0:
			return nil
		case !spool.Served():
			return fmt.Errorf("%s not stored, and no daemon is running for %s", plural(ended, "job"), spool.Dir)
		case time.Now().After(end):
			return fmt.Errorf("%s not stored after %s", plural(ended, "job"), most)
		}
	}
	return nil
}

// writePage prints the address of the daemon's web page.
func writePage(w *terminal.Screen, l *jsondoc.RunList, store *daemon.Store) {
	if !l.Daemon {
		return
	}
	if address := pageAddress(store); address != "" {
		fmt.Fprintf(w, "page: %s\n", address)
	}
}

func writeRuns(w *terminal.Screen, l *jsondoc.RunList) {
	t := &terminal.Table{}
	t.Left("run", "started")
	t.Right("time", "ranks")
	t.Details("events", "size")
	t.Left("state")
	t.Names("command")
	const layout = "2006-01-02 15:04:05"
	for i := range l.Runs {
		r := &l.Runs[i]
		t.Row(r.Name, r.Started.Format(layout), lengthText(r.Ended.Sub(r.Started)), fmt.Sprint(r.Ranks), grouped(r.Events),
			byteText(uint64(r.Bytes)), runState(r), commandText(r.Command))
	}
	for _, j := range l.Jobs {
		state := fmt.Sprintf("running, %d of %d processes", j.Running, j.Processes)
		if j.Running == 0 {
			state = "ended, not stored yet"
		}
		t.Row(j.Name, j.Started.Format(layout), lengthText(time.Since(j.Started)), fmt.Sprint(j.Processes), "-", "-", state, commandText(j.Command))
	}
	t.Write(w)
	if t.Rows() == 0 {
		fmt.Fprintf(w, "no runs in %s\n", l.Store)
	}
	for _, p := range l.Problems {
		fmt.Fprintf(w, "problem: %s\n", p)
	}
	if !l.Daemon {
		fmt.Fprintln(w, "no daemon is running for this store")
	}
}

// runState says how a run ended.
func runState(r *daemon.Summary) string {
	var text []string
	if r.Deadlock {
		text = append(text, "deadlock")
	}
	switch {
	case r.Unmerged:
		text = append(text, "in parts", partsText(r))
	case r.Complete:
		text = append(text, "complete")
	case r.Ranks < r.Size:
		text = append(text, fmt.Sprintf("%d of %d ranks", r.Ranks, r.Size))
	default:
		text = append(text, "incomplete")
	}
	if len(r.LeftOut) > 0 {
		text = append(text, plural(len(r.LeftOut), "segment")+" left out")
	}
	return strings.Join(text, ", ")
}

// partsText describes the parts of a launch on several machines.
func partsText(r *daemon.Summary) string {
	text := fmt.Sprintf("%d of %d ranks", r.Ranks, r.Size)
	if len(r.Writing) > 0 {
		text += fmt.Sprintf(", %s being written", plural(len(r.Writing), "part"))
	}
	return text
}

func lengthText(d time.Duration) string { return secondsText(max(d, 0).Seconds()) }

// commandText is a command line that fits into a table.
func commandText(command []string) string {
	if len(command) == 0 {
		return ""
	}
	text := strings.Join(append([]string{filepath.Base(command[0])}, command[1:]...), " ")
	return shorten(text, 40)
}
