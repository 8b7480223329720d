package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func modules(t *testing.T) string {
	t.Helper()
	dir, err := findModules("..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func content(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range list {
		if files[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// The committed files are those made from the sources.
func TestDistFresh(t *testing.T) {
	out := filepath.Join(t.TempDir(), "dist")
	if err := build("..", modules(t), out); err != nil {
		t.Fatal(err)
	}
	want, got := content(t, out), content(t, "../dist")
	for name := range want {
		if !bytes.Equal(want[name], got[name]) {
			t.Errorf("internal/web/dist/%s is not what internal/web/src makes: run make web", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("internal/web/dist has %d files, want %d", len(got), len(want))
	}
}

// All licences of bundled code are included, and the lock file names no particular registry.
func TestLicences(t *testing.T) {
	text := string(content(t, "../dist")["LICENSES.txt"])
	for _, want := range []string{"---- preact ----", "---- uplot ----", "Jason Miller", "Leon Sorokin"} {
		if !strings.Contains(text, want) {
			t.Errorf("LICENSES.txt does not have %q", want)
		}
	}
	lock, err := os.ReadFile("../package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(lock), `"resolved"`) {
		t.Error("package-lock.json says where packages come from")
	}
}

// A missing or invalid file ends the build, and nothing is written.
func TestBuildFails(t *testing.T) {
	out := filepath.Join(t.TempDir(), "dist")
	if err := build("..", t.TempDir(), out); err == nil || !strings.Contains(err.Error(), "preact") {
		t.Errorf("without packages: %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("something was written")
	}
}
