package procfs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestReadStatus(t *testing.T) {
	// A name that looks like the rest of the line.
	path := filepath.Join(t.TempDir(), "a) R 1 (b")
	if err := os.Symlink("/bin/sleep", path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	s, ok := ReadStatus(cmd.Process.Pid)
	if !ok || s.Parent != os.Getpid() || s.Gone || s.Start == 0 || s.PID != cmd.Process.Pid {
		t.Fatalf("%+v, %v", s, ok)
	}
	if !s.Running() {
		t.Error("it does not run")
	}
	later := s.Process
	later.Start++
	if later.Running() {
		t.Error("another process with its number is taken for it")
	}
	cmd.Process.Kill()
	waitForZombie(t, s.PID)
	if s.Running() {
		t.Error("a zombie runs")
	}
	cmd.Wait()
	if _, ok := ReadStatus(s.PID); ok || s.Running() {
		t.Error("it is there when it is gone")
	}
}

func waitForZombie(t *testing.T, pid int) {
	t.Helper()
	for {
		s, ok := ReadStatus(pid)
		if !ok {
			t.Fatal("gone before anybody waited for it")
		}
		if s.Gone {
			return
		}
	}
}
