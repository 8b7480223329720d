package runfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
)

// Files written by earlier versions, of format 2 and of format 3 without event blocks, still
// have their content.
func TestOldFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/old/*.efg")
	if len(paths) == 0 {
		t.Fatal(err)
	}
	for _, path := range paths {
		r, err := runfile.OpenRun(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := runfile.Validate(r); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		var got bytes.Buffer
		if err := text.Dump(&got, r); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("../text/testdata", strings.TrimSuffix(filepath.Base(path), ".efg")+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s reads as another text", path)
		}
	}
}
