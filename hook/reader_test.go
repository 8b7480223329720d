package hook

import (
	"os"
	"path/filepath"
	"testing"
)

// A program that reads a layout is found again even if the original is gone, but not one that
// other users could have put there.
func TestReader(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if _, ok := Reader(7); ok {
		t.Error("there is one that no one has kept")
	}
	program := filepath.Join(t.TempDir(), "efg")
	if err := os.WriteFile(program, []byte("old"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := KeepReader(7, program); err != nil {
		t.Fatal(err)
	}
	os.Remove(program)
	if err := KeepReader(7, program); err != nil { // it is there
		t.Error(err)
	}
	if err := KeepReader(8, program); err == nil {
		t.Error("a program that is not there was kept")
	}
	kept, ok := Reader(7)
	text, err := os.ReadFile(kept)
	if !ok || err != nil || string(text) != "old" {
		t.Fatalf("%v %q, %v", ok, text, err)
	}
	if fi, err := os.Stat(kept); err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	cache := filepath.Dir(filepath.Dir(kept))
	h := Hook{Backs: []Back{{Soname: "a.so", File: filepath.Join(cache, "back-1", backName)}, {Soname: "b.so", File: "/b"}}}
	if beside, ok := ReaderBeside(h.BackVar(), 7); !ok || beside != kept {
		t.Errorf("beside the back end: %q", beside)
	}
	for _, back := range []string{"", "a.so", "a.so=/nowhere/x/y"} {
		if _, ok := ReaderBeside(back, 7); ok {
			t.Errorf("one beside %q", back)
		}
	}
	if _, ok := Reader(8); ok {
		t.Error("another layout has it, too")
	}
	if err := os.Chmod(kept, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, ok := Reader(7); ok {
		t.Error("one that others can write to")
	}
	if left, err := filepath.Glob(filepath.Join(cache, ".*")); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}
