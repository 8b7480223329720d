package main

import (
	"os"
	"strings"
	"testing"
)

// Traces replace others.
func TestExportSimGrid(t *testing.T) {
	assembled(t, "traced")
	for range 2 {
		if _, errOut, status := efgRun(t, nil, "export", "a.efg", "-o", "a.simgrid"); status != 0 {
			t.Fatalf("%d, %s", status, errOut)
		}
	}
	list, err := os.ReadFile("a.simgrid/traces.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(list)) {
		if _, err := os.Stat("a.simgrid/" + strings.TrimSpace(name)); err != nil {
			t.Error(err)
		}
	}
}

// A run that cannot be simulated leaves nothing.
func TestExportUnsuitable(t *testing.T) {
	assembled(t, "fail")
	_, errOut, status := efgRun(t, nil, "export", "a.efg", "-o", "a.simgrid")
	if want := "cannot be simulated"; status != 2 || !strings.Contains(errOut, want) || strings.Count(errOut, "\n") != 1 {
		t.Errorf("%d, %q, want %q", status, errOut, want)
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
