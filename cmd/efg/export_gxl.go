package main

import (
	"fmt"
	"io"
	"path/filepath"
	"syscall"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/gxl"
)

var exportGXL = exportFormat{
	name:  "gxl",
	about: "the MPI Trace Format (MTF) with its metamodel in GXL 1.0, about a kilobyte per\ncall; efg import turns it back into a run file",
	write: func(out io.Writer, job *export.Job) error {
		return gxl.Write(out, job.Run, job.Selection, job.Show)
	},
	check: checkGXL,
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

// checkGXL prints the size of a large GXL document, and rejects one that far exceeds the free
// space: the estimate is accurate to about a third.
func checkGXL(opt *exportOptions, part exportSize, errOut io.Writer) error {
	size, output := uint64(part.processes)*gxlProcess+part.events*gxlCall+part.nodes*gxlNode, opt.output
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
