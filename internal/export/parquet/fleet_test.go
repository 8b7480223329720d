package parquet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/testing/readers"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// seconds is the unit of a script, µs.
const seconds = 1_000_000

// The statements of docs/fleet.md work on a store of several runs, and find what was planted.
func TestStatementsOverManyRuns(t *testing.T) {
	data, err := os.ReadFile("../../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "store")
	for _, ranks := range []int{2, 4} {
		s := testrun.NewScript(t, ranks)
		s.Each(func(r *testrun.ScriptRank, rank int) {
			// The last rank comes to the barrier two seconds after the others.
			enter := int64(1 * seconds)
			if rank == ranks-1 {
				enter = 3 * seconds
			}
			r.Call(0, 1, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_SELF"})
			r.Call(enter, 3*seconds+1, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD"})
		})
		if added, err := Append(store, whole(s.Run())); err != nil || !added {
			t.Fatal(added, err)
		}
	}
	var statements []string
	for _, part := range strings.Split(string(data), "```sql\n")[1:] {
		statement, _, _ := strings.Cut(part, "```")
		statements = append(statements, strings.ReplaceAll(statement, "'store/", "'"+store+"/"))
	}
	if len(statements) != 6 {
		t.Fatalf("%d statements", len(statements))
	}
	got := readers.Read(t, readers.DuckDB, statements...)
	for i, rows := range got {
		if len(rows) == 0 {
			t.Errorf("no rows of\n%s", statements[i])
		}
	}
	// One rank of two and three of four wait two seconds each, of three: eight of eighteen.
	if r := got[0][0]; r.Text(1) != "2" || r.Text(6) != "44.4" {
		t.Errorf("lost by program: %v", r)
	}
	if r := got[1][0]; r.Text(1) != "barrier" || r.Text(2) != "MPI_Barrier" || r.Text(4) != "MPI_Barrier" || r.Text(6) != "4" {
		t.Errorf("where they wait: %v", r)
	}
	if len(got[4]) != 2 || got[4][0].Text(1) != "2" || got[4][1].Text(1) != "4" {
		t.Errorf("how they scale: %v", got[4])
	}
}
