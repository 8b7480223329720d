package daemon

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// If the store is full, sealing waits and says so, and continues when there is space.
func TestNoSpace(t *testing.T) {
	store := t.TempDir()
	if err := syscall.Mount("efg", store, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatalf("mounting a tmpfs: %v (this test needs to be root)", err)
	}
	t.Cleanup(func() { syscall.Unmount(store, syscall.MNT_DETACH) })
	if err := os.Chmod(store, 0o700); err != nil { // accessible to everyone at first
		t.Fatal(err)
	}
	opt := testOptions(store, privateDir(t))
	const why = "no space in the store: sealing waits, recording continues"
	var log logged
	failed := make(chan struct{}, 1000)
	opt.Log, opt.SealFailed = slog.New(slog.NewTextHandler(&log, nil)), func() { failed <- struct{}{} }
	serve(t, opt)
	fill := filepath.Join(store, "fill")
	if err := os.WriteFile(fill, make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("there is space")
	}
	segments := simulated(t, t.TempDir(), 6, 4)
	put(t, opt.Spool, segments)
	for range 2 {
		<-failed
	}
	if n := len(names(t, opt.Spool, "*.seg")); n != len(segments) {
		t.Fatalf("%d segments are left of %d", n, len(segments))
	}
	if text := log.String(); strings.Count(text, "cannot seal") != 1 || strings.Count(text, why) != 1 {
		t.Errorf("log: %s", text)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	// It retries after two seconds, and has space to report the reason not sooner.
	waitFor(t, func() bool {
		state, err := (&Store{store}).State()
		return err == nil && len(state.Problems) == 1 && strings.HasSuffix(state.Problems[0], ": "+why)
	})
	if x := list(t, opt, 1)[0]; x.Ranks != len(segments) {
		t.Errorf("%+v", x)
	}
	waitFor(t, func() bool { state, err := (&Store{store}).State(); return err == nil && len(state.Problems) == 0 })
}

// logged is a log that is read while it is being written.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
