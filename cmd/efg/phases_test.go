package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

func TestPhases(t *testing.T) {
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 3, 50)
	out, errOut, status := efgRun(t, nil, "phases", "ring.efg")
	if status != 0 || errOut != "" || !strings.Contains(out, "phases    6, of 3 kinds\n") || !strings.Contains(out, "  2       4  MPI_Allreduce main ring.c:16  MPI_Allreduce main ring.c:16") {
		t.Errorf("status %d, %q, %s", status, errOut, out)
	}
	out, errOut, status = efgRun(t, nil, "phases", "ring.efg", "--json", "--rank", "0,1")
	var j jsondoc.Phases
	if err := json.Unmarshal([]byte(out), &j); err != nil || status != 0 || errOut != "" {
		t.Fatalf("%v, status %d, %q", err, status, errOut)
	}
	if j.Schema != "efg-phases/1" || j.Ranks != 2 || j.Phases != 6 || len(j.Rows) != 3 || !j.Timed || j.Traced {
		t.Errorf("%+v", j)
	}
	for i, want := range []uint64{2 * 22, 2 * 4 * 21, 3} {
		if j.Rows[i].Calls != want {
			t.Errorf("row %d: %d calls, want %d", i, j.Rows[i].Calls, want)
		}
	}
}

func TestPhasesMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	checkMistakes(t, map[string]string{
		"phases none.efg":         "none.efg: no such file or directory",
		"phases app.efg --rank 7": "no rank 7: the run has ranks 0-2",
		"phases app.efg --top -1": "--top -1: want a number of rows, or 0 for all",
	})
}
