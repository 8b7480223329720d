package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/gxl"
	"github.com/efg-tools/efg/internal/export/mtf"
	"github.com/efg-tools/efg/internal/printable"
)

type exportOptions struct {
	format, output string
	rank           string
	thread         int
	from, to       uint64
}

// exporter writes the selected part of a run.
type exporter func(out io.Writer, run *runfile.Run, sel export.Selection, progress func(events uint64)) error

// exporters are the formats of efg export, by name, which is also their extension.
var exporters = map[string]exporter{"gxl": gxl.Write, "mtf": mtf.Write}

func newExport() *cobra.Command {
	var opt exportOptions
	cmd := &cobra.Command{
		Use:   "export FILE [--format FORMAT] [-o OUTPUT]",
		Short: "Write a run, or part of it, in an exchange format",
		Long: `Write a run, or part of it, in an exchange format. efg import turns it back into a
run file. docs/exchange.md describes the formats.

Formats: gxl, the MPI Trace Format (MTF) with its metamodel in GXL 1.0, about a
kilobyte per call; mtf, MTF in a compact form, about the size of the run file. Without
--format, the extension of OUTPUT decides.`,
		Example: `  efg export jacobi.efg -o jacobi.gxl
  efg export jacobi.efg -o jacobi.mtf
  efg export jacobi.efg --format gxl --rank 0-3 --from 1000 --to 1100 | grep -c '#NonBlockingSend"'`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return exportRun(args[0], &opt, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.format, "format", "", "gxl or mtf")
	f.StringVarP(&opt.output, "output", "o", "", "write to this file")
	f.StringVar(&opt.rank, "rank", "", "ranks to write, as in 0-3,7 (default all)")
	f.IntVar(&opt.thread, "thread", -1, "thread to write (default all)")
	f.Uint64Var(&opt.from, "from", 0, "first event to write, counted from 0 in each stream")
	f.Uint64Var(&opt.to, "to", 0, "event to stop before (default: end of the stream)")
	completeWords(cmd, "format", slices.Sorted(maps.Keys(exporters))...)
	return cmd
}

func exportRun(path string, opt *exportOptions, out, errOut io.Writer) error {
	if opt.format == "" {
		opt.format = strings.TrimPrefix(filepath.Ext(opt.output), ".")
	}
	write := exporters[opt.format]
	if write == nil {
		return usageError("--format %s: want gxl or mtf", opt.format)
	}
	if opt.to != 0 && opt.to < opt.from {
		return usageError("--to %d: lies before --from %d", opt.to, opt.from)
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
	sel := export.Selection{Thread: opt.thread, From: opt.from, To: opt.to}
	if sel.Procs, err = set.find(r); err != nil {
		return err
	}
	total, size := uint64(0), uint64(0)
	for _, i := range sel.Procs {
		threads, err := threadsOf(&r.Procs[i], opt.thread)
		if err != nil {
			return err
		}
		size += gxlProcess
		for _, j := range threads {
			s := &r.Procs[i].Streams[j]
			events := eventsIn(s.Events, opt)
			total += events
			size += events*gxlCall + min(events, s.Nodes)*gxlNode
		}
	}
	if opt.format == "gxl" {
		if err := announce(size, opt.output, errOut); err != nil {
			return err
		}
	}
	bar := newProgress(errOut, "events", total)
	defer bar.close()
	if opt.output == "" {
		return write(printable.Data(out), r, sel, bar.show)
	}
	return durable.Write(opt.output, func(w io.Writer) error { return write(w, r, sel, bar.show) })
}

// gxlCall is the approximate size in bytes of a call in GXL, gxlNode that of a distinct call,
// gxlProcess that of a process with its definitions.
const (
	gxlCall    = 1000
	gxlNode    = 430
	gxlProcess = 6000
)

// largeExport is the size in bytes from which the user is warned. Tests change it.
var largeExport uint64 = 1 << 30

// announce prints the size of a large GXL document, and rejects one that far exceeds the free
// space: the estimate is accurate to about a third.
func announce(size uint64, output string, errOut io.Writer) error {
	if size < largeExport {
		return nil
	}
	const advice = "--rank, --thread, --from and --to select a part, --format mtf is compact"
	if output != "" {
		if free, ok := freeSpace(filepath.Dir(output)); ok && size/2 > free {
			return usageError("about %s of GXL do not fit: only %s are free in %s; %s", byteText(size), byteText(free), filepath.Dir(output), advice)
		}
	}
	fmt.Fprintf(errOut, "efg: about %s of GXL will be written; %s\n", byteText(size), advice)
	return nil
}

// freeSpace returns the free space of a file system for the user in bytes; false if that is
// unknown. Tests change it.
var freeSpace = func(dir string) (uint64, bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}

// eventsIn is the number of events of a stream in the window.
func eventsIn(events uint64, opt *exportOptions) uint64 {
	if opt.to > 0 {
		events = min(events, opt.to)
	}
	return events - min(events, opt.from)
}
