package jsondoc

import (
	"bytes"
	"encoding/csv"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type csvInner struct {
	Sum  uint64   `json:"sum"`
	Bins []uint64 `json:"bins"`
}

type csvRow struct {
	Op   string    `json:"op"`
	Time csvInner  `json:"time"`
	At   *csvInner `json:"at"`
}

type csvRun struct {
	File  string    `json:"file"`
	Rate  float64   `json:"rate"`
	Loops []csvRow  `json:"loops"`
	Begun time.Time `json:"begun"`
}

type csvPath struct {
	Rows []*csvRow `json:"rows"`
}

type csvDoc struct {
	csvRun
	Schema string    `json:"schema"`
	Runs   []*csvRun `json:"runs"`
	Path   *csvPath  `json:"path"`
	Ranks  []int     `json:"ranks"`
	hidden []csvRow
	Not    []csvRow `json:"-"`
}

func csvText(t *testing.T, doc any, table string) [][]string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteCSV(&b, doc, table); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestCSV(t *testing.T) {
	doc := &csvDoc{hidden: []csvRow{{}}, Runs: []*csvRun{
		{File: `a,"b"` + "\nc", Rate: 0.5, Begun: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Loops: []csvRow{
			{Op: "MPI_Send", Time: csvInner{1 << 63, []uint64{1, 2}}},
			{Op: "MPI_Recv", At: &csvInner{Sum: 3}},
		}},
		{File: "z"},
	}}
	if got := Tables(doc); !slices.Equal(got, []string{"loops", "runs", "runs.loops", "path.rows"}) {
		t.Errorf("tables %q", got)
	}
	for table, want := range map[string][][]string{
		"runs": {{"file", "rate", "begun"}, {`a,"b"` + "\nc", "0.5", "2026-01-02T03:04:05Z"}, {"z", "0", "0001-01-01T00:00:00Z"}},
		"runs.loops": {
			{"runs.file", "runs.rate", "runs.begun", "op", "time.sum", "time.bins", "at.sum", "at.bins"},
			{`a,"b"` + "\nc", "0.5", "2026-01-02T03:04:05Z", "MPI_Send", "9223372036854775808", "[1,2]", "", ""},
			{`a,"b"` + "\nc", "0.5", "2026-01-02T03:04:05Z", "MPI_Recv", "0", "", "3", ""},
		},
		"path.rows": {{"op", "time.sum", "time.bins", "at.sum", "at.bins"}},
		"loops":     {{"op", "time.sum", "time.bins", "at.sum", "at.bins"}},
	} {
		got := csvText(t, doc, table)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s:\n%q\nwant\n%q", table, got, want)
		}
	}
	doc.Path = &csvPath{Rows: []*csvRow{{Op: "MPI_Wait"}}}
	if got := csvText(t, doc, "path.rows"); len(got) != 2 || got[1][0] != "MPI_Wait" {
		t.Errorf("path.rows: %q", got)
	}
	err := WriteCSV(&bytes.Buffer{}, doc, "ranks")
	if !errors.Is(err, ErrNoTable) || !strings.Contains(err.Error(), "loops, runs, runs.loops, path.rows") {
		t.Errorf("a table that does not exist: %v", err)
	}
}

// TestDocumentTables checks that the tables that commands write unless told otherwise exist.
func TestDocumentTables(t *testing.T) {
	for _, c := range []struct {
		doc   any
		table string
	}{
		{&Check{}, "findings"}, {&Clocks{}, "machines"}, {&Efficiency{}, "runs"}, {&Loops{}, "groups.loops"}, {&Phases{}, "rows"},
		{&Report{}, "callsites"}, {&RunList{}, "runs"}, {&Waits{}, "rows"}, {&Whatif{}, "overview.gains"}, {&Info{}, "streams"},
	} {
		if got := csvText(t, c.doc, c.table); len(got) != 1 || len(got[0]) < 2 {
			t.Errorf("%T, table %s: %q", c.doc, c.table, got)
		}
	}
}

type csvChain struct {
	Op    string    `json:"op"`
	Inner *csvChain `json:"inner"`
}

// An object within one of its own type has no columns.
func TestColumnsOfChains(t *testing.T) {
	var names []string
	eachColumn(reflect.TypeFor[csvChain](), func(m member) { names = append(names, m.name) })
	if !slices.Equal(names, []string{"op"}) {
		t.Errorf("columns %v", names)
	}
}
