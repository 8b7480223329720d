package parquet

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/table"
	"github.com/efg-tools/efg/internal/testing/readers"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// recorded are runs of both MPI libraries, with threads, of killed programs, with and without
// times, and simulated ones.
func recorded(t *testing.T) map[string]*runfile.Run {
	list := map[string]*runfile.Run{
		"untimed": testrun.Simulated(t, sim.Config{Program: "mesh", Ranks: 6, Steps: 60}),
		"traced":  testrun.Traced(t, sim.Config{Program: "farm", Ranks: 6, Steps: 60}),
	}
	for name, file := range testrun.Texts(t, "../../../efg/text/testdata") {
		list["text "+name] = testrun.Decode(t, file)
	}
	return list
}

// lines are the events of a run as JSON Lines.
func lines(t *testing.T, run *runfile.Run) (list []string) {
	testrun.EachEvent(t, run, func(_ *reconstruct.Process, e *reconstruct.Event) {
		list = append(list, strings.TrimSuffix(string(e.AppendJSON(nil)), "\n"))
	})
	return list
}

// eventLine is the line of JSON Lines that a row of rank, thread, seq, op, args, out, site, t0, t1 and
// pmpi stands for.
func eventLine(r readers.Row) string {
	line := fmt.Sprintf(`{"rank":%s,"thread":%s,"seq":%s,"op":"%s","args":%s,"out":%s,"site":"%s"`, r.Text(0), r.Text(1), r.Text(2), r.Text(3), r.Text(4), r.Text(5), r.Text(6))
	if r[7] != nil {
		line += fmt.Sprintf(`,"t0":%s,"t1":%s`, r.Text(7), r.Text(8))
	}
	if r.Text(9) == "true" {
		line += `,"pmpi":true`
	}
	return line + "}"
}

// small makes blocks and row groups small.
func small(t *testing.T, events uint64) {
	old := blockEvents
	blockEvents = events
	t.Cleanup(func() { blockEvents = old })
}

const columns = "rank, thread, seq, op, args::varchar, out::varchar, site, t0, t1, pmpi"

// A store of many runs is one table for DuckDB, and has each event as JSON Lines have it. hyparquet
// finds the same in the files.
func TestEventsAreThoseOfJSONLines(t *testing.T) {
	small(t, 500)
	dir := filepath.Join(t.TempDir(), "store")
	runs := recorded(t)
	names := slices.Sorted(maps.Keys(runs))
	var statements []string
	for _, name := range names {
		if added, err := Append(dir, whole(runs[name])); err != nil || !added {
			t.Fatalf("%s: %v, %v", name, added, err)
		}
		id, err := table.RunID(runs[name])
		if err != nil {
			t.Fatal(err)
		}
		statements = append(statements, fmt.Sprintf("select %s from read_parquet('%s/events/**/*.parquet', hive_partitioning = true) where run = '%s' order by block, file_row_number", columns, dir, id))
	}
	for i, rows := range readers.Read(t, readers.DuckDB, statements...) {
		var got []string
		for _, r := range rows {
			got = append(got, eventLine(r))
		}
		checkLines(t, names[i]+": DuckDB", got, lines(t, runs[names[i]]))
	}
	checkHyparquet(t, dir, runs)
}

func checkLines(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d events, want %d", what, len(got), len(want))
		return
	}
	for k := range got {
		if got[k] != want[k] {
			t.Errorf("%s: event %d:\n%s\nwant\n%s", what, k, got[k], want[k])
			return
		}
	}
}

func checkHyparquet(t *testing.T, dir string, runs map[string]*runfile.Run) {
	t.Helper()
	var files, of []string
	for name, run := range runs {
		id, err := table.RunID(run)
		if err != nil {
			t.Fatal(err)
		}
		for i := range blocksOf(whole(run)) {
			file := filepath.Join(dir, "events", "run="+id, fmt.Sprintf("block=%d", i), part)
			if _, err := os.Stat(file); err == nil {
				files, of = append(files, file), append(of, name)
			}
		}
	}
	got := map[string][]string{}
	schema := table.ByName("events")
	for i, rows := range readers.Read(t, readers.Hyparquet, files...) {
		for _, r := range rows {
			var picked readers.Row
			for _, c := range []string{"rank", "thread", "seq", "op", "args", "out", "site", "t0", "t1", "pmpi"} {
				picked = append(picked, r[schema.Column(c)])
			}
			got[of[i]] = append(got[of[i]], eventLine(picked))
		}
	}
	for name, run := range runs {
		checkLines(t, name+": hyparquet", got[name], lines(t, run))
	}
}

// The other tables agree with the events, and with what is known of the run.
func TestTablesAgree(t *testing.T) {
	small(t, 500)
	var statements, wants []string
	want := func(value, format string, args ...any) {
		statements, wants = append(statements, fmt.Sprintf(format, args...)), append(wants, value)
	}
	for name, run := range recorded(t) {
		dir := filepath.Join(t.TempDir(), "d")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := Write(dir, whole(run)); err != nil {
			t.Fatal(err)
		}
		of := func(table string) string { return fmt.Sprintf("read_parquet('%s/%s/**/*.parquet')", dir, table) }
		want("1", "select count(*) from "+of("run")+" r where events = (select count(*) from "+of("events")+") and ranks = (select count(*) from "+of("ranks")+") and nodes = (select count(*) from "+of("nodes")+") -- %s", name)
		if run.Meta.Polls != runfile.PollTotals {
			want("0", "select count(*) from (select rank, thread, node, op, visits from "+of("calls")+" except select rank, thread, node, op, count(*) from "+of("events")+" group by all) -- %s", name)
		}
		want("0", "select count(*) from (select rank, thread, target, sum(weight) w from "+of("edges")+" group by all) e left join "+of("calls")+" c on e.rank = c.rank and e.thread = c.thread and target = node where visits is distinct from w and not (node = 0 and visits = w + 1) -- %s", name)
		want("0", "select count(*) from "+of("ranks")+" r where events <> (select count(*) from "+of("events")+" e where e.rank = r.rank) -- %s", name)
		_, err := os.Stat(filepath.Join(dir, "messages"))
		if err == nil {
			want("0", "select count(*) from "+of("messages")+" m left join "+of("events")+" s on s.rank = send_rank and s.thread = send_thread and s.seq = send_seq left join "+of("events")+" d on d.rank = recv_rank and d.thread = recv_thread and d.seq = done_seq where s.t0 is distinct from m.sent or d.t1 is distinct from m.received or s.op is distinct from send_op or s.site is distinct from send_site or s.op not like '%%Start%%' and s.bytes is distinct from m.bytes -- %s", name)
			want("0", "select count(*) from "+of("run")+" where messages <> (select count(*) from "+of("messages")+") -- %s", name)
		}
	}
	for i, rows := range readers.Read(t, readers.DuckDB, statements...) {
		if rows[0].Text(0) != wants[i] {
			t.Errorf("%s is %s, want %s", statements[i], rows[0].Text(0), wants[i])
		}
	}
}

// What was not recorded is NULL.
func TestTimesThatWereNotRecordedAreNull(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, whole(testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 2, Steps: 3}))); err != nil {
		t.Fatal(err)
	}
	read := func(table string) string { return fmt.Sprintf("read_parquet('%s/%s/**/*.parquet')", dir, table) }
	for i, rows := range readers.Read(t, readers.DuckDB,
		"select count(t0) + count(t1) from "+read("events"), "select count(time) + count(gap) from "+read("calls"),
		"select count(elapsed) + count(waiting) + count(messages) from "+read("run"), "select count(elapsed) from "+read("ranks")) {
		if rows[0].Text(0) != "0" {
			t.Errorf("statement %d: %s values", i, rows[0].Text(0))
		}
	}
	for _, table := range []string{"messages", "waits"} {
		if _, err := os.Stat(filepath.Join(dir, table)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", table, err)
		}
	}
}

// A condition on rank or time leaves most row groups unread.
func TestPruning(t *testing.T) {
	small(t, math.MaxUint64)
	dir := t.TempDir()
	if err := Write(dir, whole(testrun.Traced(t, sim.Config{Program: "halo", Ranks: 8, Steps: 6000}), "events")); err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf("'%s/events/*/*/*.parquet'", dir)
	groups := "select count(*), sum((stats_min_value::bigint <= %d and stats_max_value::bigint >= %d)::int) from parquet_metadata(" + file + ") where path_in_schema = '%s'"
	sorted := "select count(*) from (select rank, lag(rank) over (order by file_row_number) as above, seq, lag(seq) over (order by file_row_number) as number from read_parquet(" + file + ", file_row_number = true)) where rank < above or rank = above and seq <= number"
	got := readers.Read(t, readers.DuckDB, fmt.Sprintf(groups, 5, 5, "rank"), fmt.Sprintf(groups, 1_000_000, 0, "t0"), sorted)
	for i, most := range []string{"2", "8"} {
		r := got[i][0]
		if r.Text(0) < r.Text(1) || len(r.Text(1)) > 1 || r.Text(1) > most {
			t.Errorf("%s of %s row groups may have the rows, want at most %s", r.Text(1), r.Text(0), most)
		}
	}
	if n := got[2][0].Text(0); n != "0" {
		t.Errorf("%s rows are not in order", n)
	}
}

// Windows of ranks, events and time are those of the events.
func TestSelection(t *testing.T) {
	run := testrun.Traced(t, sim.Config{Program: "halo", Ranks: 4, Steps: 50})
	for name, c := range map[string]struct {
		sel   export.Selection
		where string
	}{
		"ranks":  {export.Selection{Procs: []int{1, 3}, Thread: -1}, "rank in (1, 3)"},
		"events": {export.Selection{Procs: []int{0, 1, 2, 3}, Thread: -1, From: 10, To: 30}, "seq >= 10 and seq < 30"},
		"time":   {export.Selection{Procs: []int{0, 1, 2, 3}, Thread: -1, Time: &export.TimeWindow{From: 20_000, To: 40_000}}, "t1 >= 20000 and t0 < 40000"},
		"thread": {export.Selection{Procs: []int{0, 1, 2, 3}, Thread: 0}, "thread = 0"},
	} {
		all, dir := t.TempDir(), t.TempDir()
		if err := errors.Join(Write(all, whole(run)), Write(dir, &export.Job{Run: run, Selection: c.sel})); err != nil {
			t.Fatal(err)
		}
		statement := "select coalesce(sum(hash(rank, seq, t0, args::varchar) %% 1000003), 0), count(*) from read_parquet('%s/events/*/*/*.parquet') where %s"
		got := readers.Read(t, readers.DuckDB, fmt.Sprintf(statement, dir, "true"), fmt.Sprintf(statement, all, c.where))
		if got[0][0].Text(0) != got[1][0].Text(0) || got[1][0].Text(1) == "0" {
			t.Errorf("%s: %v, want %v", name, got[0][0], got[1][0])
		}
	}
}

// A run is added once, what a killed export left is completed, and nothing else is written to.
func TestAppend(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	a := testrun.Traced(t, sim.Config{Program: "halo", Ranks: 2, Steps: 5})
	b := testrun.Traced(t, sim.Config{Program: "halo", Ranks: 3, Steps: 5})
	for _, c := range []struct {
		run   *runfile.Run
		added bool
	}{{a, true}, {a, false}, {b, true}, {b, false}} {
		if added, err := Append(dir, whole(c.run)); err != nil || added != c.added {
			t.Fatalf("%v, %v", added, err)
		}
	}
	count := "select count(*) from read_parquet('" + dir + "/run/**/*.parquet')"
	if n := readers.Read(t, readers.DuckDB, count)[0][0].Text(0); n != "2" {
		t.Errorf("%s runs", n)
	}
	// Two tables of the second run were moved when it was interrupted.
	id, err := table.RunID(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run", "waits", "ranks"} {
		to := filepath.Join(dir, ".pending", id, name)
		if err := errors.Join(os.MkdirAll(to, 0o755), os.Rename(filepath.Join(dir, name, "run="+id), filepath.Join(to, "run="+id))); err != nil {
			t.Fatal(err)
		}
	}
	if added, err := Append(dir, whole(a)); err != nil || added {
		t.Fatalf("%v, %v", added, err)
	}
	if n := readers.Read(t, readers.DuckDB, count)[0][0].Text(0); n != "2" {
		t.Errorf("%s runs", n)
	}
	if left, err := os.ReadDir(filepath.Join(dir, ".pending")); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := Append("/proc", whole(a)); !errors.Is(err, ErrNotDataset) {
		t.Errorf("%v", err)
	}
}
