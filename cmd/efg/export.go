package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/printable"
)

// exportFormat is a format of efg export. Each has a file, export_NAME.go.
type exportFormat struct {
	name string // also the extension of its files
	// about says what the format is for: a sentence of the help, without its period.
	about string
	// write writes a file, writeDir the content of an empty directory. A format has one of them.
	write    func(out io.Writer, job *export.Job) error
	writeDir func(dir string, job *export.Job) error
	// appendDir adds a run to a directory of many runs; false: it is there. nil: the format has none.
	appendDir func(dir string, job *export.Job) (added bool, err error)
	// owned reports whether a directory was written by writeDir, and may be replaced.
	owned func(dir string) bool
	// times: the format has the times of calls, and parts are selected by time, too.
	times bool
	// compat, drawn, paths: the format has --compat, --slices, --site-depth.
	compat, drawn, paths bool
	// what are the values of --what that the format accepts.
	what []string
	// check, if not nil, looks at what was selected before anything is written.
	check func(opt *exportOptions, size exportSize, errOut io.Writer) error
	// matches, if not nil, reports whether messages have to be matched for what is written.
	matches func(opt *exportOptions) bool
}

// exportFormats are the formats of efg export.
var exportFormats = []*exportFormat{&exportGXL, &exportMTF, &exportParquet, &exportCSV, &exportArrow, &exportPerfetto, &exportChrome, &exportPaje, &exportExtrap, &exportOTF2, &exportParaver, &exportHDTrace, &exportSimGrid, &exportGoal, &exportLiballprof}

// exportSize is what an export consists of.
type exportSize struct {
	processes int
	events    uint64
	// nodes is at least the number of distinct calls.
	nodes uint64
}

type exportOptions struct {
	format, output string
	appendTo       string
	rank           string
	thread         int
	from, to       string
	what           []string
	clock          string
	slices         uint64
	memory         string
	compat         bool
	depth          siteDepth
}

func newExport() *cobra.Command {
	var opt exportOptions
	cmd := &cobra.Command{
		Use:   "export FILE [--format FORMAT] [-o OUTPUT]",
		Short: "Write a run, or part of it, in an exchange format",
		Long: `Write a run, or part of it, in an exchange format. docs/exchange.md describes the
formats. Without --format, the extension of OUTPUT decides.

` + formatList() + `
--from and --to are numbers of events of each thread or, in formats with times, times
since the start of the run: 1.5s, 300ms or 20us.`,
		Example: `  efg export jacobi.efg -o jacobi.gxl
  efg export jacobi.efg -o jacobi.mtf
  efg export traced.efg -o traced.otf2 --from 10ms --to 5s --what callsites
  efg export jacobi.efg --format gxl --rank 0-3 --from 1000 --to 1100 | grep -c '#NonBlockingSend"'`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return exportRun(args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.format, "format", "", orList(formatNames()))
	f.StringVarP(&opt.output, "output", "o", "", "write to this file or, in formats that are directories, directory")
	f.StringVar(&opt.appendTo, "append", "", "add the whole run to this `DIRECTORY` of many runs, unless it is there")
	f.StringVar(&opt.rank, "rank", "", "ranks to write, as in 0-3,7 (default all)")
	f.IntVar(&opt.thread, "thread", -1, "thread to write (default all)")
	f.StringVar(&opt.from, "from", "", "first `EVENT` to write, counted from 0 in each stream, or time since the start of the run")
	f.StringVar(&opt.to, "to", "", "`EVENT` or time to stop before (default: the end)")
	f.StringSliceVar(&opt.what, "what", nil, "optional parts of the format to write")
	f.Uint64Var(&opt.slices, "slices", 0, "perfetto, chrome, paje: about the most slices; of more calls, short ones are drawn together (default 2000000)")
	f.StringVar(&opt.memory, "memory", "1GiB", "memory for matching messages: an export that needs about more is rejected")
	clockFlag(cmd, &opt.clock)
	opt.depth.listFlag(cmd)
	f.BoolVar(&opt.compat, "compat", false, "otf2: write nonblocking collectives as blocking ones, for readers of OTF2 2")
	completeWords(cmd, "format", formatNames()...)
	completeWords(cmd, "what", optionalParts()...)
	return cmd
}

// formatNames are the names of the formats, sorted.
func formatNames() []string {
	var names []string
	for _, f := range exportFormats {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

// optionalParts are the values of --what in any format.
func optionalParts() []string {
	var parts []string
	for _, f := range exportFormats {
		parts = append(parts, f.what...)
	}
	slices.Sort(parts)
	return slices.Compact(parts)
}

// formatList is the part of the help about the formats.
func formatList() string {
	var b strings.Builder
	for _, f := range exportFormats {
		fmt.Fprintf(&b, "  %-10s %s\n", f.name, strings.ReplaceAll(f.about, "\n", "\n"+strings.Repeat(" ", 13)))
	}
	return b.String()
}

// orList writes alternatives: "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func exportRun(path string, opt *exportOptions, out, errOut io.Writer) error {
	format, err := opt.find()
	if err != nil {
		return err
	}
	job := &export.Job{What: opt.what, Slices: opt.slices, Note: func(line string) { fmt.Fprintln(errOut, "efg:", line) }}
	if err := opt.window(format, &job.Selection); err != nil {
		return err
	}
	set, err := parseRanks(opt.rank)
	if err != nil {
		return err
	}
	r, err := openRun(path)
	if err != nil {
		return err
	}
	defer r.Close()
	r = opt.depth.of(r, path, errOut)
	job.Run, job.Thread, job.User = r, opt.thread, ownerOf(path)
	if job.Procs, err = set.find(r); err != nil {
		return err
	}
	size, err := sizeOf(job)
	if err != nil {
		return err
	}
	if format.check != nil {
		if err := format.check(opt, size, errOut); err != nil {
			return err
		}
	}
	if err := format.checkMemory(opt, job); err != nil {
		return err
	}
	if format.times {
		if err := correctPart(context.Background(), r, job.Matched(), opt.clock, errOut); err != nil {
			return err
		}
	}
	bar := newProgress(errOut, "events", size.events)
	defer bar.close()
	job.Show = bar.show
	return format.run(job, opt, out)
}

// find returns the requested format, if what else is requested suits it.
func (opt *exportOptions) find() (*exportFormat, error) {
	if opt.format == "" {
		opt.format = strings.TrimPrefix(filepath.Ext(filepath.Clean(opt.output)), ".")
	}
	i := slices.IndexFunc(exportFormats, func(f *exportFormat) bool { return f.name == opt.format })
	if i < 0 {
		return nil, usageError("--format %s: want %s", opt.format, orList(formatNames()))
	}
	f := exportFormats[i]
	if opt.appendTo != "" {
		return f, opt.checkAppend(f)
	}
	if f.writeDir != nil && opt.output == "" {
		return nil, usageError("--format %s is a directory: -o DIRECTORY is missing", f.name)
	}
	for _, w := range opt.what {
		switch {
		case f.what == nil:
			return nil, usageError("--what %s: --format %s has no optional parts", w, f.name)
		case !slices.Contains(f.what, w):
			return nil, usageError("--what %s: want %s", w, orList(f.what))
		}
	}
	if opt.compat && !f.compat {
		return nil, usageError("--compat: not with --format %s", f.name)
	}
	if opt.slices > 0 && !f.drawn {
		return nil, usageError("--slices: not with --format %s", f.name)
	}
	if opt.depth.given && !f.paths {
		return nil, usageError("--site-depth: not with --format %s", f.name)
	}
	return f, checkClock(opt.clock)
}

// checkAppend checks the options of an export that is added to others.
func (opt *exportOptions) checkAppend(f *exportFormat) error {
	switch {
	case f.appendDir == nil:
		return usageError("--append: --format %s does not have many runs in a directory", f.name)
	case opt.output != "":
		return usageError("--append and -o: want one of them")
	case opt.rank != "" || opt.thread >= 0 || opt.from != "" || opt.to != "" || opt.what != nil:
		return usageError("--append: adds whole runs; --rank, --thread, --from, --to and --what need -o")
	}
	return checkClock(opt.clock)
}

// window sets the part of each stream that --from and --to select.
func (opt *exportOptions) window(f *exportFormat, sel *export.Selection) error {
	from, err := parseBound("--from", opt.from)
	if err != nil {
		return err
	}
	to, err := parseBound("--to", opt.to)
	if err != nil {
		return err
	}
	timed := from.timed || to.timed
	switch {
	case timed && !f.times:
		return usageError("--format %s: --from and --to are numbers of events, not times", f.name)
	case timed && (opt.from != "" && !from.timed && from.event > 0 || opt.to != "" && !to.timed):
		return usageError("--from %s --to %s: want two times or two numbers of events", opt.from, opt.to)
	case to.event != 0 && to.event < from.event || timed && opt.to != "" && to.at <= from.at:
		return usageError("--to %s: lies before --from %s", opt.to, opt.from)
	case timed:
		sel.Time = &export.TimeWindow{From: from.at, To: to.at}
		if opt.to == "" {
			sel.Time.To = 1<<63 - 1
		}
	}
	sel.From, sel.To = from.event, to.event
	return nil
}

// exportBound is where a selection begins or ends: at an event, or at a time, ns since the run
// began.
type exportBound struct {
	event uint64
	at    int64
	timed bool
}

func parseBound(flag, text string) (exportBound, error) {
	if text == "" {
		return exportBound{}, nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return exportBound{event: n}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return exportBound{}, usageError("%s %s: want the number of an event, or a time as in 1.5s, 300ms or 20us", flag, text)
	}
	return exportBound{at: int64(d), timed: true}, nil
}

// sizeOf sums what is selected; the part of a time window is not known in advance.
func sizeOf(job *export.Job) (size exportSize, err error) {
	for _, i := range job.Procs {
		p := &job.Run.Procs[i]
		threads, err := threadsOf(p, job.Thread)
		if err != nil {
			return size, err
		}
		size.processes++
		for _, j := range threads {
			events := eventsIn(p.Streams[j].Events, &job.Selection)
			size.events += events
			size.nodes += min(events, p.Streams[j].Nodes)
		}
	}
	return size, nil
}

// eventsIn is the number of events of a stream that are selected.
func eventsIn(events uint64, sel *export.Selection) uint64 {
	if sel.To > 0 {
		events = min(events, sel.To)
	}
	return events - min(events, sel.From)
}

// run writes an export to its output.
func (f *exportFormat) run(job *export.Job, opt *exportOptions, out io.Writer) error {
	job.Compat, job.RawClock = opt.compat, opt.clock == "raw"
	switch {
	case opt.appendTo != "":
		return interruptible(job, func() error { return f.add(job, opt.appendTo) })
	case f.writeDir != nil:
		return interruptible(job, func() error { return f.directory(job, opt.output) })
	case opt.output == "":
		return f.write(printable.Data(out), job)
	}
	return durable.Write(opt.output, func(w io.Writer) error { return f.write(w, job) })
}

// add adds a run to a directory of many.
func (f *exportFormat) add(job *export.Job, dir string) error {
	added, err := f.appendDir(dir, job)
	if err == nil && !added {
		job.Note(dir + " has the run already")
	}
	return err
}

// interruptible runs an export that writes to a directory. Signals that would end efg end the
// export, so that nothing of it is left.
func interruptible(job *export.Job, write func() error) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, slices.DeleteFunc(slices.Clone(ending), signal.Ignored)...)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case s := <-signals:
			cancel(&exitError{status: statusOf(s)})
		case <-ctx.Done():
		}
	}()
	job.Context = ctx
	err := write()
	var stopped *exitError
	if errors.As(context.Cause(ctx), &stopped) {
		return stopped
	}
	return err
}

// directory writes a directory.
func (f *exportFormat) directory(job *export.Job, output string) error {
	err := durable.WriteDir(output, f.owned, func(dir string) error {
		return errors.Join(f.writeDir(dir, job), context.Cause(job.Context))
	})
	if errors.Is(err, durable.ErrForeign) {
		return usageError("%w: not replaced by --format %s", err, f.name)
	}
	return err
}
