package query_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/query"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// The queries of the tables and the figure of the paper, and what they select.
func TestPaper(t *testing.T) {
	run := testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 8, Steps: 10, Grid: [3]int{4, 2, 1}})
	comm := commOf(t, run)
	// A rank of a 4 × 2 grid has two neighbours at a corner, else three. Two
	// collectives of the grid: one reduction, one barrier.
	for text, want := range map[string]int{
		// Table 1
		"SELECT SENDS FOR PROCESS(0)":                    20,
		"SELECT SENDS FOR PROCESSES(0-3)":                100,
		"SELECT SENDS FOR PROCESSES (0, 2, 5)":           20 + 30 + 30,
		"SELECT SENDS FOR PROCESSES IN COMM(C1)":         200,
		"SELECT SENDS FOR ALL PROCESSES IN COMM(C1)":     200,
		"SELECT SENDS FOR PROCESSES(0-1, 6) IN COMM(C1)": 60,
		// Table 2
		"SELECT POINT_TO_POINT_OPERATIONS FOR PROCESS(0)":                      40,
		"SELECT ALL SEND OPERATIONS":                                           200,
		"SELECT ALL SEND_OPERATIONS FOR PROCESS(0)":                            20,
		"SELECT RECEIVES FOR PROCESS(2)":                                       30,
		"SELECT POINT_TO_POINT_OPERATIONS FOR PROCESS(0) WHERE SIZE < 4800":    20,
		"SELECT POINT_TO_POINT_OPERATIONS FOR PROCESS(0) WHERE SIZE = 4800":    20,
		"SELECT POINT_TO_POINT_OPERATIONS FOR PROCESS(0) WHERE SIZE > 3840":    20,
		"SELECT POINT_TO_POINT_OPERATIONS FOR PROCESS(0) WHERE SIZE > 3.75KiB": 20,
		// Table 3
		"SELECT COLLECTIVE_OPERATIONS FOR PROCESS(3)":                   2,
		"SELECT COLLECTIVE_OPERATIONS FOR ALL PROCESSES IN COMM(C1)":    16,
		"SELECT BARRIER FOR ALL PROCESSES IN COMM(C1)":                  8,
		"SELECT COLLECTIVE_OPERATIONS FOR PROCESS(3) WHERE SIZE > 0":    1,
		"SELECT COLLECTIVE_OPERATIONS AMONG PROCESS(0-3)":               0,
		"SELECT COLLECTIVE_OPERATIONS BETWEEN PROCESS(0-7) IN COMM(C1)": 16,
		// Table 4
		"SELECT ALL MESSAGES":                                      200,
		"SELECT ALL MESSAGES AMONG PROCESSES(0-3)":                 80,
		"SELECT ALL MESSAGES AMONG PROCESSES(0-3) WHERE SIZE<4800": 40,
		"SELECT MESSAGES FOR PROCESS(0)":                           40,
		"SELECT MESSAGES BETWEEN PROCESS(0,1) AND PROCESS(2-7)":    40,
		// Figure 4
		"SELECT ALL MESSAGES IN COMM(C1)":                                           200,
		"SELECT ALL MESSAGES BETWEEN PROCESS(1,3) IN COMM(C1)":                      20,
		"SELECT POINT_TO_POINT_OPERATIONS BETWEEN PROCESS(1,3) IN COMM(C1)":         40,
		"SELECT COLLECTIVE_OPERATIONS AMONG ALL PROCESSES IN COMM(C1)":              16,
		"SELECT BROADCAST FOR PROCESS(1) IN COMM(C1)":                               0,
		"select allreduce for process(1) in communicator(C1) where op = 'MPI_All*'": 1,
	} {
		text = strings.ReplaceAll(text, "(C1)", "("+comm+")")
		if got := len(lines(t, run, text)); got != want {
			t.Errorf("%s: %d lines, want %d", text, got, want)
		}
	}
	if got := lines(t, run, "SELECT ALL MESSAGES LIMIT 7"); len(got) != 7 {
		t.Errorf("%d of 7", len(got))
	}
}

// commOf is the name of the communicator of the first message.
func commOf(t *testing.T, run *runfile.Run) string {
	t.Helper()
	line := lines(t, run, "SELECT MESSAGES LIMIT 1")[0]
	_, after, _ := strings.Cut(line, `"comm":"`)
	name, _, _ := strings.Cut(after, `"`)
	return name
}

// Conditions on times select the calls that reconstruction shows at these times.
func TestTimes(t *testing.T) {
	run := testrun.Traced(t, sim.Config{Program: "farm", Ranks: 3, Steps: 20})
	for text, want := range map[string]func(seq uint64, start, end int64) bool{
		"BETWEEN TIME 0ns AND 9.5us":             func(_ uint64, start, end int64) bool { return end <= 9500 },
		"BETWEEN TIME 10us AND TIME 19us":        func(_ uint64, start, end int64) bool { return start >= 10000 && end <= 19000 },
		"BETWEEN TIME 5us - 5us":                 func(uint64, int64, int64) bool { return false },
		"WHERE START >= 2us AND END < 4400ns":    func(_ uint64, start, end int64) bool { return start >= 2000 && end < 4400 },
		"WHERE DURATION > 400ns":                 func(_ uint64, start, end int64) bool { return end-start > 400 },
		"WHERE SEQ IN (1, 3) OR START < -1ns":    func(seq uint64, _, _ int64) bool { return seq == 1 || seq == 3 },
		"WHERE NOT START BETWEEN 1us AND 0.02ms": func(_ uint64, start, _ int64) bool { return start < 1000 || start > 20000 },
	} {
		n, sum := 0, int64(0)
		testrun.EachEvent(t, run, func(_ *reconstruct.Process, e *reconstruct.Event) {
			start, end, ok := e.Times()
			if !ok {
				t.Fatal("no times")
			}
			if want(e.Seq, start, end) {
				n++
				sum += end - start
			}
		})
		if got, want := totals(t, run, "SELECT COUNT(*), SUM(TIME) "+text), fmt.Sprintf("{\"count\":%d,\"sum_time\":%d}\n", n, sum); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if got := len(lines(t, run, "SELECT OPERATIONS "+text)); got != n {
			t.Errorf("%s: %d lines, want %d", text, got, n)
		}
	}
}

// Times of whole nodes are summed; those of parts of nodes are rejected.
func TestNodeTimes(t *testing.T) {
	run := testrun.Simulated(t, sim.Config{Program: "mesh", Ranks: 3, Steps: 30, Stats: true})
	want := map[string]uint64{}
	for i := range run.Procs {
		p, err := run.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range p.Streams[0].Nodes {
			if n.Stats != nil {
				want["all"] += n.Stats.Dur.Sum
			}
		}
	}
	if got := totals(t, run, "SELECT SUM(TIME)"); got != fmt.Sprintf("{\"sum_time\":%d}\n", want["all"]) {
		t.Errorf("%s, want %d", got, want["all"])
	}
	q, err := query.Parse("SELECT COUNT, SUM(TIME) WHERE SIZE > 2000")
	if err != nil {
		t.Fatal(err)
	}
	var wrong *query.Error
	if _, err := q.Totals(run); !errors.As(err, &wrong) || wrong.At != 14 {
		t.Errorf("a part of a node: %v", err)
	}
}

// Recorded times of single calls show more than those of nodes.
func TestTracedTotals(t *testing.T) {
	for _, stats := range []bool{false, true} {
		run := testrun.Traced(t, sim.Config{Program: "mesh", Ranks: 3, Steps: 30, Stats: stats})
		sum := int64(0)
		testrun.EachEvent(t, run, func(_ *reconstruct.Process, e *reconstruct.Event) {
			if start, end, _ := e.Times(); e.Op() == "MPI_Isend" && e.Word(wordIndex(e, "count"))*8 > 2000 {
				sum += end - start
			}
		})
		if got, want := totals(t, run, "SELECT SUM(TIME) OF SENDS WHERE SIZE > 2000"), fmt.Sprintf("{\"sum_time\":%d}\n", sum); got != want || sum == 0 {
			t.Errorf("%s, want %s", got, want)
		}
		if got := totals(t, run, "SELECT SUM(TIME), COUNT"); strings.Contains(got, ":0,") {
			t.Errorf("stats %v: %s", stats, got)
		}
	}
}

func TestTopology(t *testing.T) {
	for _, c := range []struct {
		config sim.Config
		text   string
		want   string
	}{
		{sim.Config{Program: "halo", Ranks: 24, Steps: 3}, "", "3-D grid, 4 × 3 × 2"},
		{sim.Config{Program: "halo", Ranks: 60, Steps: 3, Grid: [3]int{5, 3, 4}, Periodic: true}, "FOR PROCESS(7)", "3-D torus, 5 × 3 × 4"},
		{sim.Config{Program: "halo", Ranks: 12, Steps: 3, Grid: [3]int{12, 1, 1}, Periodic: true}, "WHERE PEER != RANKLESS", ""},
		{sim.Config{Program: "halo", Ranks: 12, Steps: 3, Grid: [3]int{4, 3, 1}}, "WHERE TAG IN (0, 1)", "3 times: line of 4"},
		{sim.Config{Program: "farm", Ranks: 6, Steps: 50}, "", "star of 6 around rank 0"},
	} {
		q, err := query.Parse("SELECT TOPOLOGY " + c.text)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s is no error", c.text)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.Topology(testrun.Simulated(t, c.config))
		if err != nil || got.String() != c.want {
			t.Errorf("%+v: %v, %v; want %s", c.config, got, err, c.want)
		}
		if c.text == "FOR PROCESS(7)" && len(got.Table.Rows) != 1 {
			t.Errorf("%d rows", len(got.Table.Rows))
		}
	}
}

// Invalid queries: what is wrong, and where (the caret is under ^).
func TestMistakes(t *testing.T) {
	run := testrun.Simulated(t, sim.Config{Program: "farm", Ranks: 3, Steps: 20})
	for _, c := range [][3]string{
		{"", "^", `want SELECT, not the end`},
		{"FROM x", "^", `want SELECT, not "FROM"`},
		{"SELECT", "      ^", `want what to select`},
		{"SELECT SENDZ", "       ^", `want what to select, as OPERATIONS, SENDS, BROADCAST, MESSAGES or MPI_Isend, not "SENDZ"`},
		{"SELECT SENDS FOR 3", "                 ^", `want PROCESS(…) or ALL PROCESSES, not "3"`},
		{"SELECT SENDS FOR PROCESS(5-2)", "                         ^", `5-2: the first rank is above the last`},
		{"SELECT SENDS FOR PROCESS(1,9)", "                           ^", `no rank 9 was recorded`},
		{"SELECT SENDS FOR PROCESS(x)", "                         ^", `want a rank, not "x"`},
		{"SELECT SENDS FOR PROCESS(0) AMONG ALL PROCESSES", "                            ^", `the processes are given twice`},
		{"SELECT SENDS IN COMM(C1)", "                     ^", `"C1" is no communicator`},
		{"SELECT SENDS IN COMM(comm:123456)", "                     ^", `no process has a communicator comm:123456`},
		{"SELECT SENDS WHERE SIZE", "                       ^", `want a comparison`},
		{"SELECT SENDS WHERE SIZE > x", "                          ^", `want a number, not "x"`},
		{"SELECT SENDS WHERE SIZE > 4 furlongs", "                            ^", `want FOR, AMONG`},
		{"SELECT SENDS WHERE SIZE > 4furlongs", "                          ^", `4furlongs is no number of size`},
		{"SELECT SENDS WHERE WEIGHT > 4", "                   ^", `want a field to compare (SIZE, SENT,`},
		{"SELECT SENDS WHERE OP < MPI_Send", "                      ^", `OP is a text: want =, !=, ~, !~ or IN`},
		{"SELECT SENDS WHERE (SIZE > 4", "                            ^", `want ), not the end`},
		{"SELECT SENDS WHERE OP = 'x", "                        ^", `the quote is not closed`},
		{"SELECT SENDS WHERE START > 4", "                           ^", `4 has no unit: want ns, us, ms, s or min`},
		{"SELECT SENDS WHERE START > 4s", "                   ^", `the times of individual calls were not recorded`},
		{"SELECT SENDS\nBETWEEN TIME 1s\n AND 2s", "^", `the times of individual calls were not recorded`},
		{"SELECT SENDS BETWEEN TIME 2s AND 1s", "                                 ^", `the window ends before it begins`},
		{"SELECT SENDS GROUP BY OP", "             ^", `GROUP BY is for totals`},
		{"SELECT COUNT(SENDS) LIMIT 4", "                    ^", `LIMIT applies to selections only`},
		{"SELECT COUNT(SENDS), COUNT(WAITS)", "                           ^", `an earlier COUNT is given already: want *`},
		{"SELECT SUM(OP)", "           ^", `want a field to sum up (SIZE, SENT, RECEIVED, TIME), not "OP"`},
		{"SELECT SUM(TIME) OF SENDS", "       ^", `times were not recorded`},
		{"SELECT SENDS ; DROP", "             ^", `';' has no meaning here`},
		{"SELECT SENDS WHERE " + strings.Repeat("(", 200), "", `more than 100 nested brackets and NOTs`},
	} {
		err := ask(run, c[0])
		var wrong *query.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		text := strings.Split(err.Error(), "\n")
		if !strings.HasPrefix(text[0], c[2]) || len(text) != 3 || c[1] != "" && text[2] != "  "+c[1] {
			t.Errorf("%s:\n%v\nwant %s\n  %s", c[0], err, c[2], c[1])
		}
	}
}

// ask answers a query, of whatever kind.
func ask(run *runfile.Run, text string) error {
	q, err := query.Parse(text)
	if err != nil {
		return err
	}
	switch {
	case q.IsTopology():
		_, err = q.Topology(run)
	case q.IsTotal():
		_, err = q.Totals(run)
	default:
		err = q.Select(run, false, func(m *query.Match) error {
			m.AppendMessages(nil)
			m.AppendMessagesText(nil)
			return nil
		})
	}
	return err
}

// FuzzQuery asks arbitrary queries: errors are about the query, and their position is inside
// it.
func FuzzQuery(f *testing.F) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "query.md"))
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if i := strings.Index(line, "SELECT"); i >= 0 {
			text, _, _ := strings.Cut(line[i:], "'")
			f.Add(strings.TrimSpace(text))
		}
	}
	run := testrun.Simulated(f, sim.Config{Program: "farm", Ranks: 3, Steps: 6})
	f.Fuzz(func(t *testing.T, text string) {
		err := ask(run, text)
		var wrong *query.Error
		if err != nil && (!errors.As(err, &wrong) || wrong.At > len(text) || len(wrong.Text) == 0) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
