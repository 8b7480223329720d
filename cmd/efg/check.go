package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/analysis/check"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
)

type checkOptions struct {
	clock string
	top   int
	depth siteDepth
	answerForm
}

func newCheck() *cobra.Command {
	var opt checkOptions
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Find MPI errors of the program in its recorded calls",
		Long: `Find MPI errors of the program in its recorded calls: messages that were never
received, requests that were never completed or freed, communicators, datatypes, windows
and files that were never freed, mismatched collectives, calls before MPI_Init or after
MPI_Finalize, persistent requests that were started twice. If the run hung, the ranks that
were deadlocked are reported with the reason, as by efg where.

The check runs after the program has ended, on what was recorded, and also reports calls
that never returned. If the times of all calls were recorded (the default of efg run), it
also reports calls whose times contradict each other. The exit status is 3 if the run
hung, 1 if anything else was found, 0 if nothing was. See docs/check.md.`,
		Example: `  efg check jacobi.efg
  efg check jacobi.efg --json`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkRun(args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	clockFlag(cmd, &opt.clock)
	opt.depth.flag(cmd)
	f.IntVar(&opt.top, "top", 20, "findings to show per kind; 0: all")
	opt.dataFlags(cmd, "findings")
	return cmd
}

func checkRun(path string, opt *checkOptions, out, errOut io.Writer) error {
	if err := checkTop(opt.top, "findings"); err != nil {
		return err
	}
	r, err := openShown(path, opt.data())
	if err != nil {
		return err
	}
	defer r.Close()
	r = opt.depth.of(r, path, errOut)
	if err := correctClocks(context.Background(), r, opt.clock, errOut); err != nil {
		return err
	}
	earlyNote(errOut, r)
	bar := newProgress(errOut, "ranks", uint64(len(r.Procs)))
	rep, err := check.New(r, bar.part)
	bar.close()
	if err != nil {
		return err
	}
	err = opt.write(out, func() any { return jsondoc.NewCheck(path, rep) },
		func(w *terminal.Screen) { writeCheck(w, path, rep, opt.top) })
	switch {
	case err != nil:
		return err
	case rep.Hangs():
		return &exitError{status: statusHangs}
	case rep.Faults() > 0:
		return &exitError{status: 1}
	}
	return nil
}

func writeCheck(w io.Writer, path string, r *check.Report, top int) {
	fmt.Fprintf(w, "file      %s\n", path)
	fmt.Fprintf(w, "checked   %s\n", checkedText(r))
	if n := len(r.Incomplete); n > 0 {
		fmt.Fprintf(w, "cut off   %s: killed, still running, or out of space. Some of their calls are missing\n", ranksText(r.Incomplete))
	}
	if len(r.Missing) > 0 {
		fmt.Fprintf(w, "missing   %s: not in the file. %s sent to or received from them were not checked\n",
			ranksText(r.Missing), pluralOf(r.Unjudged, "message"))
	}
	writeUncompared(w, r.Uncompared)
	faults := r.Faults()
	switch {
	case faults == 0 && len(r.Findings) == 0:
		fmt.Fprintf(w, "found     nothing\n")
	case faults == 0 && slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.Kind == check.TimesContradict }):
		fmt.Fprintf(w, "found     no definite error of the program\n")
	case faults == 0:
		fmt.Fprintf(w, "found     nothing that the missing ranks do not explain\n")
	default:
		fmt.Fprintf(w, "found     %s\n", pluralOf(uint64(faults), "fault"))
	}
	writeFindings(w, r.Findings, top)
}

// writeUncompared reports which times were not compared, with a line for each reason.
func writeUncompared(w io.Writer, list []check.Uncompared) {
	calls, ranks := map[string]uint64{}, map[string][]int{}
	for i := range list {
		u := &list[i]
		calls[u.Text] += u.Calls
		if !slices.Contains(ranks[u.Text], u.Rank) {
			ranks[u.Text] = append(ranks[u.Text], u.Rank)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(calls)) {
		fmt.Fprintf(w, "times     of %s on %s were not compared: %s\n", pluralOf(calls[text], "call"), ranksText(ranks[text]), text)
	}
}

func checkedText(r *check.Report) string {
	parts := []string{pluralOf(r.Calls, "call") + " of " + pluralOf(uint64(r.Processes), "rank")}
	for _, c := range []struct {
		n    uint64
		name string
	}{{r.Sent, "message"}, {r.Requests, "request"}, {r.Collectives, "collective call"}, {r.Objects, "object"}} {
		if c.n > 0 {
			parts = append(parts, pluralOf(c.n, c.name))
		}
	}
	return strings.Join(parts, ", ")
}

func pluralOf(n uint64, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return grouped(n) + " " + name + "s"
}

// writeFindings writes findings under a title per kind; those with a remark come last.
func writeFindings(w io.Writer, list []check.Finding, top int) {
	shown, title := 0, ""
	for i := range list {
		f := &list[i]
		t := string(f.Kind)
		if f.Remark != "" && f.Kind != check.NeverReturned && f.Kind != check.TimesContradict && !f.Hang() {
			t += "; perhaps because calls are missing"
		}
		if t != title {
			fmt.Fprintf(w, "\n%s\n", t)
			title, shown = t, 0
		}
		if shown++; top > 0 && shown > top {
			if i+1 == len(list) || list[i+1].Kind != f.Kind || list[i+1].Remark != f.Remark {
				fmt.Fprintf(w, "  and %d more\n", shown-top)
			}
			continue
		}
		writeFinding(w, f)
	}
}

func writeFinding(w io.Writer, f *check.Finding) {
	where := fmt.Sprintf("rank %d", f.Rank)
	if f.Thread > 0 {
		where += fmt.Sprintf(", thread %d", f.Thread)
	}
	fmt.Fprintf(w, "  %s, event %d: %s  %s\n", where, f.Event, f.Op, f.Site)
	fmt.Fprintf(w, "    %s\n", f.Text)
	if f.Count > 1 || len(f.Ranks) > 1 && !f.Hang() {
		fmt.Fprintf(w, "    %s times in total, on %s\n", grouped(f.Count), ranksText(f.Ranks))
	}
	if f.Remark != "" {
		fmt.Fprintf(w, "    %s\n", f.Remark)
	}
}
