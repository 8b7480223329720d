package main

import (
	"path/filepath"
	"testing"
)

// TestQueries compares what efg query prints with testdata/golden.
func TestQueries(t *testing.T) {
	golden := goldenDir(t)
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 5, 20)
	for name, args := range map[string][]string{
		"query-text":          {"SELECT SENDS FOR PROCESS(1) LIMIT 2", "--format", "text"},
		"query-jsonl":         {"SELECT POINT_TO_POINT BETWEEN PROCESS(1,2) WHERE TAG = 7 LIMIT 3"},
		"query-mtf":           {"SELECT ALLREDUCE FOR PROCESSES(2-3)", "--format", "mtf"},
		"query-messages":      {"SELECT ALL MESSAGES FOR PROCESS(2) LIMIT 2"},
		"query-messages-text": {"SELECT ALL MESSAGES FOR PROCESS(2) LIMIT 2", "--format", "text"},
		"query-totals":        {"SELECT COUNT(*), SUM(SIZE), SUM(TIME) GROUP BY OP, PEER", "--format", "text"},
		"query-totals-jsonl":  {"SELECT COUNT, AVG(SIZE), MAX(TIME) OF RECEIVES GROUP BY RANK"},
		"query-fans":          {"SELECT M_FAN_IN, M_FAN_OUT", "--format", "text"},
		"query-topology":      {"SELECT TOPOLOGY", "--format", "text"},
		"query-topology-json": {"SELECT TOPOLOGY FOR PROCESS(3)"},
	} {
		checkPrints(t, filepath.Join(golden, name+".txt"), append([]string{"query", "ring.efg"}, args...))
	}
}

// Mistakes in queries have status 2 and show the place.
func TestQueryMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 3, 4)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"query", "none.efg", "SELECT SENDS"}, "none.efg: no such file or directory"},
		{[]string{"query", "ring.efg"}, "efg query: accepts 2 arg(s), received 1"},
		{[]string{"query", "ring.efg", "SELECT SENDS", "--format", "xml"}, "--format xml: want jsonl, text or mtf"},
		{[]string{"query", "ring.efg", "SELECT MESSAGES", "--format", "mtf"}, "--format mtf: is for selected operations"},
		{[]string{"query", "ring.efg", "SELECT SENDS FOR PROCESS(7)"}, "no rank 7 was recorded\n  SELECT SENDS FOR PROCESS(7)\n                           ^"},
	} {
		checkRefused(t, c.args, c.want)
	}
}

// TestSQL compares what efg sql prints with testdata/golden.
func TestSQL(t *testing.T) {
	golden := goldenDir(t)
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 5, 20)
	for name, args := range map[string][]string{
		"sql-table":  {"select op, count(*) as calls, sum(bytes) as bytes, 0.5 as half from events group by op"},
		"sql-empty":  {"select rank, op from events where rank > 7"},
		"sql-csv":    {"select rank, seq, op, peer, tag, comm, args, t0 from events where rank = 1 and seq between 0 and 4", "--format", "csv"},
		"sql-json":   {"select rank, seq, op, peer, out from events where rank in (1, 3) and op = 'MPI_Recv' limit 3", "--format", "json"},
		"sql-none":   {"select rank, op from events where rank > 7", "--format", "csv"},
		"sql-nodes":  {"select op, args, visits, sent, time from nodes where rank = 0"},
		"sql-others": {"select r.rank, r.events, sum(e.weight), count(c.comm) from ranks r join edges e on e.rank = r.rank join communicators c on c.rank = r.rank group by r.rank"},
	} {
		checkPrints(t, filepath.Join(golden, name+".txt"), append([]string{"sql", "ring.efg"}, args...))
	}
}

// Mistakes in statements have status 2.
func TestSQLMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 3, 4)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"sql", "none.efg", "select 1"}, "none.efg: no such file or directory"},
		{[]string{"sql", "ring.efg"}, "efg sql: accepts 2 arg(s), received 1"},
		{[]string{"sql", "ring.efg", "select 1", "--format", "xml"}, "--format xml: want table, csv or json"},
		{[]string{"sql", "ring.efg", "select foo from events"}, "SQL logic error: no such column: foo (1)"},
		{[]string{"sql", "ring.efg", "select * from traces"}, "SQL logic error: no such table: traces (1)"},
		{[]string{"sql", "ring.efg", "create table x(y)"}, "a run can only be read: what writes is refused"},
	} {
		checkRefused(t, c.args, c.want)
	}
}

// Queries about when something happened, for a recorded run with the times of each call.
func TestQueryTimes(t *testing.T) {
	assembled(t, "traced")
	for query, want := range map[string]string{
		"SELECT COUNT OF OPERATIONS BETWEEN TIME 0s AND 10s":                 "{\"count\":34}\n",
		"SELECT COUNT OF OPERATIONS BETWEEN TIME 10s AND 11s":                "{\"count\":0}\n",
		"SELECT COUNT OF OPERATIONS WHERE DURATION > 10ms AND OP = MPI_Init": "{\"count\":3}\n",
	} {
		if out, errOut, status := efgRun(t, nil, "query", "a.efg", query); status != 0 || out != want {
			t.Errorf("%s: status %d, %s%s, want %s", query, status, errOut, out, want)
		}
	}
}
