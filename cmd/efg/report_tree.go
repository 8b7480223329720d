package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/calltree"
	"github.com/efg-tools/efg/internal/analysis/findings"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

// checkTree refuses the options that do not go with --tree.
func (opt *reportOptions) checkTree() error {
	switch {
	case len(opt.by) > 0:
		return errors.New("--by selects tables, --tree is one of its own")
	case opt.histogram:
		return errors.New("--histogram is for tables")
	}
	return nil
}

// reportTree shows the calls by their call paths.
func reportTree(path string, opt *reportOptions, out, errOut io.Writer) error {
	if err := opt.checkTree(); err != nil {
		return usageError("--tree: %w", err)
	}
	if err := checkTop(opt.top, "rows"); err != nil {
		return err
	}
	if opt.csv == "callsites" { // the table of reports
		opt.csv = "nodes"
	}
	compute := func(r *runfile.Run, procs []int, progress ...analysis.Progress) (*calltree.Tree, error) {
		o := calltree.Options{WithSetup: opt.setup, Waits: findings.Followed(r)}
		if o.Waits {
			if err := correctClocks(context.Background(), r, "corrected", errOut); err != nil {
				return nil, err
			}
		}
		return calltree.New(r, procs, o, progress...)
	}
	return overRanks(path, opt.ranks, opt.depth, opt.data(), errOut, compute, func(r *runfile.Run, _ []int, t *calltree.Tree) error {
		return opt.write(out, func() any { return jsondoc.NewCallTree(path, r, t, opt.setup) },
			func(w *terminal.Screen) { (&treeWriter{w, t, opt, t.Root.Received > 0}).write(path, r) })
	})
}

// treeWriter writes a tree as text.
type treeWriter struct {
	*terminal.Screen
	*calltree.Tree
	opt      *reportOptions
	received bool
}

func (w *treeWriter) write(path string, r *runfile.Run) {
	root := w.Root
	fmt.Fprintf(w, "file      %s\n", path)
	if len(r.Meta.Command) > 0 {
		fmt.Fprintf(w, "command   %s\n", strings.Join(r.Meta.Command, " "))
	}
	fmt.Fprintf(w, "ranks     %d", w.Ranks)
	if w.Ranks < len(r.Procs) {
		fmt.Fprintf(w, " of %d", len(r.Procs))
	}
	fmt.Fprintf(w, "\ncalls     %s\n", grouped(root.Calls))
	switch {
	case !w.Timed:
		fmt.Fprintf(w, "time      not recorded; efg run --time stats records it\n")
	case w.Waits:
		fmt.Fprintf(w, "time      %s in MPI, %s of it waiting, all ranks together\n", units.Nanoseconds(float64(root.Time.Sum)), units.Nanoseconds(float64(root.Waiting)))
	default:
		fmt.Fprintf(w, "time      %s in MPI, all ranks together\n", units.Nanoseconds(float64(root.Time.Sum)))
	}
	if r.Meta.CallPath == 0 {
		fmt.Fprintf(w, "paths     not recorded: calls are below the functions that make them; efg run --callpath records who called these\n")
	}
	fmt.Fprintln(w)
	w.table()
}

// shown are the nodes with the largest sums, at most so many; parents come before their children.
func (w *treeWriter) shown() (list []*calltree.Node, depth map[*calltree.Node]int, all int) {
	depth = map[*calltree.Node]int{}
	var visit func(n *calltree.Node, d int)
	visit = func(n *calltree.Node, d int) {
		for _, c := range n.Children {
			depth[c] = d
			list = append(list, c)
			visit(c, d+1)
		}
	}
	visit(w.Root, 0)
	all = len(list)
	if w.opt.top == 0 || all <= w.opt.top {
		return list, depth, all
	}
	largest := slices.Clone(list)
	slices.SortStableFunc(largest, func(x, y *calltree.Node) int {
		return cmp.Or(cmp.Compare(y.Time.Sum*uint64(1-apart(y)), x.Time.Sum*uint64(1-apart(x))), cmp.Compare(y.Calls, x.Calls))
	})
	keep := map[*calltree.Node]bool{}
	for _, n := range largest[:w.opt.top] {
		keep[n] = true
	}
	return slices.DeleteFunc(list, func(n *calltree.Node) bool { return !keep[n] }), depth, all
}

// apart is 1 for a procedure whose time is not in the tree.
func apart(n *calltree.Node) int {
	if n.Apart {
		return 1
	}
	return 0
}

func (w *treeWriter) table() {
	t := &terminal.Table{}
	t.Names("function or procedure")
	t.Left("called at")
	if w.Timed {
		t.Right("time")
		t.Shares("%MPI")
	}
	if w.Waits {
		t.Right("waiting")
	}
	t.Right("calls")
	t.Details("sent")
	if w.received {
		t.Details("received")
	}
	list, depth, all := w.shown()
	for _, n := range list {
		t.Row(w.cells(n, depth[n])...)
	}
	t.Write(w)
	if n := all - len(list); n > 0 {
		fmt.Fprintf(w, "\nand %s with less; --top 0 shows all\n", plural(n, "row"))
	}
}

func (w *treeWriter) cells(n *calltree.Node, depth int) []string {
	cells := []string{strings.Repeat("  ", depth) + nodeName(n), n.At}
	if w.Timed {
		share := "apart"
		if !n.Apart {
			share = units.Percent(n.Time.Sum, w.Root.Time.Sum)
		}
		cells = append(cells, units.Nanoseconds(float64(n.Time.Sum)), share)
	}
	if w.Waits {
		cells = append(cells, units.Nanoseconds(float64(n.Waiting)))
	}
	cells = append(cells, grouped(n.Calls), byteCell(n.Sent))
	if w.received {
		cells = append(cells, byteCell(n.Received))
	}
	return cells
}

// nodeName is the name of a node, or what is known if it has none.
func nodeName(n *calltree.Node) string {
	switch n.Kind {
	case calltree.Module:
		return "function in " + n.Name
	case calltree.Unknown:
		return "unknown functions"
	case calltree.Cut:
		return "functions left out"
	}
	return n.Name
}
