package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/timeline"
	timelinedraw "github.com/efg-tools/efg/internal/draw/timeline"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type timelineOptions struct {
	from, to, ranks string
	clock           string
	width, rows     int
	slices          int
	png, svg        string
	answerForm
}

func newTimeline() *cobra.Command {
	var opt timelineOptions
	cmd := &cobra.Command{
		Use:   "timeline FILE",
		Short: "Draw what each rank did over time",
		Long: `Draw what each rank did over time, from a run with the times of each call
(the default of efg run): each cell shows the MPI procedure that took most of the time.
--from and --to select part of the run, as time since its start: 1.5s, 300ms or 20us.
See docs/timeline.md.`,
		Example: `  efg timeline traced.efg
  efg timeline traced.efg --from 10ms --to 5s --rank 0-1 --width 60
  efg timeline traced.efg --png timeline.png --svg timeline.svg
  efg timeline traced.efg --json --slices 1000 > timeline.json`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showTimeline(cmd.Context(), args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.from, "from", "", "start at this `TIME` of the run (default: its start)")
	f.StringVar(&opt.to, "to", "", "end at this `TIME` of the run (default: its end)")
	f.StringVar(&opt.ranks, "rank", "", "ranks to show, as in 0-3,7 (default all)")
	clockFlag(cmd, &opt.clock)
	f.IntVar(&opt.width, "width", 0, "cells per row; up to twice as many are shown (default 50; 800 for pictures and JSON)")
	f.IntVar(&opt.rows, "rows", 0, "maximum number of rows; more ranks share rows (default 32; 512 for pictures and JSON)")
	f.IntVar(&opt.slices, "slices", 0, "with --json: list the calls if there are at most `N`")
	f.StringVar(&opt.png, "png", "", "write a PNG to `FILE`")
	f.StringVar(&opt.svg, "svg", "", "write an SVG to `FILE`")
	opt.flags(cmd, "")
	return cmd
}

func showTimeline(ctx context.Context, path string, opt *timelineOptions, out, errOut io.Writer) error {
	r, err := openShown(path, opt.data())
	if err != nil {
		return err
	}
	defer r.Close()
	earlyNote(errOut, r)
	v, err := viewTimeline(ctx, r, opt, errOut)
	if errors.Is(err, timeline.ErrNoTimes) || errors.Is(err, timeline.ErrQuery) {
		return usageError("%s: %w", path, err)
	}
	if err != nil {
		return err
	}
	for _, p := range []struct {
		file  string
		write func(io.Writer, *timeline.View) error
	}{{opt.png, timelinedraw.PNG}, {opt.svg, timelinedraw.SVG}} {
		if p.file == "" {
			continue
		}
		if err := writePicture(p.file, func(w io.Writer) error { return p.write(w, v) }); err != nil {
			return err
		}
	}
	if !opt.json && (opt.png != "" || opt.svg != "") {
		return nil
	}
	return opt.write(out, func() any { return jsondoc.NewTimeline(path, v) }, func(w *terminal.Screen) { timelineText(w, path, v) })
}

// viewTimeline computes the requested view.
func viewTimeline(ctx context.Context, r *runfile.Run, opt *timelineOptions, errOut io.Writer) (*timeline.View, error) {
	set, err := parseRanks(opt.ranks)
	if err != nil {
		return nil, err
	}
	q := timeline.Query{Width: opt.width, Rows: opt.rows, Share: true, Slices: opt.slices}
	text := !opt.json && opt.png == "" && opt.svg == ""
	if opt.slices != 0 && !opt.json {
		return nil, usageError("--slices: only with --json")
	}
	defaultTo(&q.Width, text, 50, 800)
	defaultTo(&q.Rows, text, 32, 512)
	if q.Procs, err = set.find(r); err != nil {
		return nil, err
	}
	if err := correctClocks(ctx, r, opt.clock, errOut); err != nil {
		return nil, err
	}
	t, err := timeline.New(r)
	if err != nil {
		return nil, err
	}
	if q.From, q.To, err = t.Extent(); err != nil {
		return nil, err
	}
	if err := parseRunTime("--from", opt.from, &q.From); err != nil {
		return nil, err
	}
	if err := parseRunTime("--to", opt.to, &q.To); err != nil {
		return nil, err
	}
	if q.From >= q.To {
		return nil, usageError("from %s to %s: the interval is empty", units.Seconds(q.From), units.Seconds(q.To))
	}
	p := newProgress(errOut, "ranks", uint64(len(q.Procs)))
	defer p.close()
	q.Progress = func(done int) { p.show(uint64(done)) }
	return t.View(ctx, q)
}

// defaultTo replaces 0 by a default.
func defaultTo(n *int, text bool, ofText, ofOthers int) {
	if *n == 0 && text {
		*n = ofText
	} else if *n == 0 {
		*n = ofOthers
	}
}

// parseRunTime parses a time since the start of a run, if any.
func parseRunTime(flag, text string, ns *int64) error {
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return usageError("%s %s: want a time as in 1.5s, 300ms or 20us", flag, text)
	}
	*ns = int64(d)
	return nil
}

// writePicture writes a file atomically.
func writePicture(path string, encode func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return usageError("%w", err)
	}
	w := bufio.NewWriter(f)
	if err = encode(w); err == nil {
		err = w.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}

// letters represent the procedures of a legend in text.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// letterOf is the letter of a pixel.
func letterOf(pixel byte) byte {
	switch {
	case pixel == timeline.Outside:
		return '.'
	case pixel == timeline.Nothing:
		return ' '
	case int(pixel) <= len(letters):
		return letters[pixel-1]
	}
	return '*'
}

// hidden returns the number of procedures of a legend that no pixel shows.
func hidden(v *timeline.View, seen *[256]bool) (n uint64) {
	for i := range v.Legend {
		if !seen[i+1] {
			n++
		}
	}
	return n
}

func timelineText(w *terminal.Screen, path string, v *timeline.View) {
	ranks, names, width := 0, make([]string, len(v.Rows)), len("rank")
	for i, r := range v.Rows {
		ranks += r.Ranks
		names[i] = r.Label()
		width = max(width, len(names[i]))
	}
	fmt.Fprintf(w, "file      %s\n", path)
	fmt.Fprintf(w, "ranks     %d\n", ranks)
	fmt.Fprintf(w, "time      %s to %s of the run, a column is %s\n", units.Seconds(v.From), units.Seconds(v.To()), units.Nanoseconds(float64(v.Pixel)))
	fmt.Fprintf(w, "\n%*s\n", width, "rank")
	for i, name := range names {
		line := make([]byte, v.Width)
		for x, p := range v.Pixels[i*v.Width : (i+1)*v.Width] {
			line[x] = letterOf(p)
		}
		fmt.Fprintf(w, "%*s |%s|\n", width, name, line)
	}
	total := v.InMPI()
	fmt.Fprintln(w)
	t := &terminal.Table{}
	t.Left("", "")
	t.Right("time")
	t.Shares("of MPI")
	seen := [256]bool{}
	for _, p := range v.Pixels {
		seen[p] = true
	}
	for i, p := range v.Legend {
		if !seen[i+1] {
			continue
		}
		ofMPI := "apart"
		if !p.Apart {
			ofMPI = units.Percent(p.Time, total)
		}
		t.Row(string(letterOf(byte(i+1))), p.Op, units.Nanoseconds(float64(p.Time)), ofMPI)
	}
	t.Row(".", "outside MPI")
	t.Write(w)
	if n := hidden(v, &seen); n > 0 {
		fmt.Fprintf(w, "\nnot visible in this view because others have more time everywhere: %s\n", pluralOf(n, "procedure"))
	}
	if seen[timeline.Nothing] {
		fmt.Fprintln(w, "\nblank: nothing was recorded, before the start or after the end")
	}
}
