package main

import (
	"encoding/json"
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

func TestWaits(t *testing.T) {
	golden := goldenDir(t)
	assembled(t, "traced")
	checkGolden(t, golden, map[string]string{
		"waits": "waits a.efg", "waits-rank": "waits a.efg --rank 0,2 --top 1", "waits-json": "waits a.efg --json",
	})
	out, _, _ := efgRun(t, nil, "waits", "a.efg", "--json")
	var j jsondoc.Waits
	if err := json.Unmarshal([]byte(out), &j); err != nil {
		t.Fatal(err)
	}
	rows, states := int64(0), int64(0)
	for _, r := range j.Rows {
		rows += r.Time
	}
	for _, s := range j.States {
		states += s.Time
	}
	if j.Schema != "efg-waits/1" || rows == 0 || rows != states || rows != j.Waiting+j.SetupWaiting || j.Matched.Calls != 34 || j.Matched.Messages != 14 {
		t.Errorf("rows %d ns, states %d, %+v", rows, states, j)
	}
}

func TestWaitsMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	checkMistakes(t, map[string]string{
		"waits none.efg":         "none.efg: no such file or directory",
		"waits app.efg":          "app.efg: the times of each call were not recorded (efg run --time trace records them)",
		"waits app.efg --rank 7": "no rank 7: the run has ranks 0-2",
		"waits app.efg --top -1": "--top -1: want a number of rows, or 0 for all",
	})
}
