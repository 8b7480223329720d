package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
)

func TestSeparateWorlds(t *testing.T) {
	p := func(world uint64, rank, size int, start int64) *efg.Process {
		return &efg.Process{World: world, Rank: rank, Size: size, Start: start}
	}
	// Two runs of two processes under one name, a run under another, and a
	// process of unknown rank.
	l := []*efg.Process{p(0, 0, 2, 30), p(0, 1, 2, 11), p(0, 0, 2, 10), p(0, 1, 2, 29), p(5, 0, 2, 12), p(0, -1, 0, 1), p(0, -1, 0, 2)}
	separateWorlds(l)
	if l[1].World != 0 || l[2].World != 0 || l[4].World != 5 || l[5].World != 0 || l[6].World != 0 {
		t.Errorf("first worlds were renamed: %+v", l)
	}
	if l[0].World == 0 || l[0].World != l[3].World {
		t.Errorf("second world: %#x, %#x", l[0].World, l[3].World)
	}
}

// Segments that cannot be used: said, and never a reason to lose the others.
func TestCollectDamagedSegments(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "x.efg")
	var errOut strings.Builder
	if n, err := collect(dir, out, efg.Meta{}, &errOut); n != 0 || err != nil {
		t.Errorf("empty folder: %d, %v", n, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "h.1.0.seg"), []byte("no segment"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := collect(dir, out, efg.Meta{}, &errOut); n != 0 || err == nil {
		t.Errorf("damaged segment: %d, %v", n, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("wrote a file")
	}
	err := keepRecording(dir, runOptions{output: out}, efg.Meta{}, &errOut)
	if err == nil || !strings.Contains(err.Error(), "the recording stays in "+dir) {
		t.Errorf("error %v", err)
	}
}
