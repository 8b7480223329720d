package procfs

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sleeper starts a process that sleeps.
func sleeper(t *testing.T) (*exec.Cmd, Process) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	s, ok := ReadStatus(cmd.Process.Pid)
	if !ok {
		t.Fatal("it is not there")
	}
	return cmd, s.Process
}

// The end of a process is detected before anybody has waited for it, with and without process
// descriptors; the others continue.
func TestWatch(t *testing.T) {
	for _, name := range []string{"descriptors", "asked for"} {
		t.Run(name, func(t *testing.T) {
			w := NewWatch()
			defer func() { w.Close() }()
			if name == "asked for" {
				w.Close()
			}
			cmd, p := sleeper(t)
			_, other := sleeper(t)
			x, y := w.Add(p), w.Add(other)
			if (x.fd >= 0) != (name == "descriptors") {
				t.Fatalf("descriptor %d", x.fd)
			}
			w.Update()
			if !x.Running() || !y.Running() {
				t.Fatal("they do not run")
			}
			later := p
			later.Start++
			if z := w.Add(later); z.Running() || z.fd >= 0 {
				t.Error("another process with its number is taken for it")
			}
			cmd.Process.Kill()
			for end := time.Now().Add(time.Minute); x.Running(); w.Update() {
				if time.Now().After(end) {
					t.Fatal("it is not seen to end")
				}
			}
			if s, ok := ReadStatus(p.PID); !ok || !s.Gone {
				t.Error("it is no zombie: the test shows nothing")
			}
			if !y.Running() {
				t.Error("the other one does not run")
			}
			cmd.Wait()
			if !TellsExits() { // the descriptor remains until the process is dropped
				w.Drop(x)
			}
			for end := time.Now().Add(time.Minute); x.fd >= 0 && time.Now().Before(end); {
				w.Update()
			}
			status, ok := x.Status()
			if ok != (TellsExits() && name == "descriptors") || ok && status != 128+9 {
				t.Errorf("exit status %d, known %v", status, ok)
			}
			if x.fd >= 0 || w.epoll >= 0 && len(w.byFD) != 1 {
				t.Error("its descriptor is still there")
			}
		})
	}
}

// The exit status of a process is that of its program.
func TestWatchStatus(t *testing.T) {
	w := NewWatch()
	defer w.Close()
	cmd := exec.Command("sh", "-c", "read x; exit 7")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s, _ := ReadStatus(cmd.Process.Pid)
	x := w.Add(s.Process)
	in.Close()
	cmd.Wait()
	for end := time.Now().Add(time.Minute); x.Running() || TellsExits() && !x.known; w.Update() {
		if time.Now().After(end) {
			t.Fatal("its status is unknown")
		}
	}
	if status, ok := x.Status(); ok != TellsExits() || ok && status != 7 {
		t.Errorf("status %d, %v", status, ok)
	}
}

// If many end simultaneously all are detected, and closing leaves no descriptors.
func TestWatchMany(t *testing.T) {
	first, _ := sleeper(t) // descriptors that the runtime opens for the first one remain
	first.Process.Kill()
	first.Wait()
	before := descriptors(t)
	w := NewWatch()
	var list []*Watched
	var cmds []*exec.Cmd
	for range 100 {
		cmd, p := sleeper(t)
		list, cmds = append(list, w.Add(p)), append(cmds, cmd)
	}
	for _, cmd := range cmds[:80] {
		cmd.Process.Kill()
		waitForZombie(t, cmd.Process.Pid)
	}
	w.Update()
	for i, x := range list {
		if x.Running() != (i >= 80) {
			t.Errorf("process %d: running %v", i, x.Running())
		}
	}
	w.Close()
	for _, cmd := range cmds { // os/exec has descriptors of its own
		cmd.Process.Kill()
		cmd.Wait()
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
	if unix.Close(w.epoll) == nil {
		t.Error("its own descriptor is still there")
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
