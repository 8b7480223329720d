package main

import (
	"errors"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/parquet"
	"github.com/efg-tools/efg/internal/export/table"
)

var exportParquet = exportFormat{
	name: "parquet",
	about: "a directory of Apache Parquet files, as DuckDB and other tools read in place: events,\n" +
		"messages, waits and other tables",
	writeDir: parquet.Write,
	appendDir: func(dir string, job *export.Job) (bool, error) {
		added, err := parquet.Append(dir, job)
		if errors.Is(err, parquet.ErrNotDataset) {
			err = usageError("--append %w", err)
		}
		return added, err
	},
	owned:   parquet.Owned,
	times:   true,
	matches: tablesMatch(table.Names()...),
	paths:   true,
	what:    table.Names(),
}
