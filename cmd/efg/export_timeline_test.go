package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestExportTimelines(t *testing.T) {
	assembled(t, "traced")
	for _, format := range []string{"perfetto", "chrome", "paje"} {
		if _, errOut, status := efgRun(t, nil, "export", "a.efg", "-o", "all."+format); status != 0 || errOut != "" {
			t.Fatalf("%s: %d, %s", format, status, errOut)
		}
		_, errOut, status := efgRun(t, nil, "export", "a.efg", "-o", "few."+format, "--slices", "10")
		if status != 0 || !strings.HasPrefix(errOut, "efg: calls shorter than") {
			t.Errorf("%s: %d, %s", format, status, errOut)
		}
	}
	all, err := os.ReadFile("all.chrome")
	if err != nil || !json.Valid(all) {
		t.Errorf("%v, or not JSON", err)
	}
	few, err := os.ReadFile("few.chrome")
	if err != nil || !json.Valid(few) || len(few) >= len(all) {
		t.Errorf("%v, not JSON, or %d bytes, %d", err, len(few), len(all))
	}
}

func TestExportTimelineWithoutTimes(t *testing.T) {
	assembled(t, "farm")
	_, errOut, status := efgRun(t, nil, "export", "a.efg", "--format", "perfetto")
	if status != 2 || !strings.Contains(errOut, "the times of each call were not recorded") {
		t.Errorf("%d, %s", status, errOut)
	}
}
