package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// Segments that cannot be used: said, and never a reason to lose the others.
func TestCollectDamagedSegments(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "x.efg")
	var errOut strings.Builder
	if r, err := collect(dir, out, efg.Meta{}, &errOut); r != nil || err != nil {
		t.Errorf("empty folder: %v, %v", r, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "h.1.0.seg"), []byte("no segment"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := collect(dir, out, efg.Meta{}, &errOut); r != nil || err == nil {
		t.Errorf("damaged segment: %v, %v", r, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("wrote a file")
	}
	err := keepRecording(dir, runOptions{output: out}, efg.Meta{}, &errOut)
	if err == nil || !strings.Contains(err.Error(), "the recording stays in "+dir) {
		t.Errorf("error %v", err)
	}
}
