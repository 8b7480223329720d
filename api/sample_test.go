package api

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/bench/sim"
)

const testToken = "the-token-of-the-tests"

// sampleFiles are two simulated runs: "halo" of 8 ranks, "mesh" of 27.
func sampleFiles(t testing.TB) *Files {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for _, c := range []sim.Config{{Program: "halo", Ranks: 8, Steps: 10, Seed: 1, Stats: true}, {Program: "mesh", Ranks: 27, Steps: 8, Seed: 1}} {
		node := filepath.Join(dir, c.Program+".d")
		if err := os.Mkdir(node, 0o700); err != nil {
			t.Fatal(err)
		}
		list, err := c.WriteNodes(node, 1)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		path := filepath.Join(dir, c.Program+".efg")
		if err := os.Rename(list[0], path); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	f, err := NewFiles(paths, paths)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
