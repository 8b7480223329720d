package web_test

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"testing"

	"github.com/efg-tools/efg/internal/web"
)

// most bounds the compressed sizes of files in bytes: what each view needs, and Graphviz as
// WebAssembly, which only the view of the graph loads, in a worker.
var most = map[string]int{"app.js": 180_000, "app.css": 10_000, "layout.js": 520_000}

func TestSize(t *testing.T) {
	for name, limit := range most {
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
		if t.Logf("%s: %d bytes compressed", name, b.Len()); b.Len() > limit {
			t.Errorf("%s: %d bytes compressed, want at most %d", name, b.Len(), limit)
		}
	}
}
