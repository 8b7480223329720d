package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/rankset"
)

func newInfo() *cobra.Command {
	var form answerForm
	var all bool
	cmd := &cobra.Command{
		Use:   "info FILE",
		Short: "Summarize a run file",
		Long: `Summarize a run file: processes, threads, events, the size of the graphs, and
which streams of events are complete.`,
		Example:           "  efg info jacobi.efg",
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return info(args[0], &form, all, cmd.OutOrStdout())
		},
	}
	form.dataFlags(cmd, "streams")
	cmd.Flags().BoolVar(&all, "all", false, "list every stream even of a large run")
	return cmd
}

func info(path string, form *answerForm, all bool, out io.Writer) error {
	r, err := openShown(path, form.data())
	if err != nil {
		return err
	}
	defer r.Close()
	streams := 0
	for i := range r.Procs {
		streams += len(r.Procs[i].Streams)
	}
	list := all || streams <= fewStreams
	s, err := jsondoc.NewInfo(path, r, list || form.data(), jsondoc.AllStreams)
	if err != nil {
		return err
	}
	if form.data() {
		return form.writeData(out, s)
	}
	return (&infoWriter{s}).write(out, list)
}

// fewStreams is the number of streams that are listed by default.
const fewStreams = 64

// infoWriter writes the output of efg info as text.
type infoWriter struct{ *jsondoc.Info }

func (s *infoWriter) write(out io.Writer, streams bool) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "file\t%s, %d bytes\n", s.File, s.Bytes)
	fmt.Fprintf(w, "command\t%s\n", strings.Join(s.Command, " "))
	if len(s.Launcher) > 0 {
		fmt.Fprintf(w, "launcher\t%s\n", strings.Join(s.Launcher, " "))
	}
	for _, p := range s.Programs {
		fmt.Fprintf(w, "program\t%s\n", p)
	}
	for _, m := range s.MPI {
		fmt.Fprintf(w, "MPI\t%s\n", shorten(m, 60))
	}
	fmt.Fprintf(w, "run\t%s, %s\n", s.Started.Format("2006-01-02 15:04:05 UTC"), s.endText())
	fmt.Fprintf(w, "recorded\t%s\n", s.recorded())
	fmt.Fprintf(w, "ranks\t%d%s\n", s.Processes, s.missingText())
	fmt.Fprintf(w, "threads\t%d\n", s.Threads)
	if len(s.Processors) > 0 {
		fmt.Fprintf(w, "processors\t%s\n", s.processorsText())
	}
	fmt.Fprintf(w, "events\t%d\n", s.Events)
	fmt.Fprintf(w, "graph\t%d nodes, %d edges; %s\n", s.Nodes, s.Edges, plural(s.Graphs, "shape"))
	if s.Folded != nil {
		fmt.Fprintf(w, "call paths\t%d nodes without them, %.1f times as many with them\n", *s.Folded, float64(s.Nodes)/float64(max(*s.Folded, 1)))
	}
	fmt.Fprintf(w, "ratio\t%.1f (%d bytes as a list of events)\n", s.Ratio, s.Linear)
	fmt.Fprintf(w, "complete\t%d of %d streams\n", s.Complete, s.Threads)
	if s.Early > 0 {
		fmt.Fprintf(w, "times\tend early in %d of %d streams: %d of %d events have their own, all are in the statistics\n", s.Early, s.Threads, s.Timed, s.Events)
	}
	s.writeEnergy(w)
	s.writeForks(w)
	s.writeUnbalanced(w)
	if err := w.Flush(); err != nil {
		return err
	}
	if streams {
		return s.writeStreams(out)
	}
	return s.writeIncomplete(out)
}

// mostForks is how many processes with forked children are listed.
const mostForks = 5

// writeForks names the forked children that called MPI.
func (s *infoWriter) writeForks(w io.Writer) {
	for i, f := range s.Forks {
		name := ""
		if i == 0 {
			name = "forked"
		}
		if i == mostForks {
			fmt.Fprintf(w, "\tand children of %d more processes, which --json lists\n", len(s.Forks)-i)
			return
		}
		first := ""
		if f.PID != 0 && f.Call != "" {
			first = fmt.Sprintf(", the first (process %d) %s", f.PID, f.Call)
		}
		fmt.Fprintf(w, "%s\t%s of rank %d (process %d) called MPI%s; their calls are not recorded\n", name, childText(f.Children), f.Rank, f.Parent, first)
	}
}

func childText(n int) string {
	if n == 1 {
		return "a child"
	}
	return fmt.Sprintf("%d children", n)
}

// mostUnbalanced is how many faults in the begins and ends of regions are listed.
const mostUnbalanced = 5

func (s *infoWriter) writeUnbalanced(w io.Writer) {
	for i := range s.Unbalanced {
		if i == mostUnbalanced {
			fmt.Fprintf(w, "\tand %d more, which efg check lists\n", len(s.Unbalanced)-i)
			return
		}
		u, name := &s.Unbalanced[i], ""
		if i == 0 {
			name = "regions"
		}
		fmt.Fprintf(w, "%s\tnot balanced on %s, %s: %s\n", name, ranksText(u.Ranks), u.Site, u.Text)
	}
	if s.RegionsPartial {
		fmt.Fprintf(w, "\tmany ranks differ: only the regions of the first ones were compared, by efg check those of all\n")
	}
}

// endText says how long the command ran, and how it ended.
func (s *infoWriter) endText() string {
	switch {
	case !s.Ended:
		return "duration and exit status unknown"
	case s.Status == nil:
		return fmt.Sprintf("%.3f s, exit status unknown", s.Seconds)
	}
	return fmt.Sprintf("%.3f s, exit status %d", s.Seconds, *s.Status)
}

// shorten cuts a text down to at most n bytes.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " ..."
}

func (s *infoWriter) recorded() string {
	text := "times: " + timeText(cmp.Or(s.Time, "unknown"))
	if s.Polls == runfile.PollTotals {
		text += "; unsuccessful polls: totals"
	}
	if s.Queries {
		text += ", local queries"
	}
	if s.Buffers {
		text += ", buffers"
	}
	if s.CallPath > 0 {
		text += fmt.Sprintf(", call paths of up to %d calls", s.CallPath)
	}
	if len(s.Counters) > 0 {
		text += ", counters: " + strings.Join(s.Counters, ", ")
		if s.CounterValues {
			text += ", with values of each call"
		}
	}
	return text
}

// processorsText says how many processors the hosts had.
func (s *infoWriter) processorsText() string {
	if len(s.Processors) == 1 {
		return fmt.Sprintf("%d of %s", s.Processors[0].Count, s.Processors[0].Host)
	}
	sum := 0
	for _, p := range s.Processors {
		sum += p.Count
	}
	return fmt.Sprintf("%d of %d hosts", sum, len(s.Processors))
}

func (s *infoWriter) missingText() string {
	if len(s.Missing) == 0 {
		return ""
	}
	return fmt.Sprintf(" (missing: %s)", rankset.Text(s.Missing))
}

func (s *infoWriter) writeStreams(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\nrank\tthread\tevents\tnodes\tedges\tbytes\t  end\n")
	for _, t := range s.Streams {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t  %s\n", t.Rank, t.Thread, t.Events, t.Nodes, t.Edges, t.Bytes, endText(&t))
	}
	return w.Flush()
}

// writeIncomplete lists only the streams that are not complete.
func (s *infoWriter) writeIncomplete(out io.Writer) error {
	for _, t := range s.Streams {
		if t.Complete {
			continue
		}
		if _, err := fmt.Fprintf(out, "incomplete: rank %d, thread %d, %d events: %s\n", t.Rank, t.Thread, t.Events, endText(&t)); err != nil {
			return err
		}
	}
	return nil
}

func endText(t *jsondoc.Stream) string {
	text := t.End
	if t.Dropped > 0 {
		text += fmt.Sprintf(", %d events not recorded for lack of space", t.Dropped)
	}
	if !t.Complete {
		text += " (incomplete)"
	}
	if len(t.Regions) > 0 {
		text += "; in region " + shorten(regions.PathText(t.Regions), 72)
	}
	if t.Timed != nil {
		text += fmt.Sprintf("; times of the first %d events", *t.Timed)
	}
	what := "; in progress: "
	for c := t.InCall; c != nil; c = c.Inner {
		text += fmt.Sprintf("%s%s  %s", what, shorten(c.Op+"("+strings.Join(c.Args, ", ")+")", 72), c.Site)
		what = "; inside it: "
	}
	return text
}

// plural is a number with the name of what is counted.
func plural(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return fmt.Sprintf("%d %ss", n, name)
}
