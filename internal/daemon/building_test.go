package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// hookState says which parts of a hook are built, as a test sets it.
type hookState struct {
	mu       sync.Mutex
	settings [][2]string
	err      error
	asked    int
}

func (s *hookState) set(err error, settings ...[2]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings, s.err, s.asked = settings, err, 0
}

func (s *hookState) get() ([][2]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.settings, s.err
}

func (s *hookState) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Programs are told about a daemon before the hook is built, and about each part when it is
// built; then the daemon stops asking.
func TestToldWhileBuilding(t *testing.T) {
	opt := testOptions(t.TempDir(), filepath.Join(t.TempDir(), "spool"))
	s := &hookState{}
	s.set(nil, [2]string{"EFG_BACK", ""}, [2]string{"EFG_BUILDING", "1"})
	opt.Settings = s.get
	var mu sync.Mutex
	looks := sync.NewCond(&mu)
	opt.Works = func(time.Time) { mu.Lock(); looks.Broadcast(); mu.Unlock() }
	serve(t, opt)
	told := func(text string) func() bool {
		return func() bool {
			data, err := os.ReadFile(filepath.Join(opt.Spool, hookFile))
			return err == nil && strings.HasPrefix(string(data), text)
		}
	}
	waitFor(t, told("EFG_BACK=\nEFG_BUILDING=1\n"))
	s.set(nil, [2]string{"EFG_BACK", "a=/a"}, [2]string{"EFG_BUILDING", "1"})
	waitFor(t, told("EFG_BACK=a=/a\nEFG_BUILDING=1\n"))
	waitFor(t, func() bool { return s.times() > 3 })
	s.set(nil, [2]string{"EFG_BACK", "a=/a:b=/b"}, [2]string{"EFG_BUILDING", "0"})
	waitFor(t, told("EFG_BACK=a=/a:b=/b\nEFG_BUILDING=0\n"))
	mu.Lock()
	defer mu.Unlock()
	asked := s.times()
	for looked := 0; looked < 5; looked++ {
		looks.Wait()
	}
	if again := s.times(); again != asked {
		t.Errorf("asked %d times, then %d", asked, again)
	}
}

// A daemon ends if no hook can be built, and withdraws; but not if only its own end has stopped
// the build.
func TestNoHook(t *testing.T) {
	opt := testOptions(t.TempDir(), filepath.Join(t.TempDir(), "spool"))
	s := &hookState{}
	s.set(nil, [2]string{"EFG_BUILDING", "1"})
	opt.Settings = s.get
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), opt) }()
	waitFor(t, (&Spool{opt.Spool}).Published)
	why := errors.New("no hook")
	s.set(why)
	if err := <-done; !errors.Is(err, why) || (&Spool{opt.Spool}).Published() {
		t.Errorf("%v, published: %v", err, (&Spool{opt.Spool}).Published())
	}
	s.set(nil, [2]string{"EFG_BUILDING", "1"})
	ctx, stop := context.WithCancel(t.Context())
	opt.Settings = func() ([][2]string, error) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return s.get()
	}
	go func() { done <- Run(ctx, opt) }()
	waitFor(t, func() bool { return s.times() > 2 })
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A daemon does not keep runs where other users could change or replace them.
func TestOthersStore(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"another's":              func(dir string) error { return os.Chown(filepath.Join(dir, "home", "store"), 61071, -1) },
		"in another's directory": func(dir string) error { return os.Chown(filepath.Join(dir, "home"), 61071, -1) },
		"others may write":       func(dir string) error { return os.Chmod(filepath.Join(dir, "home"), 0o777) },
	} {
		dir := t.TempDir()
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "home", "store"), 0o755), spoil(dir)); err != nil {
			t.Fatalf("%v (this test needs to be root)", err)
		}
		opt := testOptions(filepath.Join(dir, "home", "store"), filepath.Join(t.TempDir(), "spool"))
		err := Run(t.Context(), opt)
		if err == nil || !strings.HasPrefix(err.Error(), "store: "+dir) {
			t.Errorf("%s: %v", name, err)
		}
		if (&Spool{opt.Spool}).Published() {
			t.Errorf("%s: programs are told that there is a daemon", name)
		}
	}
}
