package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
)

func TestGraph(t *testing.T) {
	golden := goldenDir(t)
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
		"graph app.efg --collapse=-1":    "--collapse=-1: want a nesting depth of loops from 1, or 0 for none",
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

// A graph that is too large for a readable picture is drawn with its loops collapsed, and a
// line says so, unless --collapse is given.
func TestGraphCollapsesForPicture(t *testing.T) {
	t.Chdir(t.TempDir())
	denseRun(t, "wide.efg", sim.Config{Program: "random", Ranks: 16, Steps: 1000, Seed: 1})
	denseRun(t, "dense.efg", sim.Config{Program: "random", Ranks: 64, Steps: 3000, Seed: 1})
	const said = " are too many for a readable picture: the outermost loops are collapsed, which leaves 4 nodes; --collapse=0 draws all\n"
	for _, c := range []struct {
		args  string
		nodes int // 0: rejected
		says  string
	}{
		{"wide.efg --format svg", 4, "efg: 427 nodes and 998 edges" + said},
		{"wide.efg --format png", 4, "efg: 427 nodes and 998 edges" + said},
		{"dense.efg --format svg", 4, "efg: 514 nodes and 2987 edges" + said},
		{"wide.efg --format svg --collapse=0", 427, ""},
		{"wide.efg --format svg --collapse", 4, ""},
		{"dense.efg --format svg --collapse=0", 0, "efg: rank 0 of dense.efg: too large to be drawn: 514 boxes and 2987 edges, with 669222 points in 761 layers; draw less with --collapse, or write --format dot, json or graphml\n"},
		{"dense.efg --format dot", 514, ""},
	} {
		out, errOut, status := efgRun(t, nil, append([]string{"graph"}, strings.Fields(c.args)...)...)
		if errOut != c.says || (status == 0) != (c.nodes > 0) {
			t.Errorf("%s: status %d, says %q, want %q", c.args, status, errOut, c.says)
		}
		if n := strings.Count(out, "<g id="); strings.Contains(c.args, "svg") && n != c.nodes {
			t.Errorf("%s: %d nodes, want %d", c.args, n, c.nodes)
		}
	}
}

// denseRun writes the first rank of a simulated run.
func denseRun(t *testing.T, name string, c sim.Config) {
	t.Helper()
	p, err := c.Process(0)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := runfile.EncodeRun(&file, []*efg.Process{p}, runfile.Meta{}); err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, file.String())
}
