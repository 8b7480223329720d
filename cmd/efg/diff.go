package main

import (
	"bufio"
	"io"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/analysis/diff"
	"github.com/efg-tools/efg/efg"
)

type diffOptions struct {
	ranks string
	top   int
	json  bool
}

func newDiff() *cobra.Command {
	var opt diffOptions
	cmd := &cobra.Command{
		Use:   "diff FILE",
		Short: "Show how ranks differ",
		Long: `Show how ranks differ: in structure, calls, bytes and time, what matters most first.

With two ranks (--ranks 0,7) it tells where their sequences of calls part, which
nodes and edges of the graphs only one has, and what that costs at which callsite.
Without, or with more ranks, it shows the classes of ranks with equal graphs, the
imbalance at each callsite, and ranks that are far from the others.

All is computed on the graphs; docs/diff.md defines every column.`,
		Example: `  efg diff jacobi.efg
  efg diff jacobi.efg --ranks 0,3
  efg diff jacobi.efg --ranks 0-2 --json`,
		Args: argCount(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return diffRun(args, &opt, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.ranks, "ranks", "", "two ranks to compare, or those to count, as in 0-3,7 (default all)")
	f.IntVar(&opt.top, "top", 20, "rows in a table; 0: all")
	f.BoolVar(&opt.json, "json", false, "write JSON")
	return cmd
}

func diffRun(args []string, opt *diffOptions, out io.Writer) error {
	set, err := parseRankFlag("--ranks", opt.ranks)
	if err != nil {
		return err
	}
	if opt.top < 0 {
		return usageError("--top %d: want a number of rows, or 0 for all", opt.top)
	}
	r, err := openRun(args[0])
	if err != nil {
		return err
	}
	defer r.Close()
	procs, err := set.find(r)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	switch {
	case set != nil && len(procs) == 2:
		err = diffPair(w, args, [2]diff.Rank{{Run: r, Proc: procs[0]}, {Run: r, Proc: procs[1]}}, opt)
	case set != nil && len(procs) < 2:
		err = usageError("--ranks %s: want at least two ranks", opt.ranks)
	default:
		err = diffRanks(w, args[0], r, procs, opt)
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

func diffPair(w *bufio.Writer, files []string, ranks [2]diff.Rank, opt *diffOptions) error {
	p, err := diff.NewPair(ranks[0], ranks[1])
	if err != nil {
		return err
	}
	if opt.json {
		return writeJSON(w, pairAsJSON(files, p))
	}
	(&diffWriter{Writer: w, top: opt.top}).pair(files, p)
	return nil
}

func diffRanks(w *bufio.Writer, file string, r *efg.Run, procs []int, opt *diffOptions) error {
	o, err := diff.NewOverview(r, procs)
	if err != nil {
		return err
	}
	if opt.json {
		return writeJSON(w, overviewAsJSON(file, o))
	}
	return (&diffWriter{Writer: w, top: opt.top}).overview(file, o)
}
