package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/daemon"
)

// addPart makes a machine's part of a launch, from one rank's segment, as its daemon would.
func addPart(t *testing.T, dir, node, seg string) {
	t.Helper()
	file := filepath.Join(dir, "part-"+node+".efg")
	if _, errOut, status := efgRun(t, nil, "merge", seg, "-o", file); status != 0 {
		t.Fatal(errOut)
	}
	run, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	p := &run.Procs[0]
	x := daemon.Summarize("", run)
	x.Node, x.Worlds = node, []daemon.World{{ID: p.World, Size: p.Size, Ranks: [][2]int{{p.InWorld(), p.InWorld()}}}}
	data, err := json.Marshal(x)
	if err == nil {
		err = os.WriteFile(strings.TrimSuffix(file, ".efg")+".json", data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A launch whose parts are not merged is listed, cannot be read, and can be merged, into a file
// or into the store.
func TestRunInParts(t *testing.T) {
	m, store, parts := mpis[0], t.TempDir(), t.TempDir()
	t.Setenv("EFG_STORE", store)
	program := compileMPI(t, m, "children.c")
	if _, errOut, status := runIn(t, parts, append(slices.Clone(m.launcher), program, "well")...); status != 0 {
		t.Fatal(errOut)
	}
	segments, err := filepath.Glob(filepath.Join(parts, "*.seg"))
	if err != nil || len(segments) != 2 {
		t.Fatalf("%v, %v", segments, err)
	}
	const name = "20260101-000000-children"
	dir := filepath.Join(store, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	addPart(t, dir, "n1", segments[0])
	if err := os.WriteFile(filepath.Join(dir, "part-n2.sealing"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const there = "in parts, 1 of 2 ranks, 1 part being written"
	if out, _, status := efgRun(t, nil, "runs"); status != 0 || !strings.Contains(out, there) {
		t.Errorf("status %d: %s", status, out)
	}
	if _, errOut, status := efgRun(t, nil, "info", "last"); status != 2 || errOut != "efg: last: is "+there+"; efg merge "+name+" joins them\n" {
		t.Errorf("status %d: %s", status, errOut)
	}
	elsewhere := filepath.Join(t.TempDir(), "one.efg")
	if out, errOut, status := efgRun(t, nil, "merge", "last", "-o", elsewhere); status != 0 || out != elsewhere+": 1 processes, from 1 files\n" {
		t.Errorf("status %d: %s%s", status, out, errOut)
	}
	addPart(t, dir, "n2", segments[1])
	if err := os.Remove(filepath.Join(dir, "part-n2.sealing")); err != nil {
		t.Fatal(err)
	}
	if out, errOut, status := efgRun(t, nil, "merge", "last"); status != 0 || out != name+": 2 of 2 ranks, from 2 parts\n" {
		t.Errorf("status %d: %s%s", status, out, errOut)
	}
	if out, errOut, status := efgRun(t, nil, "reconstruct", "last", "--verify"); status != 0 || !strings.Contains(out, " events of 2 streams are as recorded") {
		t.Errorf("status %d: %s%s", status, out, errOut)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the parts are left: %v", err)
	}
	if _, errOut, status := efgRun(t, nil, "merge", "last"); status != 2 || errOut != "efg: "+name+": is not in parts\n" {
		t.Errorf("status %d: %s", status, errOut)
	}
}
