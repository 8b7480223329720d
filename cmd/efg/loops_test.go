package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// checkGolden compares what commands print with testdata/golden.
func checkGolden(t *testing.T, golden string, commands map[string]string) {
	t.Helper()
	for name, args := range commands {
		t.Run(name, func(t *testing.T) {
			out, errOut, status := efgRun(t, nil, strings.Fields(args)...)
			if status != 0 || errOut != "" {
				t.Fatalf("status %d: %s", status, errOut)
			}
			compareGolden(t, filepath.Join(golden, name+".txt"), out)
		})
	}
}

// checkMistakes runs command lines that make no sense: one clear line, status 2.
func checkMistakes(t *testing.T, mistakes map[string]string) {
	t.Helper()
	for args, want := range mistakes {
		out, errOut, status := efgRun(t, nil, strings.Fields(args)...)
		if out != "" || errOut != "efg: "+want+"\n" || status != 2 {
			t.Errorf("%s: status %d, output %q, errors %q; want %q", args, status, out, errOut, want)
		}
	}
}

func TestLoops(t *testing.T) {
	golden, err := filepath.Abs("testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 3, 20)
	sampleRun(t, "app.efg")
	checkGolden(t, golden, map[string]string{
		"loops":         "loops ring.efg",
		"loops-json":    "loops ring.efg --json --rank 1-2",
		"loops-untimed": "loops app.efg --top 1",
	})
	checkMistakes(t, map[string]string{
		"loops":                  "efg loops: accepts 1 arg(s), received 0",
		"loops none.efg":         "none.efg: no such file or directory",
		"loops app.efg --rank 7": "no rank 7: the run has ranks 0-2",
		"loops app.efg --top -1": "--top -1: want a number of groups, or 0 for all",
	})
}
