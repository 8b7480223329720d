package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/daemon"
)

// coldCache is an empty cache with MPI compilers that take no time: back ends are copies of
// those compiled by the machine's compilers.
type coldCache struct {
	t     *testing.T
	bin   string
	front string // of the machine's hook, the same as the one built here
}

func newColdCache(t *testing.T) *coldCache {
	t.Helper()
	h, err := hook.Ensure(t.Context(), hook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &coldCache{t, t.TempDir(), h.Front}
	for _, b := range h.Backs {
		name := "mpicc" // is looked for first, and would be one of the machine's
		if strings.HasPrefix(b.Soname, "libmpich") {
			name = "mpicc.mpich"
		}
		script := fmt.Sprintf(`#!/bin/sh
for word; do
	case $word in
	-show) while [ -e "$0.silent" ]; do sleep 0.05; done; exec %[1]s -show;;
	-c) while [ -e "$0.hangs" ]; do sleep 0.05; done; [ ! -e "$0.broken" ] || { cat "$0.broken" >&2; exit 1; }
		echo x >>"$0.log"; exec touch "$(echo "$*" | sed 's/.*-o \([^ ]*\).*/\1/')";;
	probe.so|*/probe.so) exec %[1]s "$@";;
	esac
done
cp %[2]s ../libefg-back.so
`, b.Compiler, b.File)
		c.must(os.WriteFile(filepath.Join(c.bin, name), []byte(script), 0o755))
	}
	t.Setenv("PATH", c.bin+":"+os.Getenv("PATH"))
	t.Setenv("MPICC", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return c
}

func (c *coldCache) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// compiler is the name of the compiler of an MPI.
func (c *coldCache) compiler(m mpi) string {
	return map[string]string{"openmpi": "mpicc", "mpich": "mpicc.mpich"}[m.name]
}

// mark sets or removes a mark of a compiler.
func (c *coldCache) mark(m mpi, mark, text string) {
	c.t.Helper()
	path := filepath.Join(c.bin, c.compiler(m)+"."+mark)
	if text == "" {
		c.must(os.Remove(path))
		return
	}
	c.must(os.WriteFile(path, []byte(text), 0o644))
}

// compiled lists the MPIs whose compilers have compiled.
func (c *coldCache) compiled() (names []string) {
	for _, m := range mpis {
		if _, err := os.Stat(filepath.Join(c.bin, c.compiler(m)+".log")); err == nil {
			names = append(names, m.name)
		}
	}
	return names
}

// tidy checks that no unfinished builds are left in the cache.
func (c *coldCache) tidy() {
	c.t.Helper()
	if left, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "efg", ".*")); err != nil || len(left) > 0 {
		c.t.Errorf("%v are left, %v", left, err)
	}
}

// With an empty cache exactly what the program links is built; if that is unknown, as for a
// script, what its processes request. Either way everything is recorded.
func TestRunBuildsWhatIsNeeded(t *testing.T) {
	for _, m := range mpis {
		program := compileMPI(t, m, "../../../testdata/c/jacobi.c")
		launch := append(slices.Clone(m.launcher), program, "20")
		for name, args := range map[string][]string{
			"launcher": launch, "alone": {program, "20"}, "script": {"sh", "-c", strings.Join(launch, " ") + "; exit 7"},
		} {
			t.Run(m.name+" "+name, func(t *testing.T) {
				c := newColdCache(t)
				procs, _, errOut, status := record(t, args...)
				ranks, want := 2, 0
				if name == "alone" {
					ranks = 1
				}
				if name == "script" {
					want = 7
				}
				if len(procs) != ranks || status != want || strings.Contains(errOut, "unrecorded") {
					t.Errorf("%d processes, status %d, %s", len(procs), status, errOut)
				}
				if got := c.compiled(); !slices.Equal(got, []string{m.name}) {
					t.Errorf("compiled with %v", got)
				}
				c.tidy()
			})
		}
	}
}

// An MPI that cannot be built does not affect others; its own programs run, and a line says why
// they are not recorded.
func TestRunWithBrokenMPI(t *testing.T) {
	good, bad := mpis[0], mpis[1]
	recorded, other := compileMPI(t, good, "../../../testdata/c/jacobi.c"), compileMPI(t, bad, "../../../testdata/c/jacobi.c")
	c := newColdCache(t)
	c.mark(bad, "broken", "note: x\nshim.c:1:2: error: 'MPI_HOST' undeclared\n")
	file := filepath.Join(t.TempDir(), "x.efg")
	line := fmt.Sprintf("efg: the hook cannot be built with %s: shim.c:1:2: error: 'MPI_HOST' undeclared (efg hook build shows the full output)", filepath.Join(c.bin, c.compiler(bad)))
	for range 2 { // also when the failure is known
		want, _ := plain(t, other, "20")
		out, errOut, status := efgRun(t, nil, "run", "-o", file, other, "20")
		if status != 0 || out != want || withoutBuilds(errOut) != line+": the program runs unrecorded\n" {
			t.Errorf("status %d, output %q, %s", status, out, errOut)
		}
	}
	if _, errOut, status := efgRun(t, nil, "run", "--require", "-o", file, other, "20"); status != 1 || !strings.Contains(errOut, "MPI_HOST") {
		t.Errorf("required: status %d, %s", status, errOut)
	}
	if procs, _, errOut, status := record(t, recorded, "20"); status != 0 || len(procs) != 1 || errOut != "" {
		t.Errorf("%d processes, status %d, %s", len(procs), status, errOut)
	}
	// It was unknown before that the script needs it. Both write to one file, as to a terminal.
	errFile, err := os.Create(filepath.Join(t.TempDir(), "errors"))
	c.must(err)
	defer errFile.Close()
	var out strings.Builder
	status := execute([]string{"run", "-o", file, "sh", "-c", other + " 20"}, nil, &out, errFile)
	errOut, err := os.ReadFile(errFile.Name())
	c.must(err)
	if status != 0 || out.Len() == 0 || !strings.HasPrefix(string(errOut), line+"\nefg: no back end for this MPI (libmpich.so.12") {
		t.Errorf("status %d, output %q, %s", status, &out, errOut)
	}
	c.tidy()
}

// While the hook is being built a signal ends everything, the program does not start, and
// nothing is left.
func TestRunInterruptedBuild(t *testing.T) {
	m := mpis[0]
	program := compileMPI(t, m, "../../../testdata/c/jacobi.c")
	c := newColdCache(t)
	c.mark(m, "hangs", "x")
	build := exec.Command("go", "build", "-o", filepath.Join(c.bin, "efg"), ".")
	build.Env = append(os.Environ(), "XDG_CACHE_HOME=") // Go's own cache
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		var out strings.Builder
		cmd := exec.Command(filepath.Join(c.bin, "efg"), "run", "-o", filepath.Join(c.bin, "x.efg"), program, "20")
		cmd.Stdout, cmd.Stderr = &out, &out
		c.must(cmd.Start())
		waitUntil(t, func() bool {
			begun, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "efg", ".back-*", "src"))
			return err == nil && len(begun) > 0
		})
		c.must(cmd.Process.Signal(s))
		cmd.Wait()
		if status := cmd.ProcessState.ExitCode(); status != 128+int(s) || !strings.HasSuffix(out.String(), s.String()+" while the hook was being built\n") {
			t.Errorf("status %d, %s", status, &out)
		}
		c.tidy()
	}
	c.mark(m, "hangs", "")
	if procs, _, errOut, status := record(t, program, "20"); status != 0 || len(procs) != 1 {
		t.Errorf("afterwards: %d processes, status %d, %s", len(procs), status, errOut)
	}
}

// waitUntil waits for a state.
func waitUntil(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come to this")
		}
	}
}

// daemonHere starts a daemon in this process.
func daemonHere(t *testing.T, store, spool string) (stop func() error) {
	t.Helper()
	t.Setenv("EFG_STORE", store)
	t.Setenv("EFG_SPOOL", spool)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		opt := &daemonOptions{quiet: time.Second}
		opt.time, opt.polls, opt.http.address = "stats", "exact", "off"
		done <- runDaemon(ctx, opt, io.Discard)
	}()
	stop = func() error { cancel(); err := <-done; done <- nil; return err }
	t.Cleanup(func() { stop() })
	return stop
}

// A daemon records from the start: programs run while the rest is built, and those that need a
// missing part wait for it, even if that daemon has ended in between and another one continues.
func TestDaemonRecordsWhileBuilding(t *testing.T) {
	first, second := mpis[0], mpis[1]
	quick, late := compileMPI(t, first, "../../../testdata/c/jacobi.c"), compileMPI(t, second, "../../../testdata/c/jacobi.c")
	c := newColdCache(t)
	c.mark(second, "hangs", "x")
	store, spool := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "spool")
	stop := daemonHere(t, store, spool)
	published := func() bool { _, err := os.Stat(filepath.Join(spool, "hook")); return err == nil }
	waitUntil(t, published)
	start := func(program string) *exec.Cmd {
		cmd := exec.Command(program, "20")
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+c.front)
		c.must(cmd.Start())
		return cmd
	}
	stored := func() (names []string) {
		list, err := (&daemon.Store{Dir: store}).List()
		c.must(err)
		for _, x := range list {
			if !x.Complete {
				t.Errorf("%s is not complete", x.Name)
			}
			names = append(names, x.Command[0])
		}
		return names
	}
	c.must(start(quick).Wait())
	waitUntil(t, func() bool { return len(stored()) == 1 })
	if err := stop(); err != nil {
		t.Error(err)
	}
	c.tidy()
	stop = daemonHere(t, store, spool)
	waitUntil(t, published)
	waiting := start(late)
	c.must(start(quick).Wait())
	waitUntil(t, func() bool { return len(stored()) == 2 })
	if got := c.compiled(); !slices.Equal(got, []string{first.name}) {
		t.Errorf("compiled with %v", got)
	}
	c.mark(second, "hangs", "")
	c.must(waiting.Wait())
	waitUntil(t, func() bool { return len(stored()) == 3 })
	if got := stored(); filepath.Base(got[0]) != filepath.Base(quick) || !slices.Contains(got, late) {
		t.Errorf("recorded: %v", got)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	c.tidy()
}

// While a daemon is still looking for compilers and existing builds, programs wait. It can be
// stopped meanwhile.
func TestDaemonRecordsWhileLooking(t *testing.T) {
	m := mpis[0]
	program := compileMPI(t, m, "../../../testdata/c/jacobi.c")
	c := newColdCache(t)
	if _, err := hook.Ensure(t.Context(), hook.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, m := range mpis {
		c.mark(m, "silent", "x")
	}
	store, spool := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "spool")
	published := func() bool { return (&daemon.Spool{Dir: spool}).Published() }
	stop := daemonHere(t, store, spool)
	waitUntil(t, published)
	if err := stop(); err != nil || published() {
		t.Errorf("stopped: %v", err)
	}
	daemonHere(t, store, spool)
	waitUntil(t, published)
	errOut, err := os.Create(filepath.Join(t.TempDir(), "errors"))
	c.must(err)
	defer errOut.Close()
	cmd := exec.Command(program, "20")
	cmd.Env, cmd.Stderr = append(os.Environ(), "LD_PRELOAD="+c.front), errOut
	c.must(cmd.Start())
	waitUntil(t, func() bool {
		said, err := os.ReadFile(errOut.Name())
		c.must(err)
		return strings.HasPrefix(string(said), "efg: the program waits until its part of the hook is compiled")
	})
	for _, m := range mpis {
		c.mark(m, "silent", "")
	}
	c.must(cmd.Wait())
	waitUntil(t, func() bool {
		list, err := (&daemon.Store{Dir: store}).List()
		c.must(err)
		return len(list) == 1 && list[0].Complete
	})
	c.tidy()
}

// A daemon that can build nothing ends, and says why.
func TestDaemonWithBrokenMPIs(t *testing.T) {
	c := newColdCache(t)
	for _, m := range mpis {
		c.mark(m, "broken", "mpi.h: No such file or directory\n")
	}
	for range 2 { // also when the failure is known
		opt := &daemonOptions{quiet: time.Second, store: filepath.Join(t.TempDir(), "store"), spool: filepath.Join(t.TempDir(), "spool")}
		opt.time, opt.polls, opt.http.address = "stats", "exact", "off"
		err := runDaemon(t.Context(), opt, io.Discard)
		if exit := new(exitError); !errors.As(err, &exit) || exit.status != 2 || !strings.Contains(err.Error(), "mpi.h: No such file") {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(opt.spool, "hook")); err == nil {
			t.Error("programs are told that there is a daemon")
		}
	}
	c.tidy()
}

// Whatever is missing for recording, the program runs, and its status is that of efg run,
// unless recording is required.
func TestRunAlways(t *testing.T) {
	readOnly := mountMemory(t, "1m")
	if err := syscall.Mount("efg", readOnly, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	others := t.TempDir()
	if err := os.Chown(others, 61071, -1); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.efg")
	for _, c := range []struct {
		name, variable, value string
		file                  string
		err                   string
		status                int
	}{
		{"cache", "XDG_CACHE_HOME", readOnly, file, "the hook's cache: mkdir " + readOnly + "/efg: read-only file system (set XDG_CACHE_HOME to move it)", 1},
		{"another's cache", "XDG_CACHE_HOME", others, file, "the hook's cache: " + others + ": belongs to user 61071, not to root: use another path (set XDG_CACHE_HOME to move it)", 1},
		{"compiler", "PATH", readOnly, file, "no C compiler: looked for $CC, cc, gcc, clang; on Debian: apt install gcc libc6-dev", 2},
		{"output", "X", "", readOnly + "/x.efg", "cannot write " + readOnly + "/x.efg: read-only file system", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("CC", "")
			t.Setenv(c.variable, c.value)
			command := []string{"/bin/sh", "-c", "echo out; exit 7"}
			out, errOut, status := efgRun(t, nil, append([]string{"run", "-o", c.file}, command...)...)
			if want := "efg: " + c.err + ": the program runs unrecorded\n"; out != "out\n" || errOut != want || status != 7 {
				t.Errorf("status %d, output %q, errors %q, want %q", status, out, errOut, want)
			}
			out, errOut, status = efgRun(t, nil, append([]string{"run", "--require", "-o", c.file}, command...)...)
			if want := "efg: " + c.err + "\n"; out != "" || errOut != want || status != c.status {
				t.Errorf("required: status %d, output %q, errors %q, want %q", status, out, errOut, want)
			}
		})
	}
}
