package main

import (
	"fmt"

	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

// overview writes how the ranks of a run differ.
func (w *diffWriter) overview(file string, o *diff.Overview) error {
	fmt.Fprintf(w, "file      %s\nranks     %s\ncalls     %s, %s\n", file, grouped(uint64(o.Ranks)), grouped(o.Total.Calls), byteText(o.Total.Bytes))
	if o.Timed {
		fmt.Fprintf(w, "time      %s in MPI, all ranks together\n", units.Nanoseconds(float64(o.Total.Time.Sum)))
	} else {
		fmt.Fprintf(w, "time      not recorded; efg run --time stats records it\n")
	}
	if len(o.Classes) == 1 {
		fmt.Fprintf(w, "classes   1: all ranks have the same graph, with ranks relative to their own\n")
	} else {
		fmt.Fprintf(w, "classes   %s, of %s\n", grouped(uint64(len(o.Classes))), plural(o.Shapes, "shape"))
	}
	w.classes(o)
	if err := w.against(o); err != nil {
		return err
	}
	w.imbalance(o)
	w.outliers(o)
	return nil
}

func (w *diffWriter) classes(o *diff.Overview) {
	t := &terminal.Table{}
	t.Right("class", "count", "nodes", "edges", "calls/rank", "bytes/rank")
	if o.Timed {
		t.Right("time/rank")
	}
	t.Names("ranks")
	for i := range w.shown(len(o.Classes)) {
		c := &o.Classes[i]
		n := uint64(len(c.Ranks))
		cells := []string{className(c), grouped(n), fmt.Sprint(c.Nodes), fmt.Sprint(c.Edges), grouped(c.Total.Calls / n), meanBytes(c.Total.Bytes, n)}
		if o.Timed {
			cells = append(cells, units.Nanoseconds(float64(c.Total.Time)/float64(n)))
		}
		t.Row(append(cells, cut(rankset.Text(c.Ranks)))...)
	}
	w.title("Classes", len(o.Classes), "ranks with equal graphs; SHAPE.ARGUMENTS, the largest shape first")
	t.Write(w)
}

func className(c *diff.Class) string { return fmt.Sprintf("%d.%d", c.Shape, c.Number) }

// against writes how classes differ from the first one.
func (w *diffWriter) against(o *diff.Overview) error {
	if len(o.Classes) < 2 {
		return nil
	}
	t := &terminal.Table{}
	t.Right("class", "rank", "event")
	t.Names("its call", fmt.Sprintf("call of class 1.1 (rank %d)", o.Classes[0].Ranks[0]))
	t.Right("nodes", "edges", "calls", "bytes")
	n := w.shown(len(o.Classes))
	for i := 1; i < n; i++ {
		p, err := o.Against(i)
		if err != nil {
			return err
		}
		at, texts := "-", [2]string{"the same calls, in the same order", ""}
		if part, arguments := firstDivergence(p); part != nil {
			at, texts = grouped(part.Event), part.Text
			if arguments {
				at += "*"
			}
		}
		var nodes, edges [2]int
		for k := range p.Threads {
			for side := range nodes {
				nodes[side] += p.Threads[k].Nodes[side]
				edges[side] += p.Threads[k].Edges[side]
			}
		}
		t.Row(className(&o.Classes[i]), fmt.Sprint(p.Ranks[1]), at, cut(texts[1]), cut(texts[0]), fmt.Sprintf("%+d", nodes[1]-nodes[0]),
			fmt.Sprintf("%+d", edges[1]-edges[0]), change(float64(p.Total[0].Calls), float64(p.Total[1].Calls)),
			change(float64(p.Total[0].Bytes), float64(p.Total[1].Bytes)))
	}
	fmt.Fprintf(w, "\nAgainst class 1.1: the first event that differs (*: only in arguments or results, calls are the same)\n")
	t.Write(w)
	return nil
}

// firstDivergence returns where the calls of two ranks diverge or, if they do not, where their
// arguments do.
func firstDivergence(p *diff.Pair) (part *diff.Divergence, arguments bool) {
	for i := range p.Threads {
		if c := p.Threads[i].Calls; c != nil {
			return c, false
		}
	}
	for i := range p.Threads {
		if a := p.Threads[i].Arguments; a != nil {
			return a, true
		}
	}
	return nil, false
}

// imbalance writes the callsites where ranks differ.
func (w *diffWriter) imbalance(o *diff.Overview) {
	t := &terminal.Table{}
	t.Names("callsite")
	t.Left("procedure")
	t.Details("ranks", "calls", "max", "bytes", "max", "imbalance")
	order := "by bytes"
	if o.Timed {
		t.Right("time", "max", "of rank", "imbalance", "cost")
		order = "by time"
	}
	var rows [][]string
	for _, b := range append([]diff.Imbalance{o.All}, o.Imbalance...) {
		if b.Time.Cost() <= 0 && b.Bytes.Cost() <= 0 && b.Calls.Cost() <= 0 {
			continue
		}
		cells := []string{siteText(b.Op, b.Site), b.Op, grouped(uint64(b.Ranks)), number(b.Calls.Mean()), grouped(b.Calls.Most),
			meanBytes(b.Bytes.Sum, uint64(b.Ranks)), byteCell(b.Bytes.Most), part(b.Bytes.Imbalance())}
		if o.Timed {
			cells = append(cells, units.Nanoseconds(b.Time.Mean()), units.Nanoseconds(float64(b.Time.Most)), fmt.Sprint(b.Time.MostRank),
				part(b.Time.Imbalance()), units.Nanoseconds(b.Time.Cost()))
		}
		rows = append(rows, cells)
	}
	if len(rows) == 0 {
		fmt.Fprintf(w, "\nImbalance: none\n")
		return
	}
	for _, cells := range rows[:w.shown(len(rows))] {
		t.Row(cells...)
	}
	w.title("Imbalance", len(rows), "means and maxima over the ranks that make the call, "+order+" by which the maximum exceeds the mean")
	t.Write(w)
}

// siteText is a callsite, or a text for all of them together.
func siteText(op, site string) string {
	if op == "" {
		return "all calls"
	}
	return site
}

// number writes a mean of counts.
func number(v float64) string {
	if v == float64(uint64(v)) {
		return grouped(uint64(v))
	}
	return fmt.Sprintf("%.1f", v)
}

func part(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }

// outliers writes the outliers among the ranks.
func (w *diffWriter) outliers(o *diff.Overview) {
	if len(o.Outliers) == 0 {
		fmt.Fprintf(w, "\nOutliers: none\n")
		return
	}
	t := &terminal.Table{}
	t.Left("what")
	t.Names("callsite")
	t.Left("procedure")
	t.Right("among", "median", "farthest", "of rank", "score", "shift", "KS")
	t.Names("ranks")
	for i := range w.shown(len(o.Outliers)) {
		x := &o.Outliers[i]
		moved, apart := "-", "-"
		if x.Metric == diff.TimeMetric {
			moved, apart = units.Nanoseconds(x.Shift), fmt.Sprintf("%.2f", x.KS)
		}
		t.Row(string(x.Metric), siteText(x.Op, x.Site), x.Op, grouped(uint64(x.Among)), amount(x.Metric, x.Median), amount(x.Metric, x.Value),
			fmt.Sprint(x.Rank), fmt.Sprintf("%.1f", x.Score), moved, apart, cut(rankset.Text(x.Ranks)))
	}
	w.title("Outliers", len(o.Outliers), "ranks far from the median of their shape")
	t.Write(w)
}

func amount(m diff.Metric, v float64) string {
	switch m {
	case diff.TimeMetric:
		return units.Nanoseconds(v)
	case diff.BytesMetric:
		return units.Bytes(v)
	}
	return number(v)
}
