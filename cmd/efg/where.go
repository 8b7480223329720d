package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/analysis/waitfor"
	"github.com/efg-tools/efg/internal/live"
	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type whereOptions struct {
	ranks string
	all   bool
	depth siteDepth
	answerForm
}

// settle is the time between the two samples of a job: a rank that has done nothing in between
// is waiting, or in a long computation.
const settle = 200 * time.Millisecond

// statusHangs is the exit status of a command that found that a job hangs, or hung.
const statusHangs = 3

func newWhere() *cobra.Command {
	var opt whereOptions
	cmd := &cobra.Command{
		Use:   "where [FILE | DIR | RUN]",
		Short: "Show which call each rank of a job is in, and which ranks it waits for",
		Long: `For a job that is running, hangs or was killed, show which call each rank is in, for how
long, and which ranks it waits for. Deadlocked ranks, which wait for each other or for a
process that has ended, are named, as are mismatched collectives. The exit status is 3 if
there are any.

FILE is a run file: it shows the state at the end of the run. DIR is a directory with the
segments of the job's processes: the one that EFG_DIR names, or the one that efg run uses
while it runs and leaves behind with --keep. RUN is a job that efg daemon is recording, or
a stored run, shown as it was when it ended. The default is the only job of this user that
is running under efg on this machine. The processes are not disturbed.`,
		Example:           "  efg where segments --rank 0-2",
		Args:              argCount(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeRuns(1, true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return where(append(args, "")[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.ranks, "rank", "", "show each thread of these ranks, as in 0-3,7")
	f.BoolVar(&opt.all, "all", false, "show each thread of all ranks")
	opt.depth.flag(cmd)
	opt.flags(cmd, "groups")
	return cmd
}

func where(target string, opt *whereOptions, out, errOut io.Writer) error {
	set, err := parseRanks(opt.ranks)
	if err != nil {
		return err
	}
	c, err := opt.jobState(target, errOut)
	if err != nil {
		return err
	}
	if opt.data() {
		err = opt.writeData(out, c)
	} else {
		printable.Fields(c)
		err = showState(c, opt, set, out)
	}
	if err == nil && c.Hangs() {
		err = &exitError{status: statusHangs}
	}
	return err
}

// showState writes a job state as text: the threads of ranks, or groups of threads that do the same.
func showState(c *live.JobState, opt *whereOptions, set ranks, out io.Writer) error {
	w := opt.screen(out)
	r := &whereWriter{w, c}
	r.head()
	var err error
	if opt.all || set != nil {
		err = r.threads(set)
	} else {
		r.groups()
	}
	return errors.Join(err, w.Flush())
}

// jobState returns the state of the job that the argument names: a run file, a directory of
// segments, a job of the daemon, or a run in its store.
func (opt *whereOptions) jobState(target string, errOut io.Writer) (*live.JobState, error) {
	if st, err := os.Stat(target); err == nil && !st.IsDir() {
		return opt.ofRun(target, errOut)
	}
	var f finder
	defer f.close()
	paths, err := f.segments(target)
	if errors.Is(err, errStored) {
		return opt.ofRun(target, errOut)
	}
	if err != nil {
		return nil, err
	}
	if opt.depth.given {
		return nil, usageError("--site-depth: is for run files")
	}
	j, err := live.Read(paths, settle)
	if err != nil {
		return nil, &exitError{2, fmt.Errorf("%s: %w", filepath.Dir(paths[0]), err)}
	}
	return live.NewJobState(j), nil
}

// ofRun returns the state of a run, given by file or by name in the store, as it was
// when its recording ended.
func (opt *whereOptions) ofRun(name string, errOut io.Writer) (*live.JobState, error) {
	r, err := openRun(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	j, err := live.OfRun(opt.depth.of(r, name, errOut))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usageError("%s: no rank was in a call when the run ended", name)
	}
	if err != nil {
		return nil, err
	}
	return live.NewJobState(j), nil
}

// whereWriter writes a job state as text.
type whereWriter struct {
	*terminal.Screen
	call *live.JobState
}

func (w *whereWriter) head() {
	running := "running"
	if !w.call.Running {
		running = "none is running; last update " + w.call.At.Format("2006-01-02 15:04:05 UTC")
	}
	fmt.Fprintf(w, "job       %s\n", strings.Join(w.call.Command, " "))
	fmt.Fprintf(w, "MPI       %s\n", shorten(w.call.MPI, 60))
	fmt.Fprintf(w, "ranks     %d of %d; %s\n", w.present(), w.call.Size, running)
	if len(w.call.Missing) > 0 {
		fmt.Fprintf(w, "missing   %s: no segment here\n", ranksText(w.call.Missing))
	}
	for _, d := range w.call.Deadlocks {
		fmt.Fprintf(w, "DEADLOCK  %s%s\n", waitfor.CycleText(d.Ranks), cycleText(d.Cycle))
	}
	for i := range w.call.Mismatches {
		w.mismatch(&w.call.Mismatches[i])
	}
	if len(w.call.InVain) > 0 {
		fmt.Fprintf(w, "BLOCKED   %s: they wait for a process that has ended\n", ranksText(w.call.InVain))
	}
	if len(w.call.Behind) > 0 {
		fmt.Fprintf(w, "behind    %s: wait for ranks that are blocked forever\n", ranksText(w.call.Behind))
	}
	for _, b := range w.call.Broken {
		fmt.Fprintf(w, "left out  %s\n", b)
	}
}

// present is the number of ranks with a segment.
func (w *whereWriter) present() int {
	ranks := map[int]bool{}
	for i := range w.call.Threads {
		ranks[w.call.Threads[i].Rank] = true
	}
	return len(ranks)
}

// mismatch writes which ranks are in which of the mismatched calls.
func (w *whereWriter) mismatch(m *live.Mismatch) {
	fmt.Fprintf(w, "MISMATCH  the collective calls on %s differ in %s\n", m.On, differText[m.Differ])
	for i := range m.Calls {
		c := &m.Calls[i]
		returned := ""
		if !c.In {
			returned = ", has returned"
		}
		fmt.Fprintf(w, "          %s: %s at %s%s\n", shorten(ranksText(c.Ranks), 40), callText(c.Op, c.Args), c.Site, returned)
	}
}

// differText describes in what the calls of a mismatch differ.
var differText = map[string]string{
	string(waitfor.OtherProcedure): "the procedure", string(waitfor.OtherRoot): "the root",
	string(waitfor.OtherOperation): "the operation", string(waitfor.OtherData): "the data",
}

func ranksText(list []int) string { return waitfor.RanksText(list) }

// longestCycle is the maximum number of ranks of a cycle that are written out.
const longestCycle = 12

// cycleText describes a cycle; it is empty for a rank that waits for itself.
func cycleText(cycle []int) string {
	if len(cycle) == 1 {
		return ""
	}
	var b strings.Builder
	b.WriteString(": ")
	for i, r := range cycle {
		if i == longestCycle {
			fmt.Fprintf(&b, "... %d more -> ", len(cycle)-i)
			break
		}
		fmt.Fprintf(&b, "%d -> ", r)
	}
	return b.String() + fmt.Sprint(cycle[0])
}

func (w *whereWriter) groups() {
	t := &terminal.Table{}
	t.Names("ranks")
	t.Right("threads", "for")
	t.Left("doing")
	t.Names("at", "awaits")
	for i := range w.call.Groups {
		g := &w.call.Groups[i]
		t.Row(shorten(rankset.Text(g.Ranks), 24), fmt.Sprint(g.Number), spanText(g.Shortest, g.Longest),
			describeState(g.State, g.Op, groupArgs(g), g.Inner), g.Site, groupAwaits(g))
	}
	fmt.Fprintln(w)
	t.Write(w)
}

// describeState describes what a thread is doing.
func describeState(state live.State, op string, args []string, inner *live.InnerCall) string {
	switch {
	case state == live.InCall && inner != nil:
		text := callText(op, args) + ", inside it " + callText(inner.Op, inner.Args)
		if inner.Site != "" {
			text += " at " + inner.Site
		}
		return text
	case state == live.InCall:
		return callText(op, args)
	case op == "" || state == live.Finalized:
		return string(state)
	case args != nil:
		return fmt.Sprintf("%s, in %s", state, op)
	}
	return fmt.Sprintf("%s, after %s", state, op)
}

func spanText(low, high *float64) string {
	if low == nil {
		return "-"
	}
	a, b := secondsText(*low), secondsText(*high)
	if a == b {
		return a
	}
	return a + " to " + b
}

// secondsText writes a waiting time.
func secondsText(v float64) string {
	if v < 60 {
		return units.Nanoseconds(v * 1e9)
	}
	return time.Duration(v * 1e9).Round(time.Second).String()
}

func groupAwaits(g *live.Group) string {
	text := awaitsText(g.Awaits, g.Any)
	if g.Offset != 0 {
		text = fmt.Sprintf("the rank %+d (%s)", g.Offset, text)
	}
	return text
}

func awaitsText(ranks []int, anyOf bool) string {
	if len(ranks) == 0 {
		return ""
	}
	text := shorten(rankset.Text(ranks), 40)
	if anyOf {
		return "any of " + text
	}
	return text
}

// threads lists threads one by one.
func (w *whereWriter) threads(set ranks) error {
	t := &terminal.Table{}
	t.Right("rank", "thread", "event", "for")
	t.Left("doing")
	t.Names("at", "awaits")
	found := map[int]bool{}
	for i := range w.call.Threads {
		x := &w.call.Threads[i]
		found[x.Rank] = true
		if set == nil || rankset.Set(set).Has(x.Rank) {
			t.Row(fmt.Sprint(x.Rank), fmt.Sprint(x.Thread), grouped(x.Event), spanText(x.Seconds, x.Seconds),
				describeState(x.State, x.Op, x.Args, x.Inner), x.Site, awaitsText(x.Awaits, x.Any))
		}
	}
	for _, part := range set {
		for rank := part[0]; rank <= part[1]; rank++ {
			if !found[rank] {
				return usageError("no rank %d: the job has %d of %d ranks here", rank, w.present(), w.call.Size)
			}
		}
	}
	fmt.Fprintln(w)
	t.Write(w)
	return nil
}
