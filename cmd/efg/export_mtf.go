package main

import (
	"io"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/mtf"
)

var exportMTF = exportFormat{
	name:  "mtf",
	about: "MTF in a compact form, about the size of the run file; efg import reads it, too",
	write: func(out io.Writer, job *export.Job) error {
		return mtf.Write(out, job.Run, job.Selection, job.Show)
	},
}
