package httpapi

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/internal/fleet"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// All stored runs are compared, each is read once, and those that cannot be read are named.
func TestFleet(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	store, spool := sampleStore(t)
	runs := NewStore(store, spool.Dir)
	defer runs.Close()
	cache := fleet.OpenCache("test")
	s := New(Options{Runs: runs, Token: testToken, Fleet: cache})
	defer s.Close()
	f := decode[jsondoc.Fleet](t, answerOf(t, s, "/v1/fleet"))
	if f.Runs != 2 || f.Pending != 0 || len(f.Unread) != 0 || len(f.Programs) == 0 || len(f.Users) != 1 || f.Untimed != 1 {
		t.Errorf("%+v", f)
	}
	info, err := os.Stat(store.RunFile("halo"))
	if err != nil {
		t.Fatal(err)
	}
	kept := cache.Get(info)
	if kept == nil {
		t.Fatal("what was read of a run is not kept")
	}
	kept.Program = "kept"
	cache.Put(info, kept)
	copyTo(t, filepath.Join(samples, "traced.efg"), store.RunFile("traced"))
	if err := os.WriteFile(store.RunFile("broken"), []byte("no run"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"traced", "broken"} {
		text := fmt.Sprintf(`{"version":1,"name":%q,"ranks":4,"size":4,"complete":true}`, name)
		if err := os.WriteFile(filepath.Join(store.Dir, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f = decode[jsondoc.Fleet](t, answerOf(t, s, "/v1/fleet?top=0&slower=0.5"))
	if f.Runs != 3 || len(f.Unread) != 1 || f.Unread[0].File != "broken" {
		t.Errorf("%+v", f)
	}
	if len(f.Programs) == 0 || f.Programs[0].Name != "kept" && f.Programs[1].Name != "kept" {
		t.Errorf("a run was read again: %+v", f.Programs)
	}
}

// Large runs are read by workers.
func TestFleetByWorkers(t *testing.T) {
	k, pids := workers(t, "work")
	const path = "/v1/fleet?top=0"
	here, there := answerOf(t, served(t, nil), path), answerOf(t, served(t, k), path)
	if string(here) != string(there) {
		t.Errorf("%s\nwant\n%s", there, here)
	}
	if n := len(pids()); n != 2 {
		t.Errorf("%d workers for 2 runs", n)
	}
}
