package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/gxl"
	"github.com/efg-tools/efg/internal/export/mtf"
)

// importer reads a document of an exchange format; name is its name in errors.
type importer func(name string, in io.Reader, sink export.Sink, progress func(bytes int64)) error

// importers are the formats of efg import.
var importers = map[string]importer{"gxl": gxl.Read, "mtf": mtf.Read}

func newImport() *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:   "import INPUT -o FILE",
		Short: "Create a run file from the output of efg export",
		Long: `Create a run file from the output of efg export; "-" reads standard input. The input
is checked first: an error is reported with its position, and no file is written. The
events of whole streams must match the recorded hash.`,
		Example: `  efg import jacobi.gxl -o again.efg
  efg import jacobi.mtf -o again.efg`,
		Args: argCount(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usageError("efg import: -o FILE is missing")
			}
			return importRun(args[0], format, output, cmd.InOrStdin(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "gxl or mtf (default: detected from the input)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "the run file")
	completeWords(cmd, "format", slices.Sorted(maps.Keys(importers))...)
	return cmd
}

func importRun(path, format, output string, in io.Reader, errOut io.Writer) error {
	total := uint64(0)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return usageError("%w", err)
		}
		defer f.Close()
		in = f
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			total = uint64(st.Size())
		}
	}
	buffered := bufio.NewReaderSize(in, 1<<16)
	if format == "" {
		format = formatOf(buffered)
	}
	read := importers[format]
	if read == nil && format != "" {
		return usageError("--format %s: want gxl or mtf", format)
	}
	if read == nil {
		return usageError("%s: not written by efg export", path)
	}
	bar := newProgress(errOut, "bytes", total)
	run := importedRun{}
	defer run.close()
	err := read(path, buffered, run.add, func(n int64) { bar.show(uint64(n)) })
	bar.close()
	var place *text.Error
	var record *mtf.Error
	if errors.As(err, &place) || errors.As(err, &record) {
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
	nodes int // of their graphs
	// parts are unnamed files: they disappear with this process, however it ends.
	parts []*os.File
}

// partSize is the maximum number of processes in memory, and partNodes that of nodes. Tests
// change the former.
var partSize = 256

const partNodes = 1 << 20

func (r *importedRun) add(meta *runfile.Meta, p *efg.Process) error {
	r.meta, r.procs = *meta, append(r.procs, p)
	for i := range p.Streams {
		r.nodes += len(p.Streams[i].Nodes)
	}
	if len(r.procs) < partSize && r.nodes < partNodes {
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
	r.procs, r.nodes = nil, 0
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
	if mtf.IsFile(head) {
		return "mtf"
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) {
		return "gxl"
	}
	return ""
}
