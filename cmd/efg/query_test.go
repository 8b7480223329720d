package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestQueries compares what efg query prints with testdata/golden.
func TestQueries(t *testing.T) {
	golden, err := filepath.Abs("testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
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
		t.Run(name, func(t *testing.T) {
			out, errOut, status := efgRun(t, nil, append([]string{"query", "ring.efg"}, args...)...)
			if status != 0 || errOut != "" {
				t.Fatalf("status %d: %s", status, errOut)
			}
			file := filepath.Join(golden, name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if out != string(want) {
				t.Errorf("%s prints\n%s\nwant\n%s", args, out, want)
			}
		})
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
		out, errOut, status := efgRun(t, nil, c.args...)
		if out != "" || errOut != "efg: "+c.want+"\n" || status != 2 {
			t.Errorf("%s: status %d, output %q, errors %q; want %q", c.args, status, out, errOut, c.want)
		}
	}
}
