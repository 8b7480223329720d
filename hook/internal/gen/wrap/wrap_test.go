package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/efg-tools/efg/hook/internal/slots"
)

const generated = "../../../shim/gen"

// The committed files are those generated from the tables.
func TestGeneratedFilesAreFresh(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(generated, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go run ./hook/gen/wrap hook/shim/gen", name)
		}
	}
	old, err := filepath.Glob(filepath.Join(generated, "wrappers*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		if files[filepath.Base(path)] == nil {
			t.Errorf("%s is not generated any more", path)
		}
	}
}

var tableRow = regexp.MustCompile(`(?m)^BK_WRAPPER\((\d+), [01], efg_(\w+)\)$`)

// Every entry point that the front exports has one wrapper.
func TestEverySlotHasOneWrapper(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	wrappers := map[string]int{}
	for _, text := range files {
		for _, m := range tableRow.FindAllSubmatch(text, -1) {
			wrappers[string(m[1])+" "+string(m[2])]++
		}
	}
	for _, s := range slots.All() {
		name := fmt.Sprint(s.ID, " ", s.Name)
		if wrappers[name] != 1 {
			t.Errorf("%s has %d wrappers", name, wrappers[name])
		}
		delete(wrappers, name)
	}
	for name := range wrappers {
		t.Errorf("%s has a wrapper but no slot", name)
	}
}
