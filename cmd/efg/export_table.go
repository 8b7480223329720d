package main

import (
	"io"

	"github.com/efg-tools/efg/internal/export/arrow"
	"github.com/efg-tools/efg/internal/export/csv"
	"github.com/efg-tools/efg/internal/export/table"
)

var exportCSV = exportFormat{
	name:  "csv",
	about: "one of the tables of parquet, that of --what (default events), as comma-separated\nvalues",
	write: csv.Write,
	times: true,
	what:  table.Names(),
	check: oneTable,
}

var exportArrow = exportFormat{
	name:  "arrow",
	about: "the same as a file of Apache Arrow (Feather)",
	write: arrow.Write,
	times: true,
	what:  table.Names(),
	check: oneTable,
}

// oneTable rejects more than one table.
func oneTable(opt *exportOptions, _ exportSize, _ io.Writer) error {
	if len(opt.what) > 1 {
		return usageError("--what: --format %s writes one table; parquet writes several", opt.format)
	}
	return nil
}
