package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/efg-tools/efg/document"
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
	var r document.Check
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
	for args, want := range map[string]string{
		"check none.efg":         "none.efg: no such file or directory",
		"check app.efg --top -1": "--top -1: want a number of findings, or 0 for all",
		"check":                  "efg check: accepts 1 arg(s), received 0",
	} {
		out, errOut, status := efgRun(t, nil, strings.Fields(args)...)
		if out != "" || errOut != "efg: "+want+"\n" || status != 2 {
			t.Errorf("%s: status %d, output %q, errors %q; want %q", args, status, out, errOut, want)
		}
	}
}
