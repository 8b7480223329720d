package runfile

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/efg/mix"
)

var updateExamples = flag.Bool("examples", false, "write examples.bin anew: files that were written with other examples cannot be read any more")

// The examples are the graphs and definitions of the recordings in testdata/examples.
func TestExamples(t *testing.T) {
	paths, err := filepath.Glob("testdata/examples/*.efg")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	var groups []eventGroup
	for _, path := range paths {
		r, err := OpenRun(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for n := range r.groups {
			p, err := r.group(n)
			if err != nil {
				t.Fatal(err)
			}
			groups = append(groups, eventGroup{readGroup: p})
		}
	}
	var b eventStart
	c := mix.NewEncoder(eventTable)
	e := b.common(c)
	if err := e.groups(groups); err != nil {
		t.Fatal(err)
	}
	code := c.Finish()
	if *updateExamples {
		if err := os.WriteFile("examples.bin", code, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(code, examples) {
		t.Error("examples.bin is not the code of testdata/examples; other examples are a new version of event blocks")
	}
}
