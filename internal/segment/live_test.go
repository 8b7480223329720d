package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// checkEvents demands that the stream is exactly the first s.Events events.
func checkEvents(t *testing.T, s *efg.Stream, defs []efg.Def, p *program) {
	t.Helper()
	takeTimes(t, s, defs)
	w := s.Walk(defs)
	for i := range s.Events {
		e := p.events[i%uint64(len(p.events))]
		if !w.Next() {
			t.Fatalf("walk ends at event %d of %d: %v", i, s.Events, w.Err())
		}
		if got := w.Words(); !slices.Equal(got, e.Words) {
			t.Fatalf("event %d of %d is %x, want %x (%v)", i, s.Events, got, e.Words, w.Err())
		}
		for _, v := range e.Vecs {
			if got := w.Vec(v.Word); !slices.Equal(got, v.Elems) {
				t.Fatalf("event %d: vec %d is %v, want %v", i, v.Word, got, v.Elems)
			}
		}
	}
	if err := s.Verify(defs); err != nil {
		t.Fatal(err)
	}
	checkPending(t, s, p)
}

// checkPending demands that a call in progress is the one after the last event.
func checkPending(t testing.TB, s *efg.Stream, p *program) {
	t.Helper()
	if s.Pending == nil {
		return
	}
	if s.End == efg.EndFinalized {
		t.Fatalf("a call in progress, %x, after all events", s.Pending.Words)
	}
	want := efg.NewPending(p.events[(s.Events+s.Dropped)%uint64(len(p.events))].Words, 0)
	if !slices.Equal(s.Pending.Words, want.Words) {
		t.Fatalf("after %d events the call in progress is %x, want %x", s.Events, s.Pending.Words, want.Words)
	}
}

// readWhileRunning reads a process's segment while it runs.
func readWhileRunning(t *testing.T, dir string, done <-chan error) (reads []*Segment) {
	t.Helper()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return append(reads, onlySegment(t, dir))
		default:
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
		if len(files) == 0 {
			continue
		}
		s, err := ReadFile(files[0])
		switch {
		case err == nil:
			reads = append(reads, s)
		case !errors.Is(err, ErrNotSegment) && !errors.Is(err, fs.ErrNotExist):
			t.Fatalf("read %d: %v", len(reads), err)
		}
	}
}

// A segment can be read while the process works: each time it holds the first events, all of
// them right. There are few events per process, because each read iterates over all of them.
func TestReadWhileRecorded(t *testing.T) {
	exes := feeders(t)
	reads, between := 0, 0
	for round := 0; round < 60 && reads < 300; round++ {
		exe := exes[round/2%2]
		p := newProgram(uint64(40+round%4), []int{6, 30, 80, 200}[round%4])
		p.run(12000)
		dir := t.TempDir()
		cmd := feedCommand(exe, dir, p.encode(), 6, "2")
		if round%2 == 1 {
			cmd.Env = append(cmd.Env, []string{"EFG_TIME=trace=500", "EFG_TIME=trace=500,20000"}[round/4%2])
		}
		done := make(chan error, 1)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { done <- cmd.Wait() }()
		var last uint64
		for _, s := range readWhileRunning(t, dir, done) {
			for i := range s.Process.Streams {
				stream := &s.Process.Streams[i]
				if stream.Events < last {
					t.Fatalf("%d events after %d", stream.Events, last)
				}
				last = stream.Events
				if last > 0 && stream.End == efg.EndOpen {
					between++
				}
				checkEvents(t, stream, s.Process.Defs, p)
				process := s.Process
				if err := runfile.WriteRun(filepath.Join(dir, "x.efg"), []*efg.Process{&process}, runfile.Meta{}); err != nil {
					t.Fatal(err)
				}
			}
			reads++
		}
		if last != 2*uint64(len(p.events)) {
			t.Fatalf("%d events of %d at the end", last, 2*len(p.events))
		}
	}
	if between < 30 {
		t.Errorf("of %d reads, %d were while events were recorded", reads, between)
	}
}

// encodeGrowing puts a definition of its own before each event.
func (p *program) encodeGrowing() []byte {
	defs := len(p.defs.List)
	var b []byte
	n := uint64(0)
	for in := p.encode(); len(in) > 0; {
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(in[8*i:]) }
		size := 0
		if word(0) == 1 {
			size = 5 + int(word(3)) + int(word(4)+7)/8
			defs--
		} else {
			size = 2 + int(word(1))
			for vecs := word(size); vecs > 0; vecs-- {
				size += 2 + int(word(size+2))
			}
			size++
			for _, w := range []uint64{1, uint64(efg.DefString), n<<20 | 0x5eed, 0, 8, n} {
				b = binary.LittleEndian.AppendUint64(b, w)
			}
			n++
		}
		b = append(b, in[:8*size]...)
		in = in[8*size:]
	}
	if defs != 0 || n != uint64(len(p.events)) {
		panic("lost count")
	}
	return b
}

// A process killed while its segment grows, or while it defines something, leaves the preceding
// events, and complete definitions.
func TestKilledWhileGrowing(t *testing.T) {
	exes := feeders(t)
	r := rand.New(rand.NewPCG(8, 15))
	midway, inCall := 0, 0
	for round := range 40 {
		exe := exes[round%2]
		p := newProgram(uint64(60+round%5), 100)
		p.run(30000)
		dir := t.TempDir()
		cmd := feedCommand(exe, dir, p.encodeGrowing(), 6)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.IntN(15000)) * time.Microsecond)
		cmd.Process.Signal(syscall.SIGKILL)
		cmd.Wait()
		s := onlySegment(t, dir)
		strings := uint64(0)
		for _, d := range s.Process.Defs {
			if d.Kind != efg.DefString {
				continue
			}
			if d.Word != strings<<20|0x5eed || len(d.Data) != 8 || binary.LittleEndian.Uint64(d.Data) != strings {
				t.Fatalf("definition %d: %+v", strings, d)
			}
			strings++
		}
		if len(s.Process.Streams) == 0 {
			continue
		}
		stream := &s.Process.Streams[0]
		if strings != stream.Events && strings != stream.Events+1 {
			t.Fatalf("%d events, %d definitions", stream.Events, strings)
		}
		if stream.End == efg.EndOpen && stream.Events > 0 {
			midway++
		}
		if stream.Pending != nil {
			inCall++
		}
		checkEvents(t, stream, s.Process.Defs, p)
	}
	if midway < 10 {
		t.Errorf("%d of 40 processes were killed midway", midway)
	}
	t.Logf("%d were killed in a call", inCall)
}

// Files that are not segments, or are truncated, are rejected with an error that says so.
func TestBrokenFiles(t *testing.T) {
	dir := t.TempDir()
	p := small(31)
	if out, err := feedCommand(feeder(t), dir, p.encode(), 6).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	used := binary.LittleEndian.Uint64(whole[unsafe.Offsetof(Header{}.Used):])
	change := func(at int, by byte) []byte {
		b := slices.Clone(whole)
		b[at] ^= by
		return b
	}
	for _, c := range []struct {
		name string
		data []byte
		err  string
	}{
		{"empty", nil, "x.seg: not an efg segment"},
		{"short", whole[:100], "x.seg: not an efg segment"},
		{"zero", make([]byte, 1<<18), "x.seg: not an efg segment"},
		{"other", []byte(strings.Repeat("other ", 1000)), "x.seg: not an efg segment"},
		{"version", change(16, 1), fmt.Sprintf("x.seg: segment of another version: version 3, layout %#x; this program reads version 2, layout %#x", LayoutHash(), LayoutHash())},
		{"layout", change(8, 1), fmt.Sprintf("x.seg: segment of another version: version 2, layout %#x; this program reads version 2, layout %#x", LayoutHash()^1, LayoutHash())},
		{"truncated", whole[:used-1], fmt.Sprintf("x.seg: corrupt segment: header at offset 0: %d bytes used, file has %d", used, used-1)},
		{"header only", whole[:HeaderSize], fmt.Sprintf("x.seg: corrupt segment: header at offset 0: %d bytes used, file has %d", used, HeaderSize)},
	} {
		path := filepath.Join(t.TempDir(), "x.seg")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(path); err == nil || err.Error() != c.err {
			t.Errorf("%s: %v, want %s", c.name, err, c.err)
		}
	}
	if _, err := ReadFile(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if _, err := ReadFile(dir); !errors.Is(err, ErrNotSegment) {
		t.Errorf("directory: %v", err)
	}
}

// Holes after the used part do not matter, however many there are; a file that is nearly all
// holes is rejected before anything is read.
func TestHoles(t *testing.T) {
	dir := t.TempDir()
	p := small(31)
	if out, err := feedCommand(feeder(t), dir, p.encode(), 6).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := onlySegment(t, dir)
	files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err := os.Truncate(files[0], 1<<40); err != nil {
		t.Fatal(err)
	}
	if got := onlySegment(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got.Header, want.Header)
	}
	f, err := os.OpenFile(files[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(binary.LittleEndian.AppendUint64(nil, MaxFile), int64(unsafe.Offsetof(Header{}.Used))); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(files[0]); err == nil || !strings.Contains(err.Error(), "are holes") {
		t.Errorf("%v", err)
	}
}

// A file that is truncated while it is read causes an error, not a crash.
func TestCutShortWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.seg")
	if err := os.WriteFile(path, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := syscall.Mmap(int(f.Fd()), 0, 1<<16, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(data)
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	r := &reader{data: data, size: func() uint64 { return 1 << 16 }}
	var corrupt *CorruptError
	if _, err := parseMapped(r); !errors.As(err, &corrupt) {
		t.Errorf("%v", err)
	}
}
