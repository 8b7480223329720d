package sql_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/sql"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// try runs a statement to its end, and returns the reason why it failed.
func try(db *sql.Database, statement string) error {
	rows, err := db.Query(statement)
	if err != nil {
		return db.Reason(err)
	}
	defer rows.Close()
	for rows.Next() {
	}
	return db.Reason(rows.Err())
}

// tempFiles redirects SQLite's temporary files to a directory, and returns a function that
// lists it.
func tempFiles(t *testing.T) (dir string, list func() []string) {
	dir = t.TempDir()
	for _, name := range []string{"SQLITE_TMPDIR", "TMPDIR"} {
		t.Setenv(name, dir)
	}
	t.Chdir(dir)
	return dir, func() []string {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
}

// Statements that write, in whatever way, are rejected, and leave no file and no table.
func TestRefused(t *testing.T) {
	dir, files := tempFiles(t)
	run := testrun.Simulated(t, programs[1])
	db := database(t, run)
	file := filepath.Join(dir, "x.db")
	for _, statement := range []string{
		"ATTACH '" + file + "' AS x", "pragma query_only=0; attach '" + file + "' as x; create table x.t(a); insert into x.t values (1)",
		"ATTACH ':memory:' AS x", "select 1; ATTACH '" + file + "' AS x", "/* select */ atTACH/**/'" + file + "'/**/AS x", "-- select 1\nATTACH '" + file + "' AS x",
		"\ufeffATTACH '" + file + "' AS x", "DETACH main", "VACUUM", "VACUUM INTO '" + file + "'", "VACUUM main INTO '" + file + "'",
		"PRAGMA query_only = 0", "PRAGMA main.query_only(0)", "pragma\tquery_only=off", "PRAGMA query_only", "PRAGMA temp_store = FILE",
		"PRAGMA temp_store_directory = '" + dir + "'", "PRAGMA writable_schema = 1", "PRAGMA journal_mode = WAL", "PRAGMA hard_heap_limit = 0", "PRAGMA soft_heap_limit = 1",
		"PRAGMA cache_spill = 1", "PRAGMA max_page_count = 1", "PRAGMA mmap_size = 100", "PRAGMA threads = 8", "PRAGMA trusted_schema = 1", "PRAGMA database_list(1)",
		"CREATE TABLE x(y)", "CREATE TEMP TABLE x(y)", "CREATE TEMP TABLE x AS SELECT * FROM events", "CREATE VIEW x AS SELECT 1", "CREATE TEMP VIEW x AS SELECT 1",
		"CREATE TRIGGER x AFTER INSERT ON events BEGIN SELECT 1; END", "CREATE VIRTUAL TABLE x USING efg_events", "CREATE VIRTUAL TABLE x USING fts5(a)",
		"CREATE INDEX x ON events(rank)", "DROP TABLE events", "ALTER TABLE events RENAME TO x", "INSERT INTO events(rank) VALUES (1)", "UPDATE events SET rank = 1",
		"DELETE FROM events", "REPLACE INTO events(rank) VALUES (1)", "WITH x AS (SELECT 1) INSERT INTO events(rank) SELECT * FROM x", "INSERT INTO sqlite_schema VALUES (1, 2, 3, 4, 5)",
		"UPDATE sqlite_dbpage SET data = zeroblob(4096) WHERE pgno = 1", "ANALYZE", "BEGIN", "BEGIN IMMEDIATE", "COMMIT", "SAVEPOINT x", "EXPLAIN ATTACH '" + file + "' AS x",
		"SELECT load_extension('" + file + "')", "SELECT writefile('" + file + "', 'x')", "SELECT readfile('/etc/passwd')", "SELECT edit('x')", "SELECT fts3_tokenizer('x', 'y')",
		"SELECT * FROM nothing", "SELEC", "",
	} {
		err := try(db, statement)
		if err == nil && statement != "" || err != nil && !errors.As(err, new(*sql.StatementError)) {
			t.Errorf("%q: %v", statement, err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %q", statement, err)
		}
	}
	if _, err := db.Exec("PRAGMA query_only = 0; CREATE TABLE x(y)"); err == nil {
		t.Error("Exec writes")
	}
	if left := files(); len(left) > 0 {
		t.Errorf("there are %q", left)
	}
	for statement, want := range map[string]string{
		"SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema ORDER BY name)": "communicators,counters,edges,energy,events,nodes,ranks",
		"SELECT count(*) FROM pragma_database_list":                                     "1",
		"PRAGMA database_list":                            "0|main|",
		"SELECT count(*) FROM pragma_table_info('edges')": "6",
		"SELECT sum(value) FROM json_each('[1, 2, 3]')":   "6",
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 9) SELECT sum(x) FROM c":       "45",
		"SELECT count(*) FROM (SELECT DISTINCT rank, seq FROM events ORDER BY seq DESC, rank) a JOIN (SELECT 1)": ask(t, db, "SELECT count(*) FROM events")[0],
	} {
		if got := strings.Join(ask(t, db, statement), "\n"); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
}

// A statement that needs too much memory ends with an error that says so, and the next
// statement works; nothing goes to a file.
func TestMemory(t *testing.T) {
	_, files := tempFiles(t)
	run := testrun.Simulated(t, programs[0])
	db, err := sql.Open(t.Context(), run, sql.Limits{Memory: 24 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const forever = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
	for _, statement := range []string{
		"SELECT zeroblob(2000000000)", "SELECT length(zeroblob(1000000000))", "SELECT randomblob(1000000000)", "SELECT hex(zeroblob(900000000))",
		"SELECT printf('%.*c', 2000000000, 'x')", "SELECT printf('%1000000000d', 1)", "SELECT replace(hex(zeroblob(1000000)), '0', hex(zeroblob(1000)))",
		forever + "SELECT group_concat(t) FROM (SELECT x || hex(zeroblob(10000)) t FROM c LIMIT 2000)", forever + "SELECT json_group_array(t) FROM (SELECT x || hex(zeroblob(10000)) t FROM c LIMIT 2000)", forever + "SELECT x FROM c ORDER BY -x", forever + "SELECT DISTINCT x FROM c ORDER BY x",
		forever + "SELECT x, count(*) FROM c GROUP BY x % 100000000 HAVING count(*) > 1", "SELECT a.args || b.args || c.args AS z FROM events a, events b, events c ORDER BY z",
		"WITH RECURSIVE c(x) AS (SELECT 'x' UNION SELECT x || x FROM c) SELECT max(length(x)) FROM c",
		forever + ", d AS MATERIALIZED (SELECT x FROM c) SELECT count(*) FROM d a, d b",
	} {
		if err := try(db, statement); !errors.Is(err, sql.ErrMemory) && !errors.Is(err, sql.ErrValue) {
			t.Errorf("%s: %v", statement, err)
		}
		if got := ask(t, db, "SELECT count(*) FROM ranks"); got[0] != "8" {
			t.Fatalf("after %s: %s", statement, got)
		}
		if left := files(); len(left) > 0 {
			t.Fatalf("%s: there are %q", statement, left)
		}
	}
}

// Endless statements stop when the context ends, whether SQLite is working or the run is being
// walked, and the error is that of the context.
func TestStopped(t *testing.T) {
	run := testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 8, Steps: 2000})
	enough := errors.New("enough")
	const forever = "WITH RECURSIVE c(x) AS (SELECT node FROM nodes UNION ALL SELECT x + 1 FROM c) "
	for _, statement := range []string{
		forever + "SELECT count(*) FROM c", forever + "SELECT x FROM c", forever + "SELECT x FROM c WHERE x < 0",
		"SELECT count(*) FROM events a, events b, events c WHERE a.args = b.args",
		"SELECT count(*) FROM events a, events b, events c WHERE a.seq + b.seq + c.seq < 0",
		"SELECT count(*) FROM events a, events b, events c, events d",
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		db, err := sql.Open(ctx, run, sql.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		db.Progress = func(uint64) { stop(enough) } // it has begun
		if err := try(db, statement); !errors.Is(err, enough) {
			t.Errorf("%s: %v", statement, err)
		}
		db.Close()
	}
}
