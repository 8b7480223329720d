package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/recording"
	"github.com/efg-tools/efg/internal/segment"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// simulated makes the segments of four ranks. A command that copies them to $EFG_DIR is
// equivalent to a program that records.
func simulated(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fourRanks())); err != nil {
		t.Fatal(err)
	}
	return dir
}

// fourRanks is a directory that is made once.
var fourRanks = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp(testDir, "")
	if err != nil {
		panic(err)
	}
	feeder := filepath.Join(testDir, "feeder")
	if err := sim.BuildFeeder("../..", feeder); err != nil {
		panic(err)
	}
	if err := (sim.Config{Program: "farm", Ranks: 4, Steps: 3, Seed: 1, Stats: true}).WriteSegments(feeder, dir, 2); err != nil {
		panic(err)
	}
	return dir
})

// mustHoldRanks checks that a run file is complete.
func mustHoldRanks(t *testing.T, file string, ranks int) *runfile.Meta {
	t.Helper()
	run, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if err := runfile.Validate(run); err != nil || len(run.Procs) != ranks {
		t.Fatalf("%s: %d ranks, want %d; %v", file, len(run.Procs), ranks, err)
	}
	return &run.Meta
}

// newTerminal makes a terminal; read returns what was written to it.
func newTerminal(t *testing.T) (tty *os.File, read func() string) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { control.Close() })
	if err := unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, control.Fd(), unix.TIOCGPTPEER, syscall.O_RDWR|syscall.O_NOCTTY)
	if errno != 0 {
		t.Fatal(errno)
	}
	tty = os.NewFile(fd, "tty")
	said := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(control) // ends with an error when the terminal is closed
		said <- strings.ReplaceAll(string(text), "\r\n", "\n")
	}()
	return tty, func() string {
		tty.Close()
		return <-said
	}
}

// On a terminal efg run ends with a line that summarises the result and suggests what to do
// next; elsewhere it prints nothing.
func TestRunEndsWithALine(t *testing.T) {
	segments := simulated(t)
	for _, c := range []struct {
		end    string
		status int
	}{{"exit 0", 0}, {"exit 3", 3}, {"kill -INT $$", 130}} {
		file := filepath.Join(t.TempDir(), "my run.efg")
		args := []string{"run", "-o", file, "--", "sh", "-c", fmt.Sprintf(`cp %s/*.seg "$EFG_DIR"; %s`, segments, c.end)}
		if _, errOut, status := efgRun(t, nil, args...); withoutBuilds(errOut) != "" || status != c.status {
			t.Errorf("%s: no terminal: status %d, errors %q", c.end, status, errOut)
		}
		run, err := runfile.OpenRun(file)
		if err != nil {
			t.Fatal(err)
		}
		events := uint64(0)
		for i := range run.Procs {
			for _, s := range run.Procs[i].Streams {
				events += s.Events
			}
		}
		run.Close()
		want := fmt.Sprintf("efg: wrote %s: 4 ranks, %s calls; next: efg report '%s'\n", file, grouped(events), file)
		tty, said := newTerminal(t)
		status := execute(args, nil, io.Discard, tty)
		line, sentence, _ := strings.Cut(withoutBuilds(said()), "\n")
		if line+"\n" != want || !regexp.MustCompile(`^efg: Ranks compute \d+ % of .*\.\n$`).MatchString(sentence) || status != c.status {
			t.Errorf("%s: status %d, %q and %q, want %q and how much ranks compute", c.end, status, line, sentence, want)
		}
	}
}

// The file of an earlier run is not mistaken for that of a run that recorded nothing.
func TestRunRecordsNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.efg")
	nothing := "efg: nothing was recorded, " + file + " was not written: no process called MPI through a shared library that efg recognizes"
	aside := "; that of an earlier run is " + file + "~ now"
	for _, c := range []struct {
		older   bool
		flag    string
		command string
		said    string
		status  int
	}{
		{false, "--keep=false", "exit 0", nothing, 0},
		{true, "--keep=false", "exit 0", nothing + aside, 0},
		{true, "--keep=false", "exit 4", nothing + aside, 4},
		{true, "--require", "exit 0", nothing + aside, 1},
		{false, "--require", "exit 4", nothing, 4},
	} {
		os.Remove(file + "~")
		if c.older {
			writeFile(t, file, "of an earlier run")
		}
		_, errOut, status := efgRun(t, nil, "run", c.flag, "-o", file, "--", "sh", "-c", c.command)
		if withoutBuilds(errOut) != c.said+"\n" || status != c.status {
			t.Errorf("%+v: status %d, errors %q", c, status, errOut)
		}
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%+v: %s is there", c, file)
		}
		if text, err := os.ReadFile(file + "~"); (err == nil) != c.older || c.older && string(text) != "of an earlier run" {
			t.Errorf("%+v: %q, %v", c, text, err)
		}
	}
}

// Unusable segments are reported, and neither they nor the others are lost.
func TestRunDamagedSegments(t *testing.T) {
	segments := simulated(t)
	damage := `echo no segment >"$EFG_DIR/h.1.0.seg"; : >"$EFG_DIR/h.2.0.seg"`
	for _, c := range []struct {
		command string
		ranks   int
		status  int
		want    string
	}{
		{fmt.Sprintf("cp %s/*.seg $EFG_DIR; %s", segments, damage), 4, 0, "efg: a process is missing from the file: "},
		{damage, 0, 1, "efg: nothing is left to merge: "},
	} {
		file := filepath.Join(t.TempDir(), "x.efg")
		out, errOut, status := efgRun(t, nil, "run", "-o", file, "--", "sh", "-c", "echo $EFG_DIR; "+c.command)
		dir := strings.TrimSpace(out)
		t.Cleanup(func() { os.RemoveAll(dir) })
		broken := filepath.Join(dir, "h.1.0.seg")
		if status != c.status || !strings.HasPrefix(withoutBuilds(errOut), c.want+broken+": not an efg segment") {
			t.Errorf("status %d, errors %q", status, errOut)
		}
		if text, err := os.ReadFile(broken); err != nil || string(text) != "no segment\n" {
			t.Errorf("%q, %v", text, err)
		}
		if c.ranks > 0 {
			mustHoldRanks(t, file, c.ranks)
		} else if want := "the recording stays in " + dir + ": efg merge --recover " + dir + " writes the file\n"; !strings.HasSuffix(errOut, want) {
			t.Errorf("errors %q", errOut)
		}
	}
}

// notYet makes a segment into which this process seems to record until the test calls end.
func notYet(t *testing.T, like, dir string) (end func()) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(like)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(data[unsafe.Offsetof(segment.Header{}.State):], uint32(efg.EndOpen))
	path := filepath.Join(dir, fmt.Sprintf("%s.%d.1.seg", host, os.Getpid()))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := syscall.Mmap(int(f.Fd()), 0, len(data), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	return func() { syscall.Munmap(mapped) }
}

// startRun starts efg run in a process of its own. The command makes segments, prints its
// process number and the directory, and then runs the given command.
func startRun(t *testing.T, file, segments, then string) (cmd *exec.Cmd, pid int, dir string) {
	t.Helper()
	cmd = exec.Command(os.Args[0], "run", "-o", file, "--", "sh", "-c",
		fmt.Sprintf(`cp %s/*.seg "$EFG_DIR"; echo $$ $EFG_DIR; %s`, segments, then))
	cmd.Env = append(os.Environ(), asMain+"=1")
	said, err := os.Create(filepath.Join(t.TempDir(), "errors")) // a pipe would be waited for
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	if n, err := fmt.Fscan(out, &pid, &dir); n != 2 || err != nil {
		t.Fatalf("%v: %s", err, errorsOf(cmd))
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return cmd, pid, dir
}

// errorsOf is the error output of a run that was started.
func errorsOf(cmd *exec.Cmd) string {
	text, err := os.ReadFile(cmd.Stderr.(*os.File).Name())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// awaitGone waits until a process no longer exists, not even as a zombie.
func awaitGone(pid int) {
	for syscall.Kill(pid, 0) == nil {
		time.Sleep(time.Millisecond)
	}
}

// Signals that arrive while efg run writes the file do not prevent it.
func TestRunSealsThroughSignals(t *testing.T) {
	segments := simulated(t)
	for _, signals := range [][]os.Signal{{syscall.SIGTERM}, {syscall.SIGINT, syscall.SIGHUP}, {syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM, syscall.SIGUSR1}} {
		file := filepath.Join(t.TempDir(), "x.efg")
		first, err := filepath.Glob(filepath.Join(segments, "*.seg"))
		if err != nil {
			t.Fatal(err)
		}
		gate := filepath.Join(t.TempDir(), "gate")
		cmd, pid, dir := startRun(t, file, segments, "while [ ! -e "+gate+" ]; do sleep 0.01; done; exit 5")
		end := notYet(t, first[0], dir)
		writeFile(t, gate, "")
		awaitGone(pid)
		for _, s := range signals {
			cmd.Process.Signal(s)
		}
		end()
		cmd.Wait()
		if status := cmd.ProcessState.ExitCode(); status != 5 {
			t.Errorf("%v: status %d (%v), errors %q", signals, status, cmd.ProcessState, errorsOf(cmd))
		}
		mustHoldRanks(t, file, 5)
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: %s is there: %v", signals, dir, err)
		}
	}
}

// The third signal stops writing the file, and efg run says where the recording is.
func TestRunGivesUp(t *testing.T) {
	segments := simulated(t)
	file := filepath.Join(t.TempDir(), "x.efg")
	opt := &runOptions{output: file}
	dir, err := recording.Create(recording.Info{Output: file, Tool: "efg test", Command: []string{"app"}, Started: time.Now().UnixNano(), Time: "stats"})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Remove()
	list, err := filepath.Glob(filepath.Join(segments, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		copyTo(t, f, dir.Path)
	}
	end := notYet(t, list[0], dir.Path)
	signals := holdSignals()
	defer signals.release()
	for _, s := range ending[:maxSignals] {
		syscall.Kill(os.Getpid(), s.(syscall.Signal))
	}
	for len(signals) < maxSignals {
		time.Sleep(time.Millisecond)
	}
	var said bytes.Buffer
	err = keepRecording(dir, opt, runfile.Meta{Time: "stats"}, signals, &said)
	var exit *exitError
	if !errors.As(err, &exit) || exit.status <= 128 {
		t.Fatalf("%v", err)
	}
	want := file + " was not written: gave up at the third signal ("
	if text := err.Error(); !strings.HasPrefix(text, want) || !strings.HasSuffix(text, "; the recording stays in "+dir.Path+": efg merge --recover "+dir.Path+" writes the file") {
		t.Errorf("%q", text)
	}
	if want := fmt.Sprintf("efg: writing %[1]s; interrupt it twice more to give up\nefg: writing %[1]s; interrupt it once more to give up\n", file); said.String() != want {
		t.Errorf("%q, want %q", said.String(), want)
	}
	end()
	for { // what was given up would have ended with the process
		if _, err := os.Stat(file); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	dir.Close()
	other := filepath.Join(t.TempDir(), "y.efg")
	if out, errOut, status := efgRun(t, nil, "merge", "--recover", dir.Path, "-o", other); status != 0 {
		t.Fatalf("status %d, %s%s", status, out, errOut)
	}
	mustHoldRanks(t, other, 5)
}

func copyTo(t *testing.T, file, dir string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, filepath.Base(file)), string(data))
}

// killRun starts a run and kills efg, so that only its recording is left.
func killRun(t *testing.T, file, segments string) (dir string, program int) {
	t.Helper()
	cmd, pid, dir := startRun(t, file, segments, "exec sleep 1000")
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	cmd.Process.Kill()
	cmd.Wait()
	return dir, pid
}

// The next efg run reports what a killed one has left, which becomes a run file.
func TestRunKilledIsRecovered(t *testing.T) {
	segments := simulated(t)
	file := filepath.Join(t.TempDir(), "x.efg")
	dir, _ := killRun(t, file, segments)
	_, errOut, _ := efgRun(t, nil, "run", "-o", filepath.Join(t.TempDir(), "y.efg"), "--", "true")
	if !strings.Contains(errOut, " in "+dir+", of ") || !strings.Contains(errOut, "(sh -c ") || !strings.Contains(errOut, ": efg merge --recover writes the run file, with --discard it removes the recording\n") {
		t.Errorf("errors %q", errOut)
	}
	list, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	end := notYet(t, list[0], dir)
	out, errOut, status := efgRun(t, nil, "merge", "--recover", dir)
	if want := "efg: " + dir + ": the program of "; status != 1 || out != "" || !strings.HasPrefix(errOut, want) || !strings.Contains(errOut, " is still running; ") {
		t.Errorf("status %d, output %q, errors %q", status, out, errOut)
	}
	end()
	out, errOut, status = efgRun(t, nil, "merge", "--recover", dir)
	if status != 0 || errOut != "" || !strings.HasPrefix(out, file+": 5 ranks, ") || strings.Count(out, "\n") != 1 {
		t.Errorf("status %d, output %q, errors %q", status, out, errOut)
	}
	meta := mustHoldRanks(t, file, 5)
	if !meta.StatusUnknown || meta.Time != "trace=5,32MiB" || len(meta.Command) != 3 || meta.Command[0] != "sh" || meta.Ended < meta.Started {
		t.Errorf("%+v", meta)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there: %v", dir, err)
	}
	_, errOut, status = efgRun(t, nil, "merge", "--recover", dir)
	if status != 2 || errOut != "efg: "+dir+": no such file or directory\n" {
		t.Errorf("status %d, errors %q", status, errOut)
	}
}

// A run file that was written since is kept.
func TestRecoverBesideANewerRun(t *testing.T) {
	segments := simulated(t)
	file := filepath.Join(t.TempDir(), "x.efg")
	for _, name := range []string{"x.recovered.efg", "x.recovered-2.efg"} {
		dir, _ := killRun(t, file, segments)
		writeFile(t, file, "of a later run")
		want := filepath.Join(filepath.Dir(file), name)
		out, errOut, status := efgRun(t, nil, "merge", "--recover", dir)
		if status != 0 || errOut != "" || !strings.HasPrefix(out, want+": 4 ranks, ") {
			t.Errorf("status %d, output %q, errors %q", status, out, errOut)
		}
		mustHoldRanks(t, want, 4)
		if text, err := os.ReadFile(file); string(text) != "of a later run" {
			t.Errorf("%q, %v", text, err)
		}
	}
}

// The recording can be removed instead; that of a running efg run cannot.
func TestRecoverDiscards(t *testing.T) {
	segments := simulated(t)
	file := filepath.Join(t.TempDir(), "x.efg")
	cmd, pid, running := startRun(t, file, segments, "exec sleep 1000")
	if _, errOut, status := efgRun(t, nil, "merge", "--recover", running); status != 2 || errOut != "efg: "+running+": its efg run is still running\n" {
		t.Errorf("status %d, errors %q", status, errOut)
	}
	cmd.Process.Kill()
	cmd.Wait()
	defer syscall.Kill(pid, syscall.SIGKILL)
	if _, errOut, status := efgRun(t, nil, "merge", "--discard", running); status != 2 || errOut != "efg: --discard: goes with --recover only\n" {
		t.Errorf("status %d, errors %q", status, errOut)
	}
	out, errOut, status := efgRun(t, nil, "merge", "--recover", "--discard", running)
	if status != 0 || errOut != "" || !strings.HasPrefix(out, running+": removed the recording of ") {
		t.Errorf("status %d, output %q, errors %q", status, out, errOut)
	}
	for _, path := range []string{running, file} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", path, err)
		}
	}
	other := t.TempDir()
	if _, errOut, status := efgRun(t, nil, "merge", "--recover", other); status != 2 || errOut != "efg: "+other+": holds no unfinished recording of efg run\n" {
		t.Errorf("status %d, errors %q", status, errOut)
	}
}

func TestShellWord(t *testing.T) {
	for _, s := range []string{"run.efg", "/a b/c", "it's", "", "~x", "$HOME", "a\nb", "ä"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellWord(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q as %s is %q, %v", s, shellWord(s), out, err)
		}
	}
	if got := shellWord("/tmp/run-1.efg"); got != "/tmp/run-1.efg" {
		t.Errorf("%s is quoted", got)
	}
}
