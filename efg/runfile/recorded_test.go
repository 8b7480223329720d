package runfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
)

// The independent reader also reads recordings of programs, which package text keeps as text.
func TestIndependentReaderOfRecordedPrograms(t *testing.T) {
	paths, err := filepath.Glob("../text/testdata/*.txt")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%v: %v", paths, err)
	}
	for _, path := range paths {
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		f, err := text.Parse(path, in)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := runfile.EncodeRun(&b, f.Procs, f.Meta); err != nil {
			t.Fatal(err)
		}
		if runfile.Shown(t, b.Bytes()) != runfile.Independently(t, b.Bytes()) {
			t.Errorf("%s: the readers differ", path)
		}
	}
}
