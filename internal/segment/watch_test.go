package segment

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// While a process works, a Watch sees the number of its events grow, and never fails.
func TestWatch(t *testing.T) {
	p := newProgram(7, 40)
	p.run(20000)
	dir := t.TempDir()
	cmd := feedCommand(feeder(t), dir, p.encode(), 6, "2")
	cmd.Env = append(cmd.Env, "EFG_TIME=stats")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var files []string
	for until := time.Now().Add(10 * time.Second); len(files) == 0 && time.Now().Before(until); {
		files, _ = filepath.Glob(filepath.Join(dir, "*.seg"))
	}
	w := openSoon(t, files[0])
	defer w.Close()
	var last uint64
	looks, ended := 0, false
	for !ended {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			ended = true
		default:
		}
		l, err := w.Look(true)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range l.Activities {
			if a.Events < last || a.InCall && (a.Words == nil || a.Since == 0) {
				t.Fatalf("%+v after %d events", a, last)
			}
			last = a.Events
		}
		looks++
	}
	l, err := w.Look(true)
	if err != nil {
		t.Fatal(err)
	}
	var count uint64
	for _, c := range l.Calls {
		count += c.Count
	}
	if want := 2 * uint64(len(p.events)); last != want || count != want || looks < 3 {
		t.Errorf("%d events, %d counted, want %d; %d looks", last, count, want, looks)
	}
}

// openSoon opens a segment that is just being created.
func openSoon(t *testing.T, file string) *Watch {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); ; {
		w, err := OpenWatch(file)
		if err == nil {
			if _, err = w.Look(false); err == nil {
				return w
			}
			w.Close()
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
	}
}

// Hostile bytes cause an error or nonsense, never a crash or a hang.
func TestWatchHostile(t *testing.T) {
	valid := sampleSegment(t)
	rng := rand.New(rand.NewPCG(3, 4))
	path := filepath.Join(t.TempDir(), "x.seg")
	for range 3000 {
		data := slices.Clone(valid)
		for range 1 + rng.IntN(4) {
			at := 24 + rng.IntN(len(data)-32)
			if rng.IntN(2) == 0 {
				at = 4096 + rng.IntN(1024)
			}
			data[at] ^= byte(1 + rng.IntN(255))
		}
		if err := os.WriteFile(path, data[:len(data)-rng.IntN(2)*rng.IntN(1000)], 0o600); err != nil {
			t.Fatal(err)
		}
		if w, err := OpenWatch(path); err == nil {
			w.Look(true)
			w.Close()
		}
	}
}

// Files that are not regular files of the current user are rejected.
func TestWatchRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.seg")
	if err := os.WriteFile(path, sampleSegment(t), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.seg")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenWatch(link); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("symbolic link: %v", err)
	}
	pipe := filepath.Join(dir, "pipe.seg")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenWatch(pipe); !errors.Is(err, ErrNotSegment) {
		t.Errorf("pipe: %v", err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenWatch(path); !errors.Is(err, ErrForeign) {
			t.Errorf("another user's: %v", err)
		}
	}
}
