package fleet

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// What was read of a file is kept until the file changes, and broken entries are not taken for it.
func TestCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "run.efg")
	stat := func(text string) os.FileInfo {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	c, info := OpenCache("1"), stat("one")
	if c == nil {
		t.Fatal("no cache")
	}
	if r := c.Get(info); r != nil {
		t.Errorf("%+v is kept of a file that was not read", r)
	}
	want := &Run{ID: "r1", Program: "p", Started: time.Unix(7, 0).UTC(), Timed: true, Elapsed: 1 << 60, Sites: []Site{{"MPI_Wait", "a.c:1", 5}}}
	c.Put(info, want)
	if r := OpenCache("1").Get(info); !reflect.DeepEqual(r, want) {
		t.Errorf("%+v, want %+v", r, want)
	}
	if r := OpenCache("2").Get(info); r != nil {
		t.Error("another version's entry was taken")
	}
	if r := c.Get(stat("another")); r != nil {
		t.Error("the entry of the file before it changed was taken")
	}
	if err := os.WriteFile(c.path(info), []byte(`{"ID":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := c.Get(info); r != nil {
		t.Error("a broken entry was taken")
	}
	c.Put(info, want)
	old := time.Now().Add(-keptFor - time.Hour)
	if err := os.Chtimes(c.path(info), old, old); err != nil {
		t.Fatal(err)
	}
	other := stat("a third")
	c.Put(other, want)
	c.Prune()
	if c.Get(info) != nil || c.Get(other) == nil {
		t.Error("old entries should be removed, and only those")
	}
	var none *Cache
	none.Put(info, want)
	none.Prune()
	if none.Get(info) != nil {
		t.Error("no cache keeps something")
	}
}
