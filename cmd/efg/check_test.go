package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/check"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// A run without faults, one whose last rank was killed, and one in which messages
// are lost.
func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 3, 20)
	sampleRun(t, "app.efg")
	out, errOut, status := efgRun(t, nil, "check", "ring.efg")
	if status != 0 || errOut != "" || !strings.HasSuffix(out, "found     nothing\n") {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
	out, errOut, status = efgRun(t, nil, "check", "app.efg", "--json")
	var r jsondoc.Check
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if status != 1 || errOut != "" || r.Schema != "efg-check/1" || r.Faults == 0 || r.Faults > len(r.Findings) {
		t.Errorf("status %d, %q, %s", status, errOut, out)
	}
	if len(r.Incomplete) != 1 || r.Incomplete[0] != 2 || len(r.Missing) != 1 || r.Missing[0] != 3 || r.Unjudged == 0 {
		t.Errorf("incomplete %v, missing %v, %d unjudged", r.Incomplete, r.Missing, r.Unjudged)
	}
	for _, f := range r.Findings {
		if f.Op == "" || f.Site == "" || f.Text == "" || len(f.Ranks) == 0 {
			t.Errorf("%+v", f)
		}
	}
}

func TestCheckMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	checkMistakes(t, map[string]string{
		"check none.efg":         "none.efg: no such file or directory",
		"check app.efg --top -1": "--top -1: want a number of findings, or 0 for all",
		"check":                  "efg check: accepts 1 arg(s), received 0",
	})
}

// Times that were not compared are reported with the reason.
func TestUncompared(t *testing.T) {
	r := &check.Report{Uncompared: []check.Uncompared{
		{Rank: 0, Event: 7, Calls: 1000, Text: "too far"}, {Rank: 0, Thread: 1, Event: 9, Calls: 234, Text: "too far"},
		{Rank: 3, Event: 5, Calls: 1, Text: "too many"}, {Rank: 1, Event: 7, Calls: 0, Text: "too far"},
	}}
	var text strings.Builder
	writeCheck(&text, "x.efg", r, 20)
	for _, want := range []string{
		"times     of 1,234 calls on ranks 0-1 were not compared: too far\n", "times     of 1 call on rank 3 were not compared: too many\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q lacks %q", text.String(), want)
		}
	}
	j := jsondoc.NewCheck("x.efg", r)
	if len(j.Uncompared) != 4 || j.Uncompared[1] != (jsondoc.Stretch{Rank: 0, Thread: 1, Event: 9, Calls: 234, Text: "too far"}) {
		t.Errorf("%+v", j.Uncompared)
	}
}
