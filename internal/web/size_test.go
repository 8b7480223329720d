package web_test

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"path"
	"testing"

	"github.com/efg-tools/efg/internal/web"
)

// most bounds the compressed sizes of files in bytes, and mostScripts those of all scripts.
var most = map[string]int{"app.js": 100_000, "app.css": 10_000}

const mostScripts = 180_000

// There are no scripts beside those that are bounded, and no compiled code.
func TestScripts(t *testing.T) {
	sum := 0
	err := fs.WalkDir(web.Files(), ".", func(name string, _ fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path.Ext(name) == ".wasm":
			t.Errorf("%s is compiled code", name)
		case path.Ext(name) == ".js":
			sum += compressed(t, name)
		}
		return nil
	})
	if err != nil || sum == 0 || sum > mostScripts {
		t.Errorf("all scripts: %d bytes compressed, want at most %d; %v", sum, mostScripts, err)
	}
}

// compressed is the compressed size of a file.
func compressed(t *testing.T, name string) int {
	t.Helper()
	data, err := fs.ReadFile(web.Files(), name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

func TestSize(t *testing.T) {
	for name, limit := range most {
		n := compressed(t, name)
		if t.Logf("%s: %d bytes compressed", name, n); n > limit {
			t.Errorf("%s: %d bytes compressed, want at most %d", name, n, limit)
		}
	}
}
