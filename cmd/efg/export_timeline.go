package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/chrome"
	"github.com/efg-tools/efg/internal/export/paje"
	"github.com/efg-tools/efg/internal/export/perfetto"
	"github.com/efg-tools/efg/internal/export/slices"
	"github.com/efg-tools/efg/internal/units"
)

var exportPerfetto = exportFormat{
	name:    "perfetto",
	about:   "a trace for ui.perfetto.dev: a track for each thread, a slice for each call with its\narguments, flows of messages and requests",
	write:   sliced(perfetto.Write),
	times:   true,
	matches: always,
	drawn:   true,
	paths:   true,
	what:    []string{slices.Arguments},
}

var exportChrome = exportFormat{
	name:    "chrome",
	about:   "the same as JSON for speedscope and chrome://tracing, for small parts",
	write:   sliced(chrome.Write),
	times:   true,
	matches: always,
	drawn:   true,
	paths:   true,
	what:    []string{slices.Arguments},
}

var exportPaje = exportFormat{
	name:    "paje",
	about:   "a Pajé trace for ViTE, pj_dump and R: states, links and the bytes sent",
	write:   sliced(paje.Write),
	times:   true,
	matches: always,
	drawn:   true,
}

// mostSlices is about the most slices that are drawn unless --slices says otherwise.
const mostSlices = 2_000_000

// sliced is a format that draws calls. It says if it draws some together.
func sliced(write func(io.Writer, *export.Job, uint64) (int64, error)) func(io.Writer, *export.Job) error {
	return func(out io.Writer, job *export.Job) error {
		resolution, err := write(out, job, cmp.Or(job.Slices, mostSlices))
		if errors.Is(err, slices.ErrNoTimes) {
			return usageError("%w", err)
		}
		if err == nil && resolution > 0 {
			job.Note(fmt.Sprintf("calls shorter than %s are drawn together: --slices allows more, --rank, --from and --to select a part", units.Nanoseconds(float64(resolution))))
		}
		return err
	}
}
