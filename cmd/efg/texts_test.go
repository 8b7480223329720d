package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/merge"
)

// BenchmarkTexts seals a process that has made 96,000 calls, each with a unique text.
func BenchmarkTexts(b *testing.B) {
	h, err := hook.Ensure(b.Context(), hook.Options{})
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	cmd := exec.Command(compileMPI(b, mpis[1], "../../../testdata/c/texts.c"), "96000")
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+h.Front, "EFG_BACK="+h.BackVar(), "EFG_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil || len(files) != 1 {
		b.Fatalf("%d segments, %v", len(files), err)
	}
	out := filepath.Join(b.TempDir(), "run.efg")
	for b.Loop() {
		r, err := merge.Run(files, merge.Options{Output: out, Workers: 1, Tool: "efg test"})
		if err != nil || !r.Written {
			b.Fatalf("%+v, %v", r, err)
		}
	}
}
