package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

// diffWriter writes differences as tables.
type diffWriter struct {
	*terminal.Screen
	top int
}

// shown returns how many of n rows a table shows.
func (w *diffWriter) shown(n int) int {
	if w.top == 0 {
		return n
	}
	return min(n, w.top)
}

func (w *diffWriter) title(name string, n int, rest string) {
	if k := w.shown(n); k < n {
		fmt.Fprintf(w, "\n%s: the first %d of %s, %s\n", name, k, grouped(uint64(n)), rest)
		return
	}
	fmt.Fprintf(w, "\n%s, %s\n", name, rest)
}

// pair writes how two ranks differ.
func (w *diffWriter) pair(files []string, p *diff.Pair) {
	names := [2]string{fmt.Sprint("rank ", p.Ranks[0]), fmt.Sprint("rank ", p.Ranks[1])}
	fmt.Fprintf(w, "file      %s\n", files[0])
	if len(files) > 1 {
		fmt.Fprintf(w, "          %s\n", files[1])
		names = [2]string{"first " + names[0], "second " + names[1]}
	}
	timed := p.Timed[0] && p.Timed[1]
	t := &terminal.Table{}
	t.Left("")
	t.Right(names[0], names[1], "change")
	w.totals(t, &p.Total, timed)
	for i := range p.Threads {
		h := &p.Threads[i]
		of := ""
		if len(p.Threads) > 1 {
			of = fmt.Sprint("thread ", h.Thread, ": ")
		}
		t.Row(of+"nodes", fmt.Sprint(h.Nodes[0]), fmt.Sprint(h.Nodes[1]), change(float64(h.Nodes[0]), float64(h.Nodes[1])))
		t.Row(of+"edges", fmt.Sprint(h.Edges[0]), fmt.Sprint(h.Edges[1]), change(float64(h.Edges[0]), float64(h.Edges[1])))
	}
	fmt.Fprintln(w)
	t.Write(w)
	for i := range p.Threads {
		w.divergence(&p.Threads[i], len(p.Threads) > 1, names)
	}
	w.items(p, names, timed)
	w.changes(p.Changes, names, timed)
	w.untimed(p.Timed, names)
}

func (w *diffWriter) untimed(timed [2]bool, names [2]string) {
	switch {
	case !timed[0] && !timed[1]:
		fmt.Fprintf(w, "\ntime was not recorded; efg run --time stats records it\n")
	case !timed[0] || !timed[1]:
		name := names[0]
		if timed[0] {
			name = names[1]
		}
		fmt.Fprintf(w, "\ntime was not recorded for %s; times are not compared\n", name)
	}
}

// totals adds the rows of calls, bytes and time.
func (w *diffWriter) totals(t *terminal.Table, side *[2]diff.Totals, timed bool) {
	a, b := &side[0], &side[1]
	t.Row("calls", grouped(a.Calls), grouped(b.Calls), change(float64(a.Calls), float64(b.Calls)))
	t.Row("bytes", byteText(a.Bytes), byteText(b.Bytes), change(float64(a.Bytes), float64(b.Bytes)))
	if timed {
		t.Row("time in MPI", units.Nanoseconds(float64(a.Time.Sum)), units.Nanoseconds(float64(b.Time.Sum)), change(float64(a.Time.Sum), float64(b.Time.Sum)))
	}
}

// change writes the relative change from a to b.
func change(a, b float64) string {
	switch {
	case a == b:
		return "="
	case a == 0:
		return "new"
	case b == 0:
		return "gone"
	}
	text := fmt.Sprintf("%+.1f%%", 100*(b/a-1))
	if text == "+0.0%" || text == "-0.0%" {
		text = text[:1] + "<0.1%"
	}
	return text
}

func (w *diffWriter) divergence(h *diff.Thread, many bool, names [2]string) {
	of := "The"
	if many {
		of = fmt.Sprintf("Thread %d: the", h.Thread)
	}
	switch {
	case !h.There[0] || !h.There[1]:
		k := 0
		if h.There[1] {
			k = 1
		}
		fmt.Fprintf(w, "\nThread %d: only %s has it\n", h.Thread, names[k])
	case h.Arguments == nil:
		fmt.Fprintf(w, "\n%s sequences are equal: the same calls with the same arguments, in the same order\n", of)
	case h.Calls == nil:
		fmt.Fprintf(w, "\n%s same calls in the same order; arguments or results differ first at event %s\n", of, grouped(h.Arguments.Event))
		w.events(h.Arguments, names)
	default:
		if h.Arguments.Event < h.Calls.Event {
			fmt.Fprintf(w, "\n%s arguments or results differ first at event %s\n", of, grouped(h.Arguments.Event))
			w.events(h.Arguments, names)
		}
		fmt.Fprintf(w, "\n%s calls diverge at event %s\n", of, grouped(h.Calls.Event))
		w.events(h.Calls, names)
	}
}

func (w *diffWriter) events(p *diff.Divergence, names [2]string) {
	width := max(len(names[0]), len(names[1]))
	for k, text := range p.Text {
		if text == "" {
			text = "(ends before)"
		}
		fmt.Fprintf(w, "  %-*s  %s\n", width, names[k], text)
	}
}

// items writes the differences in structure.
func (w *diffWriter) items(p *diff.Pair, names [2]string, timed bool) {
	if len(p.Items) == 0 {
		return
	}
	t := &terminal.Table{}
	t.Left("what")
	t.Names("callsite")
	t.Left("procedure", "node")
	t.Names("at")
	t.Right("calls", "", "bytes", "")
	order := "by bytes, then calls"
	if timed {
		t.Right("time", "")
		order = "by time, bytes and calls"
	}
	t.Left(names[0], names[1])
	for i := range w.shown(len(p.Items)) {
		it := &p.Items[i]
		what, at := itemText(it)
		text := it.Text
		if it.Kind == diff.EdgeOnly {
			for k := range text {
				if it.Calls[k] > 0 {
					text[k] = strings.TrimSpace("to " + it.To + " " + it.ToSite)
				}
			}
		}
		cells := []string{what, it.Site, it.Op, nodesText(it.Node), at, grouped(it.Calls[0]), grouped(it.Calls[1]), byteCell(it.Bytes[0]), byteCell(it.Bytes[1])}
		if timed {
			cells = append(cells, nanoCell(it.Time[0]), nanoCell(it.Time[1]))
		}
		t.Row(append(cells, cut(text[0]), cut(text[1]))...)
	}
	w.title("Structure", len(p.Items), order)
	t.Write(w)
}

// itemText describes what differs, and where.
func itemText(it *diff.Item) (what, at string) {
	switch it.Kind {
	case diff.BranchRuns:
		return "branch run", fmt.Sprint("run ", it.At)
	case diff.Arguments:
		return "arguments", fmt.Sprint("call ", it.At+1)
	}
	return string(it.Kind), ""
}

// nodesText is the number of a node in efg graph, or its two numbers.
func nodesText(n [2]int) string {
	switch {
	case n[0] < 0:
		return fmt.Sprint("n", n[1])
	case n[1] < 0 || n[0] == n[1]:
		return fmt.Sprint("n", n[0])
	}
	return fmt.Sprintf("n%d, n%d", n[0], n[1])
}

// cut shortens a text for a table.
func cut(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// changes writes how callsites differ.
func (w *diffWriter) changes(list []diff.Change, names [2]string, timed bool) {
	if len(list) == 0 {
		return
	}
	t := &terminal.Table{}
	t.Names("callsite")
	t.Left("procedure")
	t.Right("calls", "", "bytes", "")
	order := "by bytes, then calls"
	if timed {
		t.Right("time", "", "change", "cost", "shift", "KS")
		order = "by what they cost in time"
	}
	for i := range w.shown(len(list)) {
		c := &list[i]
		a, b := &c.Side[0], &c.Side[1]
		cells := []string{c.Site, c.Op, grouped(a.Calls), grouped(b.Calls), byteCell(a.Bytes), byteCell(b.Bytes)}
		if timed {
			cells = append(cells, timeCell(a), timeCell(b), change(float64(a.Time.Sum), float64(b.Time.Sum)),
				signed(c.TimeChange()), shift(c.Distance, a, b), ks(c.Distance, a, b))
		}
		t.Row(cells...)
	}
	w.title(fmt.Sprintf("Callsites: %s and %s", names[0], names[1]), len(list), order)
	t.Write(w)
}

// nanoCell is units.Nanoseconds for tables, where 0 would only distract.
func nanoCell(ns uint64) string {
	if ns == 0 {
		return "-"
	}
	return units.Nanoseconds(float64(ns))
}

// timeCell writes a total time, if there is one.
func timeCell(t *diff.Totals) string {
	if t.Time.Count == 0 {
		return "-"
	}
	return units.Nanoseconds(float64(t.Time.Sum))
}

// signed writes a difference of times.
func signed(v float64) string {
	sign := "+"
	if v < 0 {
		sign = "-"
	}
	return sign + units.Nanoseconds(math.Abs(v))
}

func shift(d diff.Distance, a, b *diff.Totals) string {
	if a.Time.Count == 0 || b.Time.Count == 0 {
		return "-"
	}
	return units.Nanoseconds(d.Shift)
}

func ks(d diff.Distance, a, b *diff.Totals) string {
	if a.Time.Count == 0 || b.Time.Count == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", d.KS)
}
