package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

// Stores within a directory are read, a launch counts once, and what cannot be read is named.
func TestFleet(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	assembled(t, "traced")
	data, err := os.ReadFile("a.efg")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"all/alice", "all/notes"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, dir+"/run.efg", string(data))
	}
	writeFile(t, "all/alice/.index", "")
	writeFile(t, "all/same.efg", string(data))
	writeFile(t, "all/cut.efg", string(data[:len(data)/2]))
	out, errOut, status := efgRun(t, nil, "fleet", "all", "--json")
	var doc jsondoc.Fleet
	if err := json.Unmarshal([]byte(out), &doc); err != nil || status != 0 || errOut != "" {
		t.Fatal(err, status, errOut)
	}
	if doc.Schema != "efg-fleet/1" || doc.Runs != 1 || len(doc.Unread) != 1 || doc.Unread[0].File != "all/cut.efg" || len(doc.Programs) != 1 {
		t.Errorf("%s", out)
	}
	var report jsondoc.Report
	text, _, _ := efgRun(t, nil, "report", "a.efg", "--json")
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	if again, _, _ := efgRun(t, nil, "fleet", "all", "--json"); again != out {
		t.Errorf("from what was kept:\n%swant\n%s", again, out)
	}
	if p := &doc.Programs[0]; p.Matched != 1 || p.Elapsed == 0 || p.Waiting == nil || p.Ranks != len(report.Ranks) && report.Ranks != nil {
		t.Errorf("%+v", p)
	}
	out, errOut, status = efgRun(t, nil, "fleet", "all")
	if status != 0 || !strings.HasPrefix(errOut, "efg: left out: all/cut.efg: ") || strings.Count(errOut, "\n") != 1 || !strings.HasPrefix(out, "1 run of 1 program\n") {
		t.Errorf("%d, %s%s", status, errOut, out)
	}
	if out, _, status := efgRun(t, nil, "fleet", "a.efg", "--csv=users"); status != 0 || !strings.HasPrefix(out, "name,runs,timed,matched,ranks,elapsed,mpi,waiting,lost\n") {
		t.Errorf("%d, %s", status, out)
	}
	for args, want := range map[string]string{"fleet all/notes/x": "no such file", "fleet all/cut.efg": "all/cut.efg: "} {
		if _, errOut, status := efgRun(t, nil, strings.Fields(args)...); status != 2 || !strings.Contains(errOut, want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: %d, %s", args, status, errOut)
		}
	}
}
