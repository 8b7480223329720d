package main

import (
	"os"
	"strings"
	"testing"
)

// Schedules and traces replace others.
func TestExportGoal(t *testing.T) {
	assembled(t, "traced")
	for range 2 {
		for _, output := range []string{"a.goal", "a.liballprof"} {
			if _, errOut, status := efgRun(t, nil, "export", "a.efg", "-o", output); status != 0 {
				t.Fatalf("%s: %d, %s", output, status, errOut)
			}
		}
	}
	text, err := os.ReadFile("a.goal")
	if err != nil || !strings.HasPrefix(string(text), "num_ranks ") {
		t.Errorf("%v, %.100q", err, text)
	}
	if _, err := os.Stat("a.liballprof/trace-rank-0.txt"); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir("mine", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("mine/file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errOut, status := efgRun(t, nil, "export", "a.efg", "--format", "liballprof", "-o", "mine"); status != 2 {
		t.Errorf("%d, %s", status, errOut)
	}
}

// A run that cannot be simulated leaves nothing.
func TestExportUnsimulated(t *testing.T) {
	assembled(t, "fail")
	for _, output := range []string{"a.goal", "a.liballprof"} {
		_, errOut, status := efgRun(t, nil, "export", "a.efg", "-o", output)
		if want := "cannot be simulated"; status != 2 || !strings.Contains(errOut, want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%d, %q, want %q", status, errOut, want)
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
