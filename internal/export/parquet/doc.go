// Package parquet writes the tables of package table as Apache Parquet files, and datasets of
// them: directories that are partitioned by run and by blocks of ranks, so that readers of such
// directories find many runs in one table. FORMAT.md in package table describes them.
//
// Most columns of a table of events are the same for many rows. The batches of package table say
// so, and are written as dictionaries without looking at each value; that, and the few types that
// are needed, is why the format is written here and not by a general library.
package parquet
