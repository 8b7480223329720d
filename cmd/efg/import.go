package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/gxl"
	"github.com/efg-tools/efg/internal/export/mtf"
	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/internal/importer/jsonl"
	"github.com/efg-tools/efg/internal/importer/otf2"
)

// importFormat is a format of efg import.
type importFormat struct {
	name string
	read func(src *importSource, times importer.Times, sink export.Sink, progress func(bytes int64)) error
	size func(path string) uint64 // of what is read, if that is more than the input
}

// importFormats are the formats of efg import.
var importFormats = []*importFormat{
	{name: "gxl", read: func(src *importSource, _ importer.Times, sink export.Sink, progress func(int64)) error {
		return gxl.Read(src.path, src.in, sink, progress)
	}},
	{name: "mtf", read: func(src *importSource, _ importer.Times, sink export.Sink, progress func(int64)) error {
		return mtf.Read(src.path, src.in, sink, progress)
	}},
	{name: "jsonl", read: func(src *importSource, times importer.Times, sink export.Sink, progress func(int64)) error {
		in, err := src.seekable()
		if err != nil {
			return err
		}
		return jsonl.Read(src.path, in, times, sink, progress)
	}},
	{name: "otf2", size: otf2.Size, read: func(src *importSource, times importer.Times, sink export.Sink, progress func(int64)) error {
		if src.file == nil {
			return usageError("an OTF2 archive consists of several files: want the path of its anchor file, NAME.otf2")
		}
		return otf2.Read(src.path, otf2.Options{Times: times, Progress: progress, Note: src.note}, sink)
	}},
}

func importNames() (names []string) {
	for _, f := range importFormats {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

func newImport() *cobra.Command {
	var format, output, keep string
	cmd := &cobra.Command{
		Use:   "import INPUT -o FILE",
		Short: "Create a run file from what another program recorded, or efg export wrote",
		Long: `Create a run file from what another program recorded, or efg export wrote; "-" reads
standard input. Of an OTF2 archive INPUT is the anchor file or the directory. docs/import.md describes the formats. The input is checked first: an error is
reported with its position, and no file is written.`,
		Example: `  efg import jacobi.gxl -o again.efg
  efg import traced.otf2 -o scorep.efg
  efg import jacobi.mtf -o again.efg`,
		Args: argCount(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usageError("efg import: -o FILE is missing")
			}
			return importRun(args[0], format, keep, output, cmd.InOrStdin(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&format, "format", "", orList(importNames())+" (default: detected from the input)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "the run file")
	cmd.Flags().StringVar(&keep, "time", "trace=exact", "times to keep: off, stats (per node), or trace[=ERROR] (of each call, ERROR in percent, 5 by default, or exact); gxl and mtf keep all")
	completeWords(cmd, "format", importNames()...)
	completeWords(cmd, "time", "off", "stats", "trace", "trace=exact")
	return cmd
}

// importTimes reads --time.
func importTimes(text string) (importer.Times, error) {
	mode, value, given := strings.Cut(text, "=")
	switch {
	case text == "off":
		return importer.Times{Off: true}, nil
	case text == "stats":
		return importer.Times{}, nil
	case mode != "trace":
		return importer.Times{}, usageError("--time %s: want off, stats or trace[=ERROR]", text)
	case !given:
		return importer.Times{Each: true, Parts: defaultError}, nil
	}
	parts, err := timeError(text, value)
	return importer.Times{Each: true, Parts: uint32(parts)}, err
}

// importSource is an input of efg import.
type importSource struct {
	path  string
	file  *os.File // nil: standard input
	in    *bufio.Reader
	spool *os.File
	note  func(line string) // takes what was not imported
}

// openImport opens an input; total is its size, 0 if that is unknown.
func openImport(path string, in io.Reader) (src *importSource, total uint64, err error) {
	src = &importSource{path: path}
	if path != "-" {
		if src.path, err = otf2.Anchor(path); err != nil {
			return nil, 0, usageError("%w", err)
		}
		path = src.path
		if src.file, err = os.Open(path); err != nil {
			return nil, 0, usageError("%w", err)
		}
		in = src.file
		if st, err := src.file.Stat(); err == nil && st.Mode().IsRegular() {
			total = uint64(st.Size())
		}
	}
	src.in = bufio.NewReaderSize(in, 1<<16)
	return src, total, nil
}

// seekable returns the input as a file that can be read twice: what cannot is copied. The copy has
// no name, so it disappears with this process.
func (src *importSource) seekable() (*os.File, error) {
	if src.file != nil {
		if _, err := src.file.Seek(0, io.SeekStart); err == nil {
			return src.file, nil
		}
	}
	f, err := os.CreateTemp("", "efg-import-")
	if err != nil {
		return nil, err
	}
	src.spool = f
	if err := os.Remove(f.Name()); err != nil {
		return nil, err
	}
	if _, err := io.Copy(f, src.in); err != nil {
		return nil, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

func (src *importSource) close() {
	for _, f := range []*os.File{src.file, src.spool} {
		if f != nil {
			f.Close()
		}
	}
}

func importRun(path, format, keep, output string, in io.Reader, errOut io.Writer) error {
	times, err := importTimes(keep)
	if err != nil {
		return err
	}
	src, total, err := openImport(path, in)
	if err != nil {
		return err
	}
	defer src.close()
	if format == "" {
		format = formatOf(src.in)
	}
	i := slices.IndexFunc(importFormats, func(f *importFormat) bool { return f.name == format })
	switch {
	case i < 0 && format != "":
		return usageError("--format %s: want %s", format, orList(importNames()))
	case i < 0:
		return usageError("%s: neither written by efg export, nor an OTF2 archive, nor a list of calls", path)
	}
	if size := importFormats[i].size; size != nil {
		total = size(src.path)
	}
	src.note = func(line string) { fmt.Fprintln(errOut, "efg:", line) }
	bar := newProgress(errOut, "bytes", total)
	run := importedRun{}
	defer run.close()
	err = importFormats[i].read(src, times, run.add, func(n int64) { bar.show(uint64(n)) })
	bar.close()
	var place *text.Error
	var record *mtf.Error
	var line *importer.LineError
	var archive *otf2.Error
	if errors.As(err, &archive) {
		archive.File = filepath.Join(filepath.Dir(src.path), archive.File)
	}
	if errors.As(err, &place) || errors.As(err, &record) || errors.As(err, &line) || archive != nil {
		return &exitError{2, err}
	}
	if err != nil {
		return err
	}
	return run.write(output)
}

// importedRun is a run that is being imported. Runs of many processes are split into parts on
// disk, so that memory does not grow with their number.
type importedRun struct {
	meta  runfile.Meta
	procs []*efg.Process
	nodes int    // of their graphs
	timed uint64 // calls of which each time is kept
	// parts are unnamed files: they disappear with this process, however it ends.
	parts []*os.File
}

// partSize is the maximum number of processes in memory, partNodes that of nodes, and partTimed that
// of calls with times. Tests change the first one.
var partSize = 256

const (
	partNodes = 1 << 20
	partTimed = 1 << 23
)

func (r *importedRun) add(meta *runfile.Meta, p *efg.Process) error {
	r.meta, r.procs = *meta, append(r.procs, p)
	for i := range p.Streams {
		r.nodes += len(p.Streams[i].Nodes)
		if p.Streams[i].Trace != nil {
			r.timed += p.Streams[i].Events
		}
	}
	if len(r.procs) < partSize && r.nodes < partNodes && r.timed < partTimed {
		return nil
	}
	return r.part()
}

// part writes the processes in memory to a part.
func (r *importedRun) part() error {
	f, err := os.CreateTemp("", "efg-import-")
	if err != nil {
		return err
	}
	r.parts = append(r.parts, f)
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	err = errors.Join(runfile.EncodePart(w, r.procs, r.meta), w.Flush())
	r.procs, r.nodes, r.timed = nil, 0, 0
	return err
}

// write makes the run file.
func (r *importedRun) write(output string) error {
	if r.parts == nil {
		return runfile.WriteRun(output, r.procs, r.meta)
	}
	if r.procs != nil {
		if err := r.part(); err != nil {
			return err
		}
	}
	var paths []string
	for _, f := range r.parts {
		paths = append(paths, fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	}
	return runfile.MergeRuns(output, paths)
}

func (r *importedRun) close() {
	for _, f := range r.parts {
		f.Close()
	}
}

// formatOf determines the format of a document from its beginning, "" if it is unknown.
func formatOf(in *bufio.Reader) string {
	head, _ := in.Peek(512)
	switch {
	case mtf.IsFile(head):
		return "mtf"
	case otf2.IsAnchor(head):
		return "otf2"
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	switch head = bytes.TrimSpace(head); {
	case bytes.HasPrefix(head, []byte("<")):
		return "gxl"
	case bytes.HasPrefix(head, []byte("{")):
		return "jsonl"
	}
	return ""
}
