package main

import (
	"io"

	"github.com/efg-tools/efg/internal/export/arrow"
	"github.com/efg-tools/efg/internal/export/csv"
	"github.com/efg-tools/efg/internal/export/extrap"
	"github.com/efg-tools/efg/internal/export/table"
)

var exportCSV = exportFormat{
	name:    "csv",
	about:   "one of the tables of parquet, that of --what (default events), as comma-separated\nvalues",
	write:   csv.Write,
	times:   true,
	paths:   true,
	what:    table.Names(),
	check:   oneTable,
	matches: tablesMatch("events"),
}

var exportArrow = exportFormat{
	name:    "arrow",
	about:   "the same as a file of Apache Arrow (Feather)",
	write:   arrow.Write,
	times:   true,
	paths:   true,
	what:    table.Names(),
	check:   oneTable,
	matches: tablesMatch("events"),
}

// oneTable rejects more than one table.
func oneTable(opt *exportOptions, _ exportSize, _ io.Writer) error {
	if len(opt.what) > 1 {
		return usageError("--what: --format %s writes one table; parquet writes several", opt.format)
	}
	return nil
}

var exportExtrap = exportFormat{
	name:  "extrap",
	about: "measurements of each callsite for Extra-P (JSON Lines); append those of runs with\nother numbers of ranks",
	write: extrap.Write,
	check: wholeStreams,
}

// wholeStreams rejects parts of streams, of which there are no statistics.
func wholeStreams(opt *exportOptions, _ exportSize, _ io.Writer) error {
	if opt.from != "" || opt.to != "" {
		return usageError("--format %s: is of whole threads; --from and --to are for other formats", opt.format)
	}
	return nil
}
