package segment

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// feeder is the program that feeds events to the C recorder.
func feeder(t testing.TB) string { return build(t, "feed", "-O2") }

// feeders are the feeder, and a variant for which two edges are many: it notes turns before it
// enters them at their nodes.
func feeders(t testing.TB) [2]string {
	return [2]string{feeder(t), build(t, "feed", "-O2", "-DGRAPH_MANY_EDGES=2")}
}

func TestMain(m *testing.M) {
	var err error
	if builds.dir, err = os.MkdirTemp("", "efg-test-"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(builds.dir)
	os.Exit(status)
}

// builds are the programs built so far.
var builds struct {
	sync.Mutex
	dir string
}

// build compiles testdata/NAME.c with the recorder, once.
func build(t testing.TB, name string, flags ...string) string {
	t.Helper()
	builds.Lock()
	defer builds.Unlock()
	exe := filepath.Join(builds.dir, name+strings.Join(flags, ""))
	if _, err := os.Stat(exe); err == nil {
		return exe
	}
	sources, err := filepath.Glob("../../hook/shim/core_*.c")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	args := append([]string{"-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-I", "../../hook/shim",
		"-o", exe, "testdata/" + name + ".c", "../../hook/shim/gen/schema.c"}, sources...)
	if out, err := exec.Command("gcc", append(args, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return exe
}

func feedCommand(exe, dir string, input []byte, demote int, args ...string) *exec.Cmd {
	c := exec.Command(exe, args...)
	c.Stdin = bytes.NewReader(input)
	c.Env = append(os.Environ(), "EFG_DIR="+dir, "EFG_TIME=off", fmt.Sprintf("EFG_DEMOTE=%d", demote))
	return c
}

func onlySegment(t testing.TB, dir string) *Segment {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	if len(files) != 1 {
		t.Fatalf("%d segments", len(files))
	}
	s, err := ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkPrefix demands that the stream is exactly the first s.Events events, and
// that its graph is the Go builder's.
func checkPrefix(t testing.TB, s *efg.Stream, defs []efg.Def, p *program, demote int) {
	t.Helper()
	takeTimes(t, s, defs)
	all := efg.Definitions{}
	for _, d := range p.defs.List {
		all.Add(d)
	}
	b := efg.NewBuilder(0, demote, &all)
	w := s.Walk(defs)
	for i := range s.Events {
		e := p.events[i%uint64(len(p.events))]
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
		if !w.Next() {
			t.Fatalf("walk ends at event %d of %d: %v", i, s.Events, w.Err())
		}
		if got := w.Words(); !slices.Equal(got, e.Words) {
			t.Fatalf("event %d is %x, want %x (%v)", i, got, e.Words, w.Err())
		}
		for _, v := range e.Vecs {
			if got := w.Vec(v.Word); !slices.Equal(got, v.Elems) {
				t.Fatalf("event %d: vec %d is %v, want %v", i, v.Word, got, v.Elems)
			}
		}
	}
	if w.Next() {
		t.Fatalf("more than %d events", s.Events)
	}
	if err := s.Verify(defs); err != nil {
		t.Fatal(err)
	}
	checkPending(t, s, p)
	want, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	want.End = s.End
	compareStreams(t, s, want)
}

// compareStreams compares graphs node by node; a stream that was cut off, or that had no space
// for an event, may contain code after the end that its lengths specify.
func compareStreams(t testing.TB, got, want *efg.Stream) {
	t.Helper()
	if got.End == efg.EndFinalized && got.Dropped == 0 && !reflect.DeepEqual(got, want) {
		for i := range min(len(got.Nodes), len(want.Nodes)) {
			if !reflect.DeepEqual(got.Nodes[i], want.Nodes[i]) {
				t.Fatalf("node %d differs:\nC:  %+v\nGo: %+v", i, got.Nodes[i], want.Nodes[i])
			}
		}
		t.Fatalf("graphs differ: %d nodes and %d, hash %x and %x", len(got.Nodes), len(want.Nodes), got.Hash, want.Hash)
	}
	if len(got.Nodes) != len(want.Nodes) || got.Hash != want.Hash {
		t.Fatalf("%d nodes, hash %x; want %d, %x", len(got.Nodes), got.Hash, len(want.Nodes), want.Hash)
	}
	for i := range got.Nodes {
		g, w := &got.Nodes[i], &want.Nodes[i]
		if len(g.Edges) != len(w.Edges) || g.Mask != w.Mask || g.Runs.Len() != w.Runs.Len() {
			t.Fatalf("node %d differs: %+v and %+v", i, g, w)
		}
		for k := range g.Edges {
			if g.Edges[k].To != w.Edges[k].To || g.Edges[k].Weight != w.Edges[k].Weight {
				t.Fatalf("node %d, edge %d: %+v and %+v", i, k, g.Edges[k], w.Edges[k])
			}
		}
	}
}

// The C recorder and the Go builder, given the same events, make the same graph, and the graph
// yields the same events.
func TestCAndGoBuildTheSameGraph(t *testing.T) {
	exes := feeders(t)
	for seed := range uint64(24) {
		exe := exes[seed%2]
		p := newProgram(seed, 3+int(seed*seed)%60)
		p.run(200 << (seed % 7))
		demote := []int{24, 2, 5}[seed%3]
		dir := t.TempDir()
		cmd := feedCommand(exe, dir, p.encode(), demote)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, out)
		}
		s := onlySegment(t, dir)
		stream := &s.Process.Streams[0]
		if stream.Events != uint64(len(p.events)) || stream.End != efg.EndFinalized {
			t.Fatalf("seed %d: %d events of %d, end %d", seed, stream.Events, len(p.events), stream.End)
		}
		checkPrefix(t, stream, s.Process.Defs, p, demote)
	}
}

// killFeeder starts a feeder with these variables in its environment, and kills it after some
// time.
func killFeeder(t *testing.T, cmd *exec.Cmd, after time.Duration, env ...string) {
	t.Helper()
	cmd.Env = append(cmd.Env, env...)
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
	time.Sleep(after)
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()
}

// A process killed at any moment leaves exactly the events before the one in progress.
func TestKilledAtAnyMoment(t *testing.T) {
	exes := feeders(t)
	r := rand.New(rand.NewPCG(4, 2))
	early, atEnd := 0, 0
	for round := range 60 {
		exe := exes[round/2%2]
		p := newProgram(uint64(round), 8)
		p.run(300)
		var env []string
		if round%2 == 1 {
			env = append(env, []string{"EFG_TIME=trace=500", "EFG_TIME=trace=500,4096", "EFG_TIME=trace=500,100000"}[round%3])
		}
		dir := t.TempDir()
		killFeeder(t, feedCommand(exe, dir, p.encode(), 6, "100000"), time.Duration(r.IntN(3000))*time.Microsecond, env...)
		s := onlySegment(t, dir)
		if len(s.Process.Streams) == 0 {
			early++
			continue
		}
		stream := &s.Process.Streams[0]
		if stream.End != efg.EndOpen {
			atEnd++
			continue
		}
		checkPrefix(t, stream, s.Process.Defs, p, 6)
	}
	if early+atEnd > 40 {
		t.Errorf("of 60 runs, %d were killed before the first event and %d after the last", early, atEnd)
	}
}

func TestGeneratedFilesAreFresh(t *testing.T) {
	for name, want := range CFiles() {
		got, err := os.ReadFile(filepath.Join("../../hook/shim/gen", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("hook/shim/gen/%s is out of date; run go generate ./hook/segment (%v)", name, err)
		}
	}
}

// FuzzParse: hostile bytes cause an error or a segment, never a panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte("EFG\x00SEG\n"), uint16(0), uint64(0))
	valid := sampleSegment(f)
	f.Add(valid, uint16(0), uint64(0))
	f.Add(sampleOf(f, feeders(f)[1]), uint16(0), uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, at uint16, flip uint64) {
		if len(data) < 64 || !strings.HasPrefix(string(data), "EFG") {
			data = slices.Clone(valid)
		}
		data = slices.Clone(data)
		if i := int(at) * 8; i+8 <= len(data) && i >= 24 {
			for k := range 8 {
				data[i+k] ^= byte(flip >> (8 * k))
			}
		}
		whole := append(make([]byte, 0, len(data)+8), data...) // aligned
		(&sampler{reader: reader{data: whole, size: func() uint64 { return uint64(len(whole)) }}}).look(true)
		s, err := Parse(data)
		if err != nil {
			return
		}
		for i := range s.Process.Streams {
			st := s.Process.Streams[i]
			if st.Pending != nil {
				call := &efg.Process{Defs: s.Process.Defs, Streams: []efg.Stream{{Pending: st.Pending}}}
				if err := runfile.EncodeRun(io.Discard, []*efg.Process{call}, runfile.Meta{}); err != nil {
					t.Fatal(err)
				}
			}
			st.Events = min(st.Events, 10000)
			w := st.Walk(s.Process.Defs)
			for w.Next() {
				w.Words()
			}
			if clock, err := efg.NewClock(&st); err == nil {
				for err == nil && len(st.Nodes) > 0 {
					_, _, err = clock.Next(0)
				}
			}
		}
	})
}

func sampleSegment(f testing.TB) []byte { return sampleOf(f, feeder(f)) }

func sampleOf(f testing.TB, exe string) []byte {
	p := newProgram(5, 6)
	p.run(300)
	dir := f.TempDir()
	cmd := feedCommand(exe, dir, p.encode(), 5)
	cmd.Env = append(cmd.Env, "EFG_TIME=trace=100")
	if out, err := cmd.CombinedOutput(); err != nil {
		f.Fatalf("%v\n%s", err, out)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	data, err := os.ReadFile(files[0])
	if err != nil {
		f.Fatal(err)
	}
	return data
}
