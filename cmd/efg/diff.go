package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
)

type diffOptions struct {
	ranks, failOn string
	ignore        []string
	top           int
	depth         siteDepth
	answerForm
}

func newDiff() *cobra.Command {
	var opt diffOptions
	cmd := &cobra.Command{
		Use:   "diff FILE [FILE]",
		Short: "Compare ranks, or two runs",
		Long: `Compare ranks, or two runs, by structure, calls, bytes and time; the most important
differences come first.

One file: the classes of ranks with equal graphs, the imbalance at each callsite, and
outliers among the ranks. With two ranks (--ranks 0,7): where their sequences of calls
diverge, which nodes and edges only one of them has, and what that costs at which
callsite.

Two files: the classes of ranks of one run against those of the other, calls and steps
that only one run has, and each callsite. --fail-on sets exit status 1 if a condition
holds: "structure", or that "calls", "bytes" or "time" of the second run exceed the
first's by more than a percentage. With one rank (--ranks 3), that rank is compared
between the two runs. With --ignore, the events of two runs are compared one by one, in
order, with all arguments and results except callsites (site) and times (time); the exit
status is 1 unless they are equal.

Everything else is computed on the graphs. docs/diff.md defines every column.`,
		Example: `  efg diff jacobi.efg
  efg diff jacobi.efg --ranks 0,3
  efg diff jacobi.efg jacobi.efg --fail-on 'time>5%,structure'
  efg diff jacobi.efg jacobi.efg --ignore site,time`,
		Args:              argCount(cobra.RangeArgs(1, 2)),
		ValidArgsFunction: completeRuns(2, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return diffRun(args, &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.ranks, "ranks", "", "two ranks to compare, or the ranks to include, as in 0-3,7 (default all)")
	f.StringVar(&opt.failOn, "fail-on", "", "with two runs: conditions, as in 'time>5%,bytes>1MiB,structure'")
	f.StringSliceVar(&opt.ignore, "ignore", nil, "compare two runs event by event, except for this: time, or site,time")
	f.IntVar(&opt.top, "top", 20, "rows per table; 0: all")
	opt.depth.flag(cmd)
	opt.flags(cmd, "callsites")
	completeWords(cmd, "ignore", "time", "site,time")
	return cmd
}

// diffInput holds what is compared.
type diffInput struct {
	files []string
	runs  []*runfile.Run
	procs [][]int // of each run
	given bool    // --ranks was given

	errOut io.Writer // for progress
}

func (in *diffInput) progress() *progress {
	total := 0
	for _, procs := range in.procs {
		total += len(procs)
	}
	return newProgress(in.errOut, "ranks", uint64(total))
}

func (in *diffInput) close() {
	for _, r := range in.runs {
		r.Close()
	}
}

// open opens the files and finds the ranks; data as for openShown.
func (in *diffInput) open(files []string, set ranks, depth siteDepth, data bool) error {
	in.files, in.given = files, set != nil
	for _, file := range files {
		r, err := openShown(file, data)
		if err != nil {
			return err
		}
		r = depth.of(r, file, in.errOut)
		in.runs = append(in.runs, r)
		procs, err := set.find(r)
		if err != nil {
			return err
		}
		in.procs = append(in.procs, procs)
	}
	return nil
}

func (in *diffInput) rank(file, i int) diff.Rank {
	return diff.Rank{Run: in.runs[file], Proc: in.procs[file][i]}
}

func diffRun(args []string, opt *diffOptions, out, errOut io.Writer) error {
	set, err := parseRankFlag("--ranks", opt.ranks)
	if err != nil {
		return err
	}
	if opt.top < 0 {
		return usageError("--top %d: want a number of rows, or 0 for all", opt.top)
	}
	var conditions []diff.Condition
	if opt.failOn != "" {
		if conditions, err = diff.ParseConditions(opt.failOn); err != nil {
			return usageError("--fail-on: %w", err)
		}
	}
	if opt.ignore != nil {
		return diffSequences(args, opt, out, errOut)
	}
	in := diffInput{errOut: errOut}
	defer in.close()
	if err := in.open(args, set, opt.depth, opt.data()); err != nil {
		return err
	}
	w := opt.screen(out)
	held, err := in.compare(w, opt, conditions)
	if failed := w.Flush(); err == nil {
		err = failed
	}
	if err == nil && len(held) > 0 {
		err = &exitError{1, fmt.Errorf("--fail-on %s", strings.Join(held, "; "))}
	}
	return err
}

// compare writes how ranks or runs differ, and returns the conditions that hold.
func (in *diffInput) compare(w *terminal.Screen, opt *diffOptions, conditions []diff.Condition) ([]string, error) {
	n := len(in.procs[0])
	switch two := len(in.runs) == 2; {
	case !two && opt.failOn != "":
		return nil, usageError("--fail-on %s: wants two files", opt.failOn)
	case two && in.given && n == 1 && opt.failOn == "":
		return nil, diffPair(w, in.files, [2]diff.Rank{in.rank(0, 0), in.rank(1, 0)}, opt)
	case two:
		return diffRuns(w, in, opt, conditions)
	case in.given && n == 2:
		return nil, diffPair(w, in.files, [2]diff.Rank{in.rank(0, 0), in.rank(0, 1)}, opt)
	case in.given && n < 2:
		return nil, usageError("--ranks %s: want at least two ranks", opt.ranks)
	}
	return nil, diffRanks(w, in, opt)
}

func diffRuns(w *terminal.Screen, in *diffInput, opt *diffOptions, conditions []diff.Condition) ([]string, error) {
	bar := in.progress()
	r, err := diff.NewRuns(in.runs[0], in.runs[1], [2][]int{in.procs[0], in.procs[1]}, bar.show)
	bar.close()
	if err != nil {
		return nil, err
	}
	held := []string{}
	for i := range conditions {
		c := &conditions[i]
		holds, err := c.Holds(r)
		if err != nil {
			return nil, usageError("--fail-on %w", err)
		}
		if holds {
			held = append(held, heldText(c, r))
		}
	}
	if opt.data() {
		return held, opt.writeData(w, jsondoc.NewRunsDiff(in.files, r, held))
	}
	(&diffWriter{Screen: w, top: opt.top}).runs(in, r)
	return held, nil
}

func diffPair(w *terminal.Screen, files []string, ranks [2]diff.Rank, opt *diffOptions) error {
	p, err := diff.NewPair(ranks[0], ranks[1])
	if err != nil {
		return err
	}
	if opt.data() {
		return opt.writeData(w, jsondoc.NewPair(files, p))
	}
	(&diffWriter{Screen: w, top: opt.top}).pair(files, p)
	return nil
}

func diffRanks(w *terminal.Screen, in *diffInput, opt *diffOptions) error {
	file, bar := in.files[0], in.progress()
	o, err := diff.NewOverview(in.runs[0], in.procs[0], bar.show)
	bar.close()
	if err != nil {
		return err
	}
	if opt.data() {
		return opt.writeData(w, jsondoc.NewOverview(file, o))
	}
	return (&diffWriter{Screen: w, top: opt.top}).overview(file, o)
}
