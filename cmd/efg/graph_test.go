package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGraph(t *testing.T) {
	golden, err := filepath.Abs("testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 3, 20)
	sampleRun(t, "app.efg")
	checkGolden(t, golden, map[string]string{
		"graph-collapse": "graph ring.efg --collapse=2 --colour time",
		"graph-json":     "graph ring.efg --format json --collapse",
		"graph-graphml":  "graph ring.efg --format graphml --rank 1",
		"graph-svg":      "graph ring.efg --format svg --colour bytes",
	})
	checkMistakes(t, map[string]string{
		"graph app.efg --format gif":     "--format gif: want " + wantFormats,
		"graph app.efg -o x.gif":         "--format gif: want " + wantFormats,
		"graph app.efg --colour red":     "--colour red: want time, calls or bytes",
		"graph app.efg --colour time":    "--colour time: app.efg has no times; efg run --time stats records them",
		"graph app.efg --collapse=-1":    "--collapse=-1: want a depth of loops, from 1",
		"graph app.efg --thread -1":      "--thread -1: want one thread",
		"graph app.efg --rank 0,2 -o x.": "--rank 0,2: want one rank",
	})
	if _, err := os.Stat("x.gif"); err == nil {
		t.Error("a mistake leaves a file")
	}
	want, _, _ := efgRun(t, nil, "graph", "app.efg", "--rank", "2")
	out, errOut, status := efgRun(t, nil, "graph", "app.efg", "--rank", "2", "-o", "x.dot")
	got, err := os.ReadFile("x.dot")
	if err != nil || status != 0 || out+errOut != "" || string(got) != want {
		t.Errorf("%v, status %d, %q: %s", err, status, out+errOut, got)
	}
}
