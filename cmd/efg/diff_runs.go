package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

// heldText says why a condition holds.
func heldText(c *diff.Condition, r *diff.Runs) string {
	if c.Metric == "" {
		if len(r.Structure) == 0 {
			return c.Text + ": ranks in only one run"
		}
		return fmt.Sprintf("%s: %d calls or steps in only one run", c.Text, len(r.Structure))
	}
	a, b := r.Amounts(c.Metric)
	per := ""
	if r.Ranks[0] != r.Ranks[1] {
		per = " per rank"
	}
	return fmt.Sprintf("%s: %s, then %s%s (%s)", c.Text, amount(c.Metric, a), amount(c.Metric, b), per, change(a, b))
}

// runs writes how two runs differ.
func (w *diffWriter) runs(in *diffInput, r *diff.Runs) {
	timed := r.Timed[0] && r.Timed[1]
	for k, name := range []string{"first ", "second"} {
		fmt.Fprintf(w, "%s    %s\n", name, in.files[k])
		if c := in.runs[k].Meta.Command; len(c) > 0 {
			fmt.Fprintf(w, "          %s\n", strings.Join(c, " "))
		}
	}
	fmt.Fprintln(w)
	t := &terminal.Table{}
	t.Left("")
	t.Right("first", "second", "change")
	t.Row("ranks", grouped(uint64(r.Ranks[0])), grouped(uint64(r.Ranks[1])), change(float64(r.Ranks[0]), float64(r.Ranks[1])))
	w.totals(t, &r.Total, timed)
	if timed {
		a, b := float64(r.Running[0]), float64(r.Running[1])
		t.Row("without MPI_Init, MPI_Finalize", units.Nanoseconds(a), units.Nanoseconds(b), change(a, b))
	}
	t.Write(w)
	switch {
	case r.Identical():
		fmt.Fprintf(w, "\nThe runs are identical: the same ranks, calls, arguments, order and bytes%s\n", w.timesNote(r, timed))
	case len(r.Structure) == 0 && !slices.ContainsFunc(r.Classes, func(c diff.ClassPair) bool { return c.Match == diff.NoMatch }):
		fmt.Fprintf(w, "\nThe structure is the same: the same calls, and the same steps between them\n")
	}
	w.pairs(r, timed)
	w.structure(r)
	w.changes(r.Changes, [2]string{"first", "second"}, timed)
	w.untimed(r.Timed, [2]string{"the first run", "the second run"})
}

// timesNote reports whether times differ.
func (w *diffWriter) timesNote(r *diff.Runs, timed bool) string {
	if timed && len(r.Changes) > 0 {
		return "; times differ"
	}
	return ""
}

// matches say how classes of two runs were matched.
var matches = map[diff.Match]string{
	diff.GraphMatch: "equal graphs", diff.ShapeMatch: "shape", diff.CallsMatch: "calls and steps",
	diff.RankMatch: "rank only", diff.NoMatch: "nothing",
}

// pairs writes the matched classes.
func (w *diffWriter) pairs(r *diff.Runs, timed bool) {
	t := &terminal.Table{}
	t.Left("matched by")
	t.Right("ranks", "", "calls/rank", "", "change", "bytes/rank", "", "change")
	if timed {
		t.Right("time/rank", "", "change")
	}
	t.Names("ranks of the first", "of the second")
	for i := range w.shown(len(r.Classes)) {
		c := &r.Classes[i]
		var calls, bytes, time [2]float64
		for k := range c.Ranks {
			n := float64(max(len(c.Ranks[k]), 1))
			calls[k], bytes[k], time[k] = float64(c.Total[k].Calls)/n, float64(c.Total[k].Bytes)/n, float64(c.Running[k])/n
		}
		cells := []string{matches[c.Match], grouped(uint64(len(c.Ranks[0]))), grouped(uint64(len(c.Ranks[1]))),
			number(calls[0]), number(calls[1]), change(calls[0], calls[1]),
			amount(diff.BytesMetric, bytes[0]), amount(diff.BytesMetric, bytes[1]), change(bytes[0], bytes[1])}
		if timed {
			cells = append(cells, units.Nanoseconds(time[0]), units.Nanoseconds(time[1]), change(time[0], time[1]))
		}
		second := cut(rankset.Text(c.Ranks[1]))
		if slices.Equal(c.Ranks[0], c.Ranks[1]) {
			second = "the same"
		}
		t.Row(append(cells, cut(rankset.Text(c.Ranks[0])), second)...)
	}
	w.title("Classes", len(r.Classes), "ranks matched with those of the other run, the largest first")
	t.Write(w)
}

// structure writes the calls and steps that only one run has.
func (w *diffWriter) structure(r *diff.Runs) {
	if len(r.Structure) == 0 {
		return
	}
	t := &terminal.Table{}
	t.Left("only in", "what")
	t.Names("callsite")
	t.Left("procedure")
	t.Names("to", "")
	t.Right("ranks")
	for i := range w.shown(len(r.Structure)) {
		s := &r.Structure[i]
		what := "call"
		if s.To != "" {
			what = "step"
		}
		t.Row([]string{"first", "second"}[s.Side], what, s.Site, s.Op, s.ToSite, s.To, grouped(uint64(s.Ranks)))
	}
	w.title("Structure", len(r.Structure), "calls, and steps between them, in only one run")
	t.Write(w)
}
