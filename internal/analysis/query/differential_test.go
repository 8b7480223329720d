package query_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/query"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

func totals(t *testing.T, run *runfile.Run, text string) string {
	t.Helper()
	q, err := query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	table, err := q.Totals(run)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return string(table.AppendJSON(nil))
}

// lines runs a selection, and returns one line for each match.
func lines(t *testing.T, run *runfile.Run, text string) []string {
	t.Helper()
	q, err := query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	err = q.Select(run, false, func(m *query.Match) error {
		if m.IsMessages() {
			b = m.AppendMessages(b)
		} else {
			b = m.AppendJSON(b)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return strings.SplitAfter(string(b), "\n")[:bytes.Count(b, []byte("\n"))]
}

var (
	units = []string{
		"OPERATIONS", "POINT_TO_POINT_OPERATIONS", "SENDS", "RECEIVES", "COLLECTIVE_OPERATIONS", "MESSAGES", "BROADCAST", "GATHER",
		"REDUCE", "ALLREDUCE", "BARRIER", "ALLTOALLV", "WAIT", "MPI_Isend", "MPI_Start", "NonBlockingReceive", "ONE_SIDED", "FILE",
	}
	clauses = []string{
		"", "FOR PROCESS(1)", "FOR PROCESSES(0-1)", "AMONG PROCESSES(0,1)", "AMONG ALL PROCESSES", "BETWEEN PROCESS(0,1)",
		"BETWEEN PROCESS(0) AND ALL PROCESSES", "IN COMM(MPI_COMM_WORLD)", "FOR PROCESSES IN COMM(MPI_COMM_WORLD)",
		"WHERE SIZE > 64", "WHERE SIZE = 8 OR SIZE < 4", "AMONG ALL PROCESSES IN COMM(MPI_COMM_WORLD) WHERE NOT SIZE BETWEEN 1 AND 100",
		"WHERE TAG > 0 AND PEER != 1", "WHERE SENDER = 0 OR RECEIVER = 0", "WHERE CLASS = 'NonBlocking*' AND SITE != 'x.c:*'", "WHERE ERROR != ''",
	}
	groupings = []string{
		"RANK, OP", "SENDER, RECEIVER", "COMM, TAG", "CLASS, SIZE", "SITE, THREAD, ERROR", "PEER",
	}
)

// compareWithEvents checks that totals on the graph are those of the selected
// events, counted in two ways.
func compareWithEvents(t *testing.T, run *runfile.Run) {
	const columns = "SUM(SIZE), SUM(SENT), MIN(SIZE), MAX(SIZE), AVG(RECEIVED)"
	for i, u := range units {
		for j, c := range clauses {
			selected := lines(t, run, "SELECT "+u+" "+c)
			if got, want := totals(t, run, "SELECT COUNT("+u+") "+c), fmt.Sprintf("{\"count\":%d}\n", len(selected)); got != want {
				t.Errorf("%s %s: %s, want %s", u, c, got, want)
			}
			graph := fmt.Sprintf("SELECT COUNT(%s), %s %s", u, columns, c)
			events := graph + " WHERE SEQ >= 0"
			if strings.Contains(c, "WHERE") {
				events = strings.Replace(graph, "WHERE ", "WHERE (", 1) + ") AND SEQ >= 0"
			}
			group := " GROUP BY " + groupings[(i+j)%len(groupings)]
			if got, want := totals(t, run, graph+group), totals(t, run, events+group); got != want {
				t.Errorf("%s: on the graph\n%sof the events\n%s", graph+group, got, want)
			}
		}
	}
	for _, c := range clauses {
		if strings.Contains(c, "WHERE") {
			continue
		}
		got, want := totals(t, run, "SELECT M_FAN_IN, M_FAN_OUT "+c), totals(t, run, "SELECT M_FAN_IN, M_FAN_OUT "+c+" WHERE SEQ >= 0")
		if got != want {
			t.Errorf("M_FAN_IN, M_FAN_OUT %s:\n%swant\n%s", c, got, want)
		}
	}
	compareWithJSON(t, run)
}

// compareWithJSON counts what reconstructed events contain as JSON, without using this package.
func compareWithJSON(t *testing.T, run *runfile.Run) {
	t.Helper()
	ops, tags, sizes := map[string]int{}, map[string]int{}, map[string]int{}
	messages := 0
	testrun.EachEvent(t, run, func(p *reconstruct.Process, e *reconstruct.Event) {
		var line struct {
			Op   string
			Args map[string]any
		}
		if err := json.Unmarshal(e.AppendJSON(nil), &line); err != nil {
			t.Fatal(err)
		}
		ops[fmt.Sprint(e.Rank(), " ", line.Op)]++
		if line.Op != "MPI_Send" && line.Op != "MPI_Isend" || e.Failed() || line.Args["dest"] == "MPI_PROC_NULL" {
			return
		}
		size, ok := p.Names().TypeSize(e.Word(wordIndex(e, "datatype")))
		if !ok {
			t.Fatalf("no size: %s", e.AppendText(nil))
		}
		bytes := int(line.Args["count"].(float64)) * int(size)
		tags[fmt.Sprint(line.Args["tag"])]++
		sizes[fmt.Sprint(bytes)]++
		messages++
	})
	check := func(text string, key func(m map[string]any) string, want map[string]int) {
		t.Helper()
		found := 0
		for line := range strings.Lines(totals(t, run, text)) {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			if n := int(m["count"].(float64)); want[key(m)] != n {
				t.Errorf("%s: %v: %d, want %d", text, key(m), n, want[key(m)])
			}
			found++
		}
		if found != len(want) {
			t.Errorf("%s: %d lines, want %d", text, found, len(want))
		}
	}
	check("SELECT COUNT(*) GROUP BY RANK, OP", func(m map[string]any) string { return fmt.Sprint(m["rank"], " ", m["op"]) }, ops)
	plain := " WHERE OP IN (MPI_Send, MPI_Isend) "
	check("SELECT COUNT(MESSAGES)"+plain+"GROUP BY TAG", func(m map[string]any) string { return fmt.Sprint(m["tag"]) }, tags)
	check("SELECT COUNT(MESSAGES)"+plain+"GROUP BY SIZE", func(m map[string]any) string { return fmt.Sprint(int(m["size"].(float64))) }, sizes)
	if got, want := totals(t, run, "SELECT COUNT(MESSAGES)"+plain), fmt.Sprintf("{\"count\":%d}\n", messages); got != want {
		t.Errorf("%s messages, want %s", got, want)
	}
}

func wordIndex(e *reconstruct.Event, name string) int {
	for i, w := range e.Proc().Words {
		if w.Name == name {
			return i
		}
	}
	return -1
}

func TestSimulated(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 12, Steps: 23, Null: true},
		{Program: "farm", Ranks: 5, Steps: 40},
		{Program: "mesh", Ranks: 6, Steps: 30},
		{Program: "random", Ranks: 4, Steps: 60},
	} {
		t.Run(c.Program, func(t *testing.T) { compareWithEvents(t, testrun.Simulated(t, c)) })
	}
}

// recordings are programs of testdata with their number of ranks.
var recordings = []testrun.Program{
	{Source: "c/jacobi.c", Args: "10", MPI: "openmpi"}, {Source: "c/persistent.c", MPI: "openmpi"}, {Source: "c/pcoll.c", MPI: "openmpi"}, {Source: "c/partitioned.c", MPI: "openmpi"}, {Source: "c/coll.c", MPI: "openmpi"},
	{Source: "c/inter.c", MPI: "openmpi"}, {Source: "c/comms.c", MPI: "openmpi"}, {Source: "c/errors.c", MPI: "openmpi"}, {Source: "c/probes.c", MPI: "openmpi"}, {Source: "c/rma.c", MPI: "openmpi"},
	{Source: "c/growing.c", MPI: "openmpi"}, {Source: "c/threads.c", MPI: "openmpi"}, {Source: "c/spawn.c", Ranks: 2, MPI: "openmpi"},
}

func TestRecorded(t *testing.T) {
	testrun.Record(t, recordings, func(t *testing.T, r *testrun.Recording) { compareWithEvents(t, r.Run) })
}
