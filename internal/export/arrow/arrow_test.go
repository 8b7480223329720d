package arrow

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/csv"
	"github.com/efg-tools/efg/internal/export/parquet"
	"github.com/efg-tools/efg/internal/export/table"
	"github.com/efg-tools/efg/internal/testing/readers"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

func job(run *runfile.Run, what ...string) *export.Job {
	j := &export.Job{Run: run, What: what, Selection: export.Selection{Thread: -1}}
	for i := range run.Procs {
		j.Procs = append(j.Procs, i)
	}
	return j
}

// create writes a file.
func create(t *testing.T, name string, write func(io.Writer, *export.Job) error, j *export.Job) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(write(f, j), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// Each table is the same in all formats, as others read them: Arrow with Arrow for JavaScript, CSV
// and Parquet with DuckDB.
func TestFormatsAgree(t *testing.T) {
	type written struct {
		name   string
		schema *table.Schema
	}
	var arrows, sqls []string
	var list []written
	for name, file := range testrun.Texts(t, "../../../efg/text/testdata") {
		run := testrun.Decode(t, file)
		dir := filepath.Join(t.TempDir(), "d")
		if err := errors.Join(os.Mkdir(dir, 0o755), parquet.Write(dir, job(run))); err != nil {
			t.Fatal(err)
		}
		for _, s := range table.Schemas() {
			base := filepath.Join(dir, s.Name)
			if _, err := os.Stat(base); (s.Matched || s.Name == "counters") && err != nil { // there are no rows
				continue
			}
			create(t, base+".arrow", Write, job(run, s.Name))
			create(t, base+".csv", csv.Write, job(run, s.Name))
			arrows, list = append(arrows, base+".arrow"), append(list, written{name, s})
			sqls = append(sqls, "select "+texts(s)+" from read_parquet('"+base+"/**/*.parquet')", "select * from read_csv('"+base+".csv', all_varchar = true, header = true)")
		}
	}
	byArrow, bySQL := readers.Read(t, readers.Arrow, arrows...), readers.Read(t, readers.DuckDB, sqls...)
	for i, w := range list {
		compare(t, fmt.Sprintf("%s: %s: Arrow and Parquet", w.name, w.schema.Name), w.schema, byArrow[i], bySQL[2*i])
		compare(t, fmt.Sprintf("%s: %s: CSV and Parquet", w.name, w.schema.Name), w.schema, bySQL[2*i+1], bySQL[2*i])
	}
}

// texts selects all columns as texts.
func texts(s *table.Schema) string {
	var list []string
	for _, c := range s.Columns {
		text := c.Name + "::varchar"
		if c.Type == table.Timestamp {
			text = "epoch_ms(" + c.Name + ")::varchar"
		}
		list = append(list, text)
	}
	return strings.ReplaceAll(strings.Join(list, ", "), "end::", `"end"::`)
}

func compare(t *testing.T, what string, s *table.Schema, got, want []readers.Row) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, %d", what, len(got), len(want))
		return
	}
	for k := range got {
		for i, c := range s.Columns {
			a, b := got[k].Text(i), want[k].Text(i)
			if at, err := time.Parse(time.RFC3339Nano, a); err == nil && c.Type == table.Timestamp {
				a = fmt.Sprint(at.UnixMilli())
			}
			if c.Type == table.Timestamp { // one reader has fractions
				a, _, _ = strings.Cut(a, ".")
			}
			if a != b || (got[k][i] == nil) != (want[k][i] == nil) {
				t.Errorf("%s: row %d: %s is %v, %v", what, k, c.Name, got[k][i], want[k][i])
				return
			}
		}
	}
}
