package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/flows"
	"github.com/efg-tools/efg/internal/analysis/timeline"
	"github.com/efg-tools/efg/internal/analysis/visits"
	timelinedraw "github.com/efg-tools/efg/internal/draw/timeline"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

type timelineOptions struct {
	from, to, ranks string
	clock, by       string
	width, rows     int
	slices          int
	pictures        []string
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
  efg timeline traced.efg -o timeline.png -o timeline.svg
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
	f.StringVar(&opt.by, "by", timeline.Groupings[0], "what shares a row: rank, `class` (ranks that did the same) or host")
	f.IntVar(&opt.slices, "slices", 0, "with --json: list the calls if there are at most `N`")
	f.StringArrayVarP(&opt.pictures, "output", "o", nil, "draw a picture, with waiting, messages and regions, to `FILE.svg` or FILE.png; may be repeated")
	opt.flags(cmd, "")
	return cmd
}

func showTimeline(ctx context.Context, path string, opt *timelineOptions, out, errOut io.Writer) error {
	if err := opt.checkPictures(); err != nil {
		return err
	}
	if !slices.Contains(timeline.Groupings[:], opt.by) {
		return usageError("--by %s: want %s", opt.by, strings.Join(timeline.Groupings[:], ", "))
	}
	r, err := openShown(path, opt.data())
	if err != nil {
		return err
	}
	defer r.Close()
	earlyNote(errOut, r)
	v, err := viewTimeline(ctx, r, opt, opt.screen(out).Width(defaultWidth), errOut)
	if errors.Is(err, timeline.ErrNoTimes) || errors.Is(err, timeline.ErrQuery) {
		return usageError("%s: %w", path, err)
	}
	if err != nil {
		return err
	}
	if len(opt.pictures) > 0 {
		if err := drawTimeline(ctx, r, v, opt, errOut); err != nil || !opt.json {
			return err
		}
	}
	return opt.write(out, func() any { return jsondoc.NewTimeline(path, v) }, func(w *terminal.Screen) { timelineText(w, path, v) })
}

// timelineFormats are the formats of pictures, by the extension of the file.
var timelineFormats = map[string]func(io.Writer, timelinedraw.Picture) error{".png": timelinedraw.PNG, ".svg": timelinedraw.SVG}

// checkPictures checks the names of pictures.
func (opt *timelineOptions) checkPictures() error {
	for _, file := range opt.pictures {
		if timelineFormats[filepath.Ext(file)] == nil {
			return usageError("-o %s: want a name that ends in .svg or .png", file)
		}
	}
	return nil
}

// drawTimeline writes the pictures, with regions, and with waiting and messages where they can be found.
func drawTimeline(ctx context.Context, r *runfile.Run, v *timeline.View, opt *timelineOptions, errOut io.Writer) error {
	set, err := parseRanks(opt.ranks)
	if err != nil {
		return err
	}
	procs, err := set.find(r)
	if err != nil {
		return err
	}
	p := timelinedraw.Picture{View: v}
	p.Flows, err = flows.New(ctx, r, flows.Query{From: v.From, To: v.To(), Procs: procs, Most: mostWaits})
	if errors.Is(err, flows.ErrTooLarge) {
		fmt.Fprintf(errOut, "efg: neither messages nor waiting are drawn: %v\n", err)
	} else if err != nil {
		return err
	}
	shown := v.First()
	if !timelinedraw.BandsInRows(len(shown)) {
		shown = shown[:1]
	}
	if p.Visits, err = visits.New(r).Of(ctx, visits.Query{From: v.From, To: v.To(), Width: v.Width, Procs: shown, Depth: drawnDepth, Most: drawnVisits}); err != nil {
		return err
	}
	for _, file := range opt.pictures {
		if err := writePicture(file, func(w io.Writer) error { return timelineFormats[filepath.Ext(file)](w, p) }); err != nil {
			return err
		}
	}
	return nil
}

// mostWaits bounds how many waits, the longest, are drawn, drawnVisits and drawnDepth how many visits of
// regions, and regions in each other.
const (
	mostWaits   = 20_000
	drawnVisits = 20_000
	drawnDepth  = 8
)

// A text has at least leastCells in a row, and as many as fit in defaultWidth unless the width is
// known; labelWidth is what labels and frames take.
const (
	leastCells   = 10
	defaultWidth = 110
	labelWidth   = 10
)

// viewTimeline computes the requested view, as text for a number of columns.
func viewTimeline(ctx context.Context, r *runfile.Run, opt *timelineOptions, columns int, errOut io.Writer) (*timeline.View, error) {
	set, err := parseRanks(opt.ranks)
	if err != nil {
		return nil, err
	}
	q := timeline.Query{Width: opt.width, Rows: opt.rows, Share: true, Slices: opt.slices}
	q.By = timeline.Grouping(slices.Index(timeline.Groupings[:], opt.by))
	text := !opt.json && len(opt.pictures) == 0
	if opt.slices != 0 && !opt.json {
		return nil, usageError("--slices: only with --json")
	}
	defaultTo(&q.Width, text, max(leastCells, (columns-labelWidth)/2), 800)
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

// writeCells writes the letters of a row, those of procedures on their colours.
func writeCells(w *terminal.Screen, v *timeline.View, pixels []byte) {
	for len(pixels) > 0 {
		p, n := pixels[0], 1
		for n < len(pixels) && pixels[n] == p {
			n++
		}
		text := strings.Repeat(string(letterOf(p)), n)
		if p == timeline.Outside || int(p) > len(v.Legend) {
			io.WriteString(w, text)
		} else {
			w.On(timelinedraw.Color(v, p), text)
		}
		pixels = pixels[n:]
	}
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
		fmt.Fprintf(w, "%*s |", width, name)
		writeCells(w, v, v.Pixels[i*v.Width:(i+1)*v.Width])
		fmt.Fprintln(w, "|")
	}
	total := v.InMPI()
	fmt.Fprintln(w)
	t := &terminal.Table{}
	var keys []byte
	t.Key("", func(row int) (color.RGBA, bool) {
		if row >= len(keys) {
			return color.RGBA{}, false
		}
		return timelinedraw.Color(v, keys[row]), true
	})
	t.Left("")
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
		keys = append(keys, byte(i+1))
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
