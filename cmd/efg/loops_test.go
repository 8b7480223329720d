package main

import (
	"testing"
)

func TestLoops(t *testing.T) {
	golden := goldenDir(t)
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
