package sql_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/sql"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

func database(tb testing.TB, run *runfile.Run) *sql.Database {
	tb.Helper()
	db, err := sql.Open(tb.Context(), run, sql.Limits{Memory: 1 << 30})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.Close() })
	return db
}

// ask returns the rows of a statement, with values separated by bars.
func ask(tb testing.TB, db *sql.Database, statement string) []string {
	tb.Helper()
	rows, err := db.Query(statement)
	if err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		tb.Fatal(err)
	}
	values, to := make([]any, len(columns)), make([]any, len(columns))
	for i := range to {
		to[i] = &values[i]
	}
	var list []string
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			tb.Fatal(err)
		}
		var texts []string
		for _, v := range values {
			texts = append(texts, fmt.Sprint(v))
		}
		list = append(list, strings.Join(texts, "|"))
	}
	if err := rows.Err(); err != nil {
		tb.Fatalf("%s: %v, %v", statement, err, db.Failure())
	}
	return list
}

var programs = []sim.Config{
	{Program: "halo", Ranks: 8, Steps: 12, Null: true, Stats: true},
	{Program: "farm", Ranks: 4, Steps: 30},
	{Program: "mesh", Ranks: 4, Steps: 20, Stats: true},
	{Program: "random", Ranks: 3, Steps: 40},
}

func TestSimulated(t *testing.T) {
	for i, c := range programs {
		t.Run(c.Program, func(t *testing.T) {
			run := testrun.Simulated(t, c)
			if i%2 == 0 {
				run = testrun.Traced(t, c)
			}
			compareEvents(t, run)
			compareSums(t, run)
		})
	}
}

// Persistent and collective operations, one-sided ones, threads, errors.
func TestRecorded(t *testing.T) {
	var programs []testrun.Program
	for _, source := range []string{"c/persistent.c", "c/coll.c", "c/rma.c", "c/threads.c", "c/errors.c"} {
		programs = append(programs, testrun.Program{Source: source, MPI: "openmpi"})
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		compareEvents(t, r.Run)
		compareSums(t, r.Run)
	})
}

// compareEvents checks that the events are those that reconstruction yields.
func compareEvents(t *testing.T, run *runfile.Run) {
	t.Helper()
	db := database(t, run)
	got := ask(t, db, "SELECT rank, thread, seq, op, site, args, out, t0, t1 FROM events")
	n := 0
	testrun.EachEvent(t, run, func(_ *reconstruct.Process, e *reconstruct.Event) {
		var line struct{ Args, Out json.RawMessage }
		if err := json.Unmarshal(e.AppendJSON(nil), &line); err != nil {
			t.Fatal(err)
		}
		times := "<nil>|<nil>"
		if start, end, ok := e.Times(); ok {
			times = fmt.Sprintf("%d|%d", start, end)
		}
		want := fmt.Sprintf("%d|%d|%d|%s|%s|%s|%s|%s", e.Rank(), e.Thread(), e.Seq, e.Op(), e.Site(), line.Args, line.Out, times)
		if n >= len(got) || got[n] != want {
			t.Fatalf("row %d: %s, want %s", n, got[n], want)
		}
		n++
	})
	if n != len(got) {
		t.Errorf("%d rows, want %d", len(got), n)
	}
}

// compareSums checks that sums over events are those of the report.
func compareSums(t *testing.T, run *runfile.Run) {
	t.Helper()
	db := database(t, run)
	var procs []int
	for i := range run.Procs {
		procs = append(procs, i)
	}
	report, err := analysis.NewReport(run, procs)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, p := range report.Procedures {
		want[p.Op] = fmt.Sprintf("%s|%d|%d|%d", p.Op, p.Calls, p.Sent+p.Written, p.Received+p.Read)
	}
	for _, statement := range []string{
		"SELECT op, count(*), ifnull(sum(sent), 0), ifnull(sum(received), 0) FROM events GROUP BY op",
		"SELECT op, sum(visits), sum(sent + written), sum(received + read) FROM nodes GROUP BY op",
	} {
		got := ask(t, db, statement)
		for _, row := range got {
			op, _, _ := strings.Cut(row, "|")
			if row != want[op] {
				t.Errorf("%s: %s, want %s", statement, row, want[op])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d procedures, want %d", len(got), len(want))
		}
	}
}

// Pushing constraints down changes the work, not the answer: a plus before a column keeps a
// constraint from being pushed down.
func TestPushdown(t *testing.T) {
	db := database(t, testrun.Traced(t, programs[0]))
	for _, columns := range []string{"count(*)", "op, node", "seq, rank", "peer, bytes, seq", "args", "t0, tag"} {
		for _, where := range []string{
			"rank = 3", "rank > 2 AND rank <= 5", "rank BETWEEN 6 AND 90", "rank = 2.5", "rank < 2.5", "rank >= 2.5 AND rank < 3.5", "rank IN (1, 4, 99)",
			"rank = 'x'", "rank IS NULL", "rank = NULL", "rank < 9223372036854775807", "rank > 9223372036854775807", "rank > 1e300",
			"seq = 0", "seq < 7", "seq >= 100", "seq BETWEEN 30 AND 40 AND op = 'MPI_Isend'", "seq < 0", "seq > 5 AND seq < 5", "seq = -1",
			"op = 'MPI_Allreduce'", "op = 'mpi_allreduce'", "op IN ('MPI_Init', 'MPI_Barrier', 'no')", "op = 'MPI_Send' AND rank = 1", "op = 3",
			"thread = 0", "thread = 1", "t0 < 5500", "t0 >= 10000 AND t0 < 20000 AND rank = 1", "t0 > 12000 AND op = 'MPI_Waitall'", "t1 BETWEEN 1400 AND 3400",
			"rank = 1 OR seq = 2", "NOT rank = 1", "rank = 1 OR op = 'MPI_Init'", "rank = 2 OR op = 'MPI_Allreduce' OR seq < 3",
		} {
			plain := where
			for _, c := range []string{"rank", "seq", "op", "thread", "t0"} {
				plain = strings.ReplaceAll(" "+plain, " "+c+" ", " +"+c+" ")[1:]
			}
			got := ask(t, db, "SELECT "+columns+" FROM events WHERE "+where+" ORDER BY 1, rank, seq")
			want := ask(t, db, "SELECT "+columns+" FROM events WHERE "+plain+" ORDER BY 1, rank, seq")
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("SELECT %s WHERE %s: %d rows, want %d (%s)", columns, where, len(got), len(want), plain)
			}
		}
	}
}

func TestTables(t *testing.T) {
	run := testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 8, Steps: 12, Stats: true})
	db := database(t, run)
	for statement, want := range map[string]string{
		"SELECT sum(events) = (SELECT count(*) FROM events), count(*), min(complete) FROM ranks":                                                                                            "1|8|1",
		"SELECT sum(visits) = (SELECT sum(events) FROM ranks) FROM nodes":                                                                                                                   "1",
		"SELECT (SELECT sum(weight) FROM edges) + 8 = (SELECT sum(events) FROM ranks)":                                                                                                      "1",
		"SELECT count(*) FROM nodes n JOIN edges e ON e.rank = n.rank AND e.thread = n.thread AND e.target = n.node WHERE n.rank = 3 AND n.op = 'MPI_Finalize'":                             "1",
		"SELECT group_concat(comm, ' ') FROM communicators WHERE rank = 2 AND parent IS NULL":                                                                                               "MPI_COMM_WORLD MPI_COMM_SELF",
		"SELECT size, position, members, kind FROM communicators WHERE rank = 5 AND parent = 'MPI_COMM_WORLD'":                                                                              "8|5|[0,1,2,3,4,5,6,7]|EFG_COMM_CART",
		"SELECT count(DISTINCT comm) FROM events WHERE op = 'MPI_Isend'":                                                                                                                    "1",
		"SELECT json_extract(args, '$.dest') = peer FROM events WHERE op = 'MPI_Isend' LIMIT 1":                                                                                             "1",
		"SELECT count(*) > 0 FROM events WHERE rank = '3'":                                                                                                                                  "1",
		"SELECT count(*) FROM nodes WHERE rank = 1 OR rank = 2 OR op = 'MPI_Init'":                                                                                                          "32",
		"SELECT t0 IS NULL AND t1 IS NULL FROM events LIMIT 1":                                                                                                                              "1",
		"SELECT count(*) FROM events a JOIN events b ON b.rank = a.peer AND b.op = 'MPI_Irecv' AND b.peer = a.rank AND b.tag = a.tag WHERE a.rank = 0 AND a.op = 'MPI_Isend' AND a.seq < 9": "36",
		"SELECT op, time_min <= time_max, time > 0 FROM nodes WHERE rank = 0 AND op = 'MPI_Barrier'":                                                                                        "MPI_Barrier|1|1",
		"SELECT host, size, mpi LIKE 'Open MPI%' FROM ranks WHERE rank = 7":                                                                                                                 "node0001|8|1",
	} {
		if got := strings.Join(ask(t, db, statement), "\n"); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
}

// The database is read-only.
func TestReadOnly(t *testing.T) {
	db := database(t, testrun.Simulated(t, programs[1]))
	for _, statement := range []string{"CREATE TABLE x(y)", "DROP TABLE events", "INSERT INTO events(rank) VALUES (1)", "DELETE FROM events"} {
		if _, err := db.Exec(statement); err == nil {
			t.Errorf("%s is no error", statement)
		}
	}
	if n := len(ask(t, db, "SELECT 1 FROM events LIMIT 3")); n != 3 {
		t.Errorf("%d rows", n)
	}
}

// Broken graphs cause an error that says so.
func TestBroken(t *testing.T) {
	p, err := programs[2].Process(0)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "run.efg")
	if err := runfile.WriteRun(file, []*efg.Process{p}, runfile.Meta{}); err != nil {
		t.Fatal(err)
	}
	run := testrun.Open(t, file)
	db := database(t, run)
	run.Close()
	if _, err := db.Query("SELECT count(*) FROM events"); err == nil || db.Failure() == nil {
		t.Errorf("%v, %v", err, db.Failure())
	}
}

func BenchmarkEvents(b *testing.B) {
	run := testrun.Simulated(b, sim.Config{Program: "halo", Ranks: 8, Steps: 20000})
	db := database(b, run)
	for _, statement := range []string{
		"SELECT count(*) FROM events",
		"SELECT count(*), max(seq) FROM events",
		"SELECT op, count(*) FROM events GROUP BY op",
		"SELECT op, count(*), max(seq) FROM events GROUP BY op",
		"SELECT count(*), sum(bytes) FROM events",
		"SELECT sum(length(args)) FROM events WHERE rank = 3",
		"SELECT count(*), max(seq) FROM events WHERE rank = 3",
		"SELECT op, peer FROM events WHERE rank = 3 AND seq BETWEEN 100000 AND 100010",
	} {
		b.Run(statement, func(b *testing.B) {
			for b.Loop() {
				ask(b, db, statement)
			}
		})
	}
	b.Logf("%s events", ask(b, db, "SELECT sum(events) FROM ranks")[0])
}
