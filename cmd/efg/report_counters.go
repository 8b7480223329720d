package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/counted"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

// checkCounters refuses the options that do not go with --counters.
func (opt *reportOptions) checkCounters() error {
	switch {
	case len(opt.by) > 0:
		return errors.New("--by selects tables, --counters is one of its own")
	case opt.tree || opt.histogram || opt.setup:
		return errors.New("--tree, --histogram and --setup are for times")
	}
	return nil
}

// reportCounters shows what was counted.
func reportCounters(path string, opt *reportOptions, out, errOut io.Writer) error {
	if err := opt.checkCounters(); err != nil {
		return usageError("--counters: %w", err)
	}
	if err := checkTop(opt.top, "rows"); err != nil {
		return err
	}
	if opt.csv == "callsites" { // the table of reports
		opt.csv = "rows"
	}
	compute := func(r *runfile.Run, procs []int, progress ...analysis.Progress) (*counted.Table, error) {
		t, err := counted.New(r, procs, progress...)
		if errors.Is(err, counted.ErrNone) {
			err = usageError("%s: %w", path, err)
		}
		return t, err
	}
	return overRanks(path, opt.ranks, opt.depth, opt.data(), errOut, compute, func(r *runfile.Run, _ []int, t *counted.Table) error {
		return opt.write(out, func() any { return jsondoc.NewCounters(path, r, t) },
			func(w *terminal.Screen) { (&countersWriter{w, t, opt}).write(path, r) })
	})
}

// countersWriter writes what was counted as text.
type countersWriter struct {
	*terminal.Screen
	*counted.Table
	opt *reportOptions
}

func (w *countersWriter) write(path string, r *runfile.Run) {
	fmt.Fprintf(w, "file      %s\n", path)
	if len(r.Meta.Command) > 0 {
		fmt.Fprintf(w, "command   %s\n", strings.Join(r.Meta.Command, " "))
	}
	fmt.Fprintf(w, "ranks     %d", w.Ranks)
	if w.Ranks < len(r.Procs) {
		fmt.Fprintf(w, " of %d", len(r.Procs))
	}
	fmt.Fprintf(w, "\n\n")
	if len(w.Counters) > 0 {
		w.totals()
		w.callsites()
	}
	w.energy(jsondoc.NewEnergy(&r.Meta))
	for i := range w.Counters {
		w.note(&w.Counters[i])
	}
}

// counterText writes a value of a counter.
func counterText(c *counted.Counter, v uint64) string {
	switch c.Unit {
	case "ns":
		return units.Nanoseconds(float64(v))
	case "KiB":
		return units.Bytes(float64(v) * 1024)
	}
	return grouped(v)
}

func (w *countersWriter) totals() {
	t := &terminal.Table{}
	t.Left("counter")
	t.Right("in calls", "before calls", "per µs of it")
	for i := range w.Counters {
		c := &w.Counters[i]
		if !c.Read() {
			continue
		}
		rate := "-"
		if w.Useful > 0 && c.Unit == "" {
			rate = fmt.Sprintf("%.4g", float64(w.Total[i].Before)*1000/float64(w.Useful))
		}
		t.Row(c.Name, counterText(c, w.Total[i].Calls), counterText(c, w.Total[i].Before), rate)
	}
	if i, k := w.Find(counted.Instructions), w.Find(counted.Cycles); i >= 0 && k >= 0 {
		t.Row("instructions per cycle", ipcText(w.Total[i].Calls, w.Total[k].Calls), ipcText(w.Total[i].Before, w.Total[k].Before), "-")
	}
	t.Write(w)
}

func ipcText(instructions, cycles uint64) string {
	if ipc, ok := counted.IPC(instructions, cycles); ok {
		return fmt.Sprintf("%.2f", ipc)
	}
	return "-"
}

func (w *countersWriter) callsites() {
	n := cutRows(w, "By callsite: in calls, and in the computation before them", len(w.Rows), w.opt.top)
	instructions, cycles := w.Find(counted.Instructions), w.Find(counted.Cycles)
	t := &terminal.Table{}
	t.Right("calls")
	for i := range w.Counters {
		if w.Counters[i].Read() {
			t.Right(w.Counters[i].Name, "before")
		}
	}
	if instructions >= 0 && cycles >= 0 {
		t.Right("IPC", "before")
	}
	t.Left("call")
	t.Names("at")
	for i := range w.Rows[:n] {
		row := &w.Rows[i]
		cells := []string{grouped(row.Calls)}
		for k := range w.Counters {
			c := &row.Counters[k]
			switch {
			case !w.Counters[k].Read():
			case c.Count == 0:
				cells = append(cells, "-", "-")
			default:
				cells = append(cells, counterText(&w.Counters[k], c.Call.Sum), counterText(&w.Counters[k], c.Before.Sum))
			}
		}
		if instructions >= 0 && cycles >= 0 {
			a, b := &row.Counters[instructions], &row.Counters[cycles]
			cells = append(cells, ipcText(a.Call.Sum, b.Call.Sum), ipcText(a.Before.Sum, b.Before.Sum))
		}
		t.Row(append(cells, row.Op, row.Site)...)
	}
	t.Write(w)
}

// note says what is not known about a counter.
func (w *countersWriter) note(c *counted.Counter) {
	if c.Missing > 0 {
		fmt.Fprintf(w, "note: %s could not be read in %d of %d processes, or in some of their threads\n", c.Name, c.Missing, w.Ranks)
	}
	if c.Multiplexed > 0 {
		fmt.Fprintf(w, "note: %s was counted only a part of the time in %d of %d processes: too many counters for the hardware\n", c.Name, c.Multiplexed, w.Ranks)
	}
}
