package segment

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// feederRun is one run of testdata/days.c.
type feederRun struct {
	name   string
	p      *program
	dir    string // of segments
	limits string // shell commands before
	env    []string
}

// result is what is left of a day.
type result struct {
	out, errOut string
	status      syscall.WaitStatus
	segments    []*Segment
}

func (d feederRun) run(t testing.TB, exe string) result {
	t.Helper()
	if d.dir == "" {
		d.dir = t.TempDir()
	}
	input, err := os.CreateTemp(t.TempDir(), "input")
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	if _, err := input.WriteAt(d.p.encode(), 0); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sh", "-c", d.limits+` exec "$0" "$@"`, exe, d.name)
	var out, errOut strings.Builder
	c.Dir, c.Stdin, c.Stdout, c.Stderr = t.TempDir(), input, &out, &errOut
	c.Env = append(append(os.Environ(), "EFG_DIR="+d.dir, "EFG_TIME=off", "EFG_DEMOTE=6"), d.env...)
	err = c.Run()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	r := result{out: out.String(), errOut: errOut.String(), status: c.ProcessState.Sys().(syscall.WaitStatus)}
	files, _ := filepath.Glob(filepath.Join(d.dir, "*.seg"))
	for _, f := range files {
		s, err := ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		r.segments = append(r.segments, s)
	}
	return r
}

// one demands that the day left one segment with one stream, and a program that
// ended well.
func (r result) one(t testing.TB) *efg.Stream {
	t.Helper()
	if r.status != 0 || r.errOut != "" {
		t.Fatalf("status %x, output %q, errors %q", r.status, r.out, r.errOut)
	}
	if len(r.segments) != 1 || len(r.segments[0].Process.Streams) != 1 {
		t.Fatalf("%d segments", len(r.segments))
	}
	return &r.segments[0].Process.Streams[0]
}

// whole demands that all of p was recorded.
func (r result) whole(t testing.TB, p *program) {
	t.Helper()
	s := r.one(t)
	if s.Events != uint64(len(p.events)) || s.Dropped != 0 || s.End != efg.EndFinalized {
		t.Fatalf("%d events of %d, %d dropped, end %d", s.Events, len(p.events), s.Dropped, s.End)
	}
	checkPrefix(t, s, r.segments[0].Process.Defs, p, 6)
}

// stopped demands that p was recorded up to a point, and that the rest was counted.
func (r result) stopped(t testing.TB, p *program, full syscall.Errno) {
	t.Helper()
	s := r.one(t)
	if s.Dropped == 0 || s.Events < 20 || s.Events+s.Dropped != uint64(len(p.events)) {
		t.Fatalf("%d events and %d dropped of %d", s.Events, s.Dropped, len(p.events))
	}
	if h := r.segments[0].Header; h.Full != uint32(full) {
		t.Errorf("stopped because of %v, want %v", syscall.Errno(h.Full), full)
	}
	checkPrefix(t, s, r.segments[0].Process.Defs, p, 6)
	process := r.segments[0].Process
	if err := runfile.WriteRun(filepath.Join(t.TempDir(), "x.efg"), []*efg.Process{&process}, runfile.Meta{}); err != nil {
		t.Error(err)
	}
}

// notRecorded demands that the program did its work and that one line says why it
// is not recorded.
func (r result) notRecorded(t testing.TB, p *program, why string) {
	t.Helper()
	if want := fmt.Sprintf("recorded -1 refused %d\n", len(p.events)); r.status != 0 || r.out != want {
		t.Errorf("status %x, output %q, want %q", r.status, r.out, want)
	}
	if !strings.HasPrefix(r.errOut, "efg: this process is not recorded: ") || !strings.Contains(r.errOut, why) ||
		strings.Count(r.errOut, "\n") != 1 {
		t.Errorf("errors %q, want %q", r.errOut, why)
	}
	if len(r.segments) != 0 {
		t.Errorf("%d segments", len(r.segments))
	}
}

func small(seed uint64) *program {
	p := newProgram(seed, 8)
	p.run(400)
	return p
}

// large is a program that needs a few megabytes.
func large(seed uint64) *program {
	p := newProgram(seed, 200)
	p.run(60000)
	return p
}

// memory mounts a separate file system in memory; only root may do so.
func memory(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("efg", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("mounting a tmpfs: %v (this test needs to be root)", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// However a program ends, all its events are recorded.
func TestEnds(t *testing.T) {
	p := small(1)
	for _, c := range []struct {
		name   string
		end    efg.End
		status string
	}{
		{"exit", efg.EndExit, "exit status 7"},
		{"quick", efg.EndOpen, "exit status 7"},
		{"abort", efg.EndOpen, "signal: aborted"},
		{"segfault", efg.EndOpen, "signal: segmentation fault"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := feederRun{name: c.name, p: p, limits: "ulimit -c 0;"}.run(t, build(t, "days", "-O2"))
			status := fmt.Sprintf("exit status %d", r.status.ExitStatus())
			if r.status.Signaled() {
				status = "signal: " + r.status.Signal().String()
			}
			if status != c.status || len(r.segments) != 1 {
				t.Fatalf("%s, %d segments, errors %q", status, len(r.segments), r.errOut)
			}
			s := &r.segments[0].Process.Streams[0]
			if s.End != c.end || s.Events != uint64(len(p.events)) {
				t.Fatalf("end %d, %d events", s.End, s.Events)
			}
			checkPrefix(t, s, r.segments[0].Process.Defs, p, 6)
		})
	}
}

// The call that a program did not return from is recorded, without its results, and a run file
// preserves it.
func TestEndsInACall(t *testing.T) {
	const events = 30
	p := small(1)
	for name, end := range map[string]efg.End{"killed in a call": efg.EndOpen, "exits in a call": efg.EndExit} {
		for _, times := range []string{"off", "stats"} {
			r := feederRun{name: name, p: p, env: []string{"EFG_TIME=" + times}}.run(t, build(t, "days", "-O2"))
			if len(r.segments) != 1 {
				t.Fatalf("%s: %d segments, errors %q", name, len(r.segments), r.errOut)
			}
			s := &r.segments[0].Process.Streams[0]
			if s.End != end || s.Events != events || s.Pending == nil {
				t.Fatalf("%s: end %d, %d events, in call: %+v", name, s.End, s.Events, s.Pending)
			}
			checkPending(t, s, p)
			if known := times == "stats"; (s.Pending.Since > 0) != known {
				t.Errorf("%s, times %s: since %d", name, times, s.Pending.Since)
			}
			path := filepath.Join(t.TempDir(), "x.efg")
			if err := runfile.WriteRun(path, []*efg.Process{&r.segments[0].Process}, runfile.Meta{}); err != nil {
				t.Fatal(err)
			}
			run, err := runfile.OpenRun(path)
			if err != nil {
				t.Fatal(err)
			}
			defer run.Close()
			back, _, err := run.Pending(0, 0)
			if err == nil {
				err = runfile.Validate(run)
			}
			if err != nil || !slices.Equal(back.Words, s.Pending.Words) || back.Since != s.Pending.Since {
				t.Errorf("%s: %+v comes back, %v", name, back, err)
			}
		}
	}
}

// Children, closed descriptors, timers, another working directory: the program works, and its
// segment holds its events and no others.
func TestProgramsKeepToThemselves(t *testing.T) {
	for _, name := range []string{"fork", "callback", "system", "descriptors", "chdir"} {
		t.Run(name, func(t *testing.T) {
			p := small(2)
			if name == "descriptors" || name == "chdir" { // the file must grow meanwhile
				p = large(2)
			}
			d := feederRun{name: name, p: p}
			if name == "chdir" {
				d.dir, d.env = relative(t)
			}
			d.run(t, build(t, "days", "-O2")).whole(t, p)
		})
	}
}

// relative returns a directory, and an environment that names it relative to the
// directory in which days are started, a sibling.
func relative(t *testing.T) (dir string, env []string) {
	dir = t.TempDir()
	return dir, []string{"EFG_DIR=../" + filepath.Base(dir)}
}

// A program that executes another one has two segments.
func TestExec(t *testing.T) {
	p := small(3)
	r := feederRun{name: "exec", p: p}.run(t, build(t, "days", "-O2"))
	if r.status != 0 || len(r.segments) != 2 {
		t.Fatalf("status %x, %d segments, errors %q", r.status, len(r.segments), r.errOut)
	}
	if r.segments[0].Header.PID != r.segments[1].Header.PID {
		t.Error("not the same process")
	}
	ends := []efg.End{}
	for _, s := range r.segments {
		checkPrefix(t, &s.Process.Streams[0], s.Process.Defs, p, 6)
		if s.Process.Streams[0].Events != uint64(len(p.events)) {
			t.Errorf("%d events", s.Process.Streams[0].Events)
		}
		ends = append(ends, s.Process.Streams[0].End)
	}
	slices.Sort(ends)
	if !slices.Equal(ends, []efg.End{efg.EndOpen, efg.EndFinalized}) {
		t.Errorf("ends %v", ends)
	}
}

// Signals that would interrupt every allocation of space do not prevent it.
func TestSignals(t *testing.T) {
	p := large(4)
	feederRun{name: "signals", p: p}.run(t, build(t, "days", "-O2")).whole(t, p)
}

func TestFullFileSystem(t *testing.T) {
	exe := build(t, "days", "-O2")
	p := large(5)
	fill := func(dir string, bytes int) {
		if err := os.WriteFile(filepath.Join(dir, "other"), make([]byte, bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("midway", func(t *testing.T) {
		feederRun{name: "plain", p: p, dir: memory(t, "1m")}.run(t, exe).stopped(t, p, syscall.ENOSPC)
	})
	t.Run("soon", func(t *testing.T) {
		dir := memory(t, "1m")
		fill(dir, 1<<20-100<<10)
		feederRun{name: "plain", p: p, dir: dir}.run(t, exe).stopped(t, p, syscall.ENOSPC)
	})
	t.Run("at once", func(t *testing.T) {
		dir := memory(t, "1m")
		fill(dir, 1<<20)
		feederRun{name: "plain", p: p, dir: dir}.run(t, exe).notRecorded(t, p, "no space for "+dir)
	})
	t.Run("many ends", func(t *testing.T) { // wherever the space ends, the events end there
		p := newProgram(6, 40)
		p.run(12000)
		for kb := 20; kb < 160; kb += 4 {
			r := feederRun{name: "plain", p: p, limits: fmt.Sprintf("ulimit -f %d;", 2*kb)}.run(t, exe)
			r.stopped(t, p, syscall.EFBIG)
		}
	})
}

// If files may not grow there is no SIGXFSZ; less is recorded.
func TestFileSizeLimit(t *testing.T) {
	exe := build(t, "days", "-O2")
	p := large(7)
	feederRun{name: "plain", p: p, limits: "ulimit -f 600;"}.run(t, exe).stopped(t, p, syscall.EFBIG)
	p = newProgram(6, 40)
	p.run(5000)
	feederRun{name: "plain", p: p, limits: "ulimit -f 40;"}.run(t, exe).stopped(t, p, syscall.EFBIG)
	feederRun{name: "plain", p: p, limits: "ulimit -f 8;"}.run(t, exe).notRecorded(t, p, "File too large")
}

// Of a limited address space the recorder uses little.
func TestAddressSpaceLimit(t *testing.T) {
	exe := build(t, "days", "-O2")
	p := large(8)
	feederRun{name: "plain", p: p, limits: "ulimit -v 32768;"}.run(t, exe).stopped(t, p, syscall.ENOMEM)
	p = small(8)
	feederRun{name: "memory", p: p, limits: "ulimit -v 73728;"}.run(t, exe).whole(t, p)
	feederRun{name: "tight", p: p}.run(t, exe).notRecorded(t, p, "no address space")
}

func TestUnusableDirectory(t *testing.T) {
	exe := build(t, "days", "-O2")
	p := small(9)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, why string }{
		{file + "/no", "cannot create " + file + "/no/"},
		{filepath.Dir(file) + "/no", "No such file or directory"},
		{"/proc", "cannot create /proc/"},
		{"/" + strings.Repeat("long/", 1000), "the name in EFG_DIR is too long"},
		{strings.Repeat("x", 300), "File name too long"},
	} {
		feederRun{name: "plain", p: p, env: []string{"EFG_DIR=" + c.dir}}.run(t, exe).notRecorded(t, p, c.why)
	}
	feederRun{name: "plain", p: p, limits: "unset EFG_DIR;"}.run(t, exe).notRecorded(t, p, "EFG_DIR is not set")
}

// Core dumps do not contain the segment.
func TestNotInCoreDumps(t *testing.T) {
	p := large(10)
	r := feederRun{name: "mapping", p: p}.run(t, build(t, "days", "-O2"))
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if len(lines) < 2 {
		t.Fatalf("output %q", r.out)
	}
	for _, l := range lines[:len(lines)-1] {
		if !strings.HasPrefix(l, "VmFlags:") || !slices.Contains(strings.Fields(l), "dd") {
			t.Errorf("mapping with %q", l)
		}
	}
}

// Threads that start at the same time each have a separate, complete stream.
func TestThreads(t *testing.T) {
	p := newProgram(11, 20)
	p.run(5000)
	checkThreads(t, p, feederRun{name: "threads", p: p}.run(t, build(t, "days", "-O2")))
}

func checkThreads(t *testing.T, p *program, r result) {
	t.Helper()
	if r.status != 0 || len(r.segments) != 1 || len(r.segments[0].Process.Streams) != 4 {
		t.Fatalf("status %x, errors %s", r.status, r.errOut)
	}
	for i := range r.segments[0].Process.Streams {
		s := &r.segments[0].Process.Streams[i]
		if s.Events != uint64(len(p.events)) || s.Thread != uint32(i) || s.End != efg.EndThread {
			t.Errorf("stream %d: thread %d, %d events, end %d", i, s.Thread, s.Events, s.End)
		}
		checkPrefix(t, s, r.segments[0].Process.Defs, p, 6)
	}
}

// There are streams for 4096 threads; calls of others are counted.
func TestMoreThreadsThanFit(t *testing.T) {
	p := small(12)
	r := feederRun{name: "many", p: p}.run(t, build(t, "days", "-O2"))
	if r.status != 0 || len(r.segments) != 1 {
		t.Fatalf("status %x, errors %s", r.status, r.errOut)
	}
	streams := r.segments[0].Process.Streams
	if len(streams) != 4097 {
		t.Fatalf("%d streams", len(streams))
	}
	if rest := streams[4096]; rest.Events != 0 || rest.Dropped != 4 || rest.Thread != 4096 {
		t.Errorf("the rest: %+v", rest)
	}
	for i := range streams[:4096] {
		if s := &streams[i]; s.Events != 1 || s.End != efg.EndThread || s.Dropped != 0 {
			t.Fatalf("thread %d: %d events, end %d", i, s.Events, s.End)
		}
	}
	file := filepath.Join(t.TempDir(), "x.efg")
	if err := runfile.WriteRun(file, []*efg.Process{&r.segments[0].Process}, runfile.Meta{}); err != nil {
		t.Fatal(err)
	}
	run, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if last := run.Procs[0].Streams[4096]; last.Dropped != 4 || last.Complete() {
		t.Errorf("the rest, in the run file: %+v", last)
	}
}

// newObjects is a program of one event that creates an object.
func newObjects(t *testing.T) (p *program, slot int) {
	for i := range signature.Procs() {
		proc := &signature.Procs()[i]
		for k, w := range proc.Words {
			if w.Form == signature.SlotForm {
				words := make([]uint64, len(proc.Words))
				words[0] = uint64(signature.MakeHeader(proc.ID, signature.C, false, len(words), 0))
				p := newProgram(0, 1)
				p.events = []efg.Input{{Words: words}}
				return p, k
			}
		}
	}
	t.Fatal("no procedure makes an object")
	return nil, 0
}

// A million live objects: each new one gets the lowest free slot, at once.
func TestManyLiveSlots(t *testing.T) {
	p, slot := newObjects(t)
	r := feederRun{name: "slots", p: p, env: []string{fmt.Sprint("SLOT=", slot)}}.run(t, build(t, "days", "-O2"))
	s := r.one(t)
	if s.Events != 1<<20+2000 {
		t.Errorf("%d events", s.Events)
	}
	if err := s.Verify(r.segments[0].Process.Defs); err != nil {
		t.Error(err)
	}
}

// Hundreds of thousands of nodes.
func TestManyNodes(t *testing.T) {
	p := newProgram(13, 1)
	const n = 300000
	for i := range n {
		words := slices.Clone(p.words(i % (n - 1000)))
		p.events = append(p.events, efg.Input{Words: words})
	}
	r := feederRun{name: "plain", p: p}.run(t, build(t, "days", "-O2"))
	s := r.one(t)
	if s.Events != n || len(s.Nodes) != n-1000 {
		t.Errorf("%d events, %d nodes", s.Events, len(s.Nodes))
	}
	if err := s.Verify(r.segments[0].Process.Defs); err != nil {
		t.Error(err)
	}
}

// words are the words of an event of the program's only callsite, called from another place.
func (p *program) words(callsite int) []uint64 {
	words := make([]uint64, len(p.sites[0].proc.Words))
	words[0] = uint64(signature.MakeHeader(p.sites[0].proc.ID, signature.C, false, len(words), 0))
	words[1] = uint64(callsite + 1)
	return words
}

// The sanitizers find nothing in the recorder.
func TestSanitizers(t *testing.T) {
	t.Run("thread", func(t *testing.T) {
		exe := build(t, "days", "-O1", "-fsanitize=thread", "-Wno-error")
		p := newProgram(14, 20)
		p.run(2000)
		checkThreads(t, p, feederRun{name: "threads", p: p}.run(t, exe))
		p, slot := newObjects(t)
		r := feederRun{name: "mail", p: p, env: []string{fmt.Sprint("SLOT=", slot)}}.run(t, exe)
		if s := r.one(t); s.Events != 20000 {
			t.Errorf("%d events", s.Events)
		}
	})
	t.Run("address", func(t *testing.T) {
		exe := build(t, "days", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-Wno-error")
		for seed := range uint64(6) {
			p := newProgram(20+seed, 3+int(seed)*12)
			p.run(3000)
			feederRun{name: "plain", p: p, env: []string{"ASAN_OPTIONS=detect_leaks=0"}}.run(t, exe).whole(t, p)
		}
	})
}
