package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/recording"
)

// mountMemory mounts a file system in memory; only root may.
func mountMemory(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("efg", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("mounting a tmpfs: %v (this test needs to be root)", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// runIn runs a program whose segments go to dir.
func runIn(t *testing.T, dir string, args ...string) (out, errOut string, status int) {
	t.Helper()
	h, err := hook.Ensure(t.Context(), hook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = hookEnv(os.Environ(), h, dir, runOptions{hookTime: "stats"})
	cmd.Stdout, cmd.Stderr = &o, &e
	if cmd.Run(); cmd.ProcessState == nil {
		t.Fatal("cannot start " + args[0])
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// hangIn is runIn for a program that hangs: it is ended when efg where reports the hang.
func hangIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	h, err := hook.Ensure(t.Context(), hook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("timeout", append([]string{"600"}, args...)...)
	cmd.Env = hookEnv(os.Environ(), h, dir, runOptions{hookTime: "stats"})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	for status := 0; status != statusHangs; {
		select {
		case <-ended:
			t.Fatalf("%s has ended before it hung", args[0])
		default:
			_, _, status = efgRun(t, nil, "where", dir)
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	<-ended
}

// A file system that fills up while a program is recorded does not change what the program
// does. Recorded events are kept, the others are counted.
func TestRunOutOfSpace(t *testing.T) {
	const calls = 200000
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			program := compileMPI(t, m, "space.c")
			launch := append(slices.Clone(m.launcher[:len(m.launcher)-1]), "1", program, fmt.Sprint(calls))
			wantOut, wantStatus := plain(t, launch...)
			dir := mountMemory(t, "512k")
			out, errOut, status := runIn(t, dir, launch...)
			if out != wantOut || status != wantStatus {
				t.Fatalf("status %d, output %q; without efg %d, %q; errors %q", status, out, wantStatus, wantOut, errOut)
			}
			file := filepath.Join(t.TempDir(), "x.efg")
			var said bytes.Buffer
			r, err := (&recording.Directory{Path: dir}).Seal(file, runfile.Meta{})
			if err != nil || r.Processes != 1 {
				t.Fatalf("%+v, %v", r, err)
			}
			reportLosses(r, &said)
			run, err := runfile.OpenRun(file)
			if err != nil {
				t.Fatal(err)
			}
			defer run.Close()
			s := run.Procs[0].Streams[0]
			if s.Dropped == 0 || s.Events < 1000 || s.Events+s.Dropped != calls+2 || s.Complete() {
				t.Fatalf("%d events, %d dropped of %d", s.Events, s.Dropped, calls+2)
			}
			lost := fmt.Sprintf("%d events were not recorded for lack of space", s.Dropped)
			if said.String() != "efg: "+lost+"\n" {
				t.Errorf("said %q", said.String())
			}
			info, _, status := efgRun(t, nil, "info", file)
			if status != 0 || !strings.Contains(info, fmt.Sprint(s.Dropped)) || !strings.Contains(info, "lack of space") {
				t.Errorf("info:\n%s", info)
			}
			if text, errOut, status := efgRun(t, nil, "reconstruct", "--verify", file); status != 0 {
				t.Errorf("verify: %s%s", text, errOut)
			}
		})
	}
}

// If there is no space at all, programs run as if they were not recorded.
func TestRunWithoutSpace(t *testing.T) {
	for _, m := range mpis {
		program := compileMPI(t, m, "space.c")
		launch := append(slices.Clone(m.launcher[:len(m.launcher)-1]), "1", program, "100")
		wantOut, wantStatus := plain(t, launch...)
		dir := mountMemory(t, "4k")
		out, errOut, status := runIn(t, dir, launch...)
		if out != wantOut || status != wantStatus {
			t.Errorf("status %d, output %q; without efg %d, %q", status, out, wantStatus, wantOut)
		}
		if n := strings.Count(errOut, "efg: this process is not recorded: no space for "); n != 1 {
			t.Errorf("errors %q", errOut)
		}
	}
}
