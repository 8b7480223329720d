package merge

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/segment"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// quick sets timeouts and chunk sizes for tests.
func quick(o Options) Options {
	o.timing = timing{2 * time.Millisecond, 5 * time.Millisecond, 100 * time.Millisecond, time.Second}
	o.limits = limits{1 << 30, 16, 4}
	o.Tool = "efg test"
	if o.Workers == 0 {
		o.Workers = 1
	}
	return o
}

// simulate lets the recorder write segments of simulated ranks.
func simulate(t *testing.T, c sim.Config) string {
	t.Helper()
	dir := t.TempDir()
	if err := c.WriteSegments(feeder, dir, 2); err != nil {
		t.Fatal(err)
	}
	return dir
}

func segmentsIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil || len(files) == 0 {
		t.Fatal("no segments: ", err)
	}
	return files
}

// whole is the run file of all segments at once, without a merge.
func whole(t *testing.T, files []string) []byte {
	t.Helper()
	var procs []*efg.Process
	var meta runfile.Meta
	for i, f := range files {
		s, err := segment.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Process.Quantize(s.Header.TimeError); err != nil {
			t.Fatal(err)
		}
		m, err := metaOf(s, "efg test")
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			meta = m
		}
		meta.Join(&m)
		procs = append(procs, &s.Process)
	}
	x := newPlaces()
	meta.Sites = x.of(procs)
	var b bytes.Buffer
	if err := runfile.EncodeRun(&b, procs, meta); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func mustMerge(t *testing.T, args []string, opt Options) *Result {
	t.Helper()
	r, err := Run(args, quick(opt))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustEqual(t *testing.T, file string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: %d bytes, want the same as at once, %d", filepath.Base(file), len(got), len(want))
	}
}

// mustBeClean checks that a merge has left nothing except its output.
func mustBeClean(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				t.Errorf("%s is left in %s", e.Name(), dir)
			}
		}
	}
}

var programs = []sim.Config{
	{Program: "halo", Ranks: 56, Steps: 5, Seed: 1, Stats: true},
	{Program: "farm", Ranks: 270, Steps: 3, Seed: 2},
	{Program: "mesh", Ranks: 50, Steps: 8, Seed: 3},
	{Program: "random", Ranks: 12, Steps: 60, Seed: 4, Stats: true},
	{Program: "halo", Ranks: 30, Steps: 40, Seed: 5, Trace: true},
	{Program: "random", Ranks: 40, Steps: 300, Seed: 6, Trace: true},
}

// timesOf returns which times a simulated run has.
func timesOf(c sim.Config) string {
	switch {
	case c.Trace:
		return "trace=5"
	case c.Stats:
		return "stats"
	}
	return "off"
}

// One worker or many, segments or run files of some of them, in any order: the
// same bytes.
func TestMergeSegments(t *testing.T) {
	for _, c := range programs {
		t.Run(fmt.Sprintf("%s %d", c.Program, c.Ranks), func(t *testing.T) {
			dir := simulate(t, c)
			files := segmentsIn(t, dir)
			want := whole(t, files)
			if run, err := runfile.NewRun(bytes.NewReader(want), int64(len(want))); err != nil || run.Meta.Time != timesOf(c) || !run.Meta.StatusUnknown {
				t.Fatalf("times %q, want %q; status unknown: %v; %v", run.Meta.Time, timesOf(c), run.Meta.StatusUnknown, err)
			}
			out := filepath.Join(t.TempDir(), "run.efg")
			r := mustMerge(t, []string{dir}, Options{Output: out})
			if !r.Written || r.Files != c.Ranks || r.Processes != c.Ranks || len(r.LeftOut)+len(r.Running) > 0 {
				t.Errorf("%+v", r)
			}
			mustEqual(t, out, want)
			mustBeClean(t, dir, filepath.Dir(out))
			rng := rand.New(rand.NewPCG(c.Seed, 1))
			for round := range 3 {
				args := someMerged(t, rng, files)
				out := filepath.Join(t.TempDir(), "run.efg")
				together(t, args, Options{Output: out, Workers: 1 + 2*round})
				mustEqual(t, out, want)
			}
		})
	}
}

// someMerged merges some of the files to run files, and returns the resulting inputs in random
// order.
func someMerged(t *testing.T, rng *rand.Rand, files []string) []string {
	dir := t.TempDir()
	files = slices.Clone(files)
	rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	var args []string
	for len(files) > 0 {
		n := min(len(files), 1+rng.IntN(9))
		if rng.IntN(3) == 0 {
			args = append(args, files[:n]...)
		} else {
			node := filepath.Join(dir, fmt.Sprintf("node%d.efg", len(args)))
			mustMerge(t, files[:n], Options{Output: node})
			args = append(args, node)
		}
		files = files[n:]
	}
	rng.Shuffle(len(args), func(i, j int) { args[i], args[j] = args[j], args[i] })
	return args
}

// together runs all workers of a merge.
func together(t *testing.T, args []string, opt Options) {
	t.Helper()
	var wg sync.WaitGroup
	for w := range opt.Workers {
		opt.Worker = w
		o := quick(opt)
		o.timing.stale = 20 * time.Second
		wg.Go(func() {
			r, err := Run(args, o)
			if err != nil || r.Written != (o.Worker == 0) {
				t.Errorf("worker %d: %+v, %v", o.Worker, r, err)
			}
		})
	}
	wg.Wait()
}

// Workers that die, or never start, are replaced.
func TestMergeWithoutSomeWorkers(t *testing.T) {
	c := programs[0]
	dir := simulate(t, c)
	want := whole(t, segmentsIn(t, dir))
	out := filepath.Join(t.TempDir(), "run.efg")
	var log []string
	mustMerge(t, []string{dir}, Options{Output: out, Workers: 3, Log: func(line string) { log = append(log, line) }})
	mustEqual(t, out, want)
	mustBeClean(t, dir, filepath.Dir(out))
	if text := strings.Join(log, "\n"); !strings.Contains(text, "worker 1 does not take part") || !strings.Contains(text, "worker 2 does not take part") {
		t.Errorf("log: %s", text)
	}
	// A worker that starts when everything is done does nothing.
	o := quick(Options{Output: out, Worker: 1, Workers: 3})
	o.timing.first = 20 * time.Millisecond
	if r, err := Run([]string{dir}, o); err != nil || r.Written {
		t.Errorf("%+v, %v", r, err)
	}
	mustBeClean(t, dir, filepath.Dir(out))
}

// The output is not an input, and the leftovers of an earlier merge to it are removed.
func TestMergeAgain(t *testing.T) {
	dir := simulate(t, programs[1])
	want := whole(t, segmentsIn(t, dir))
	out := filepath.Join(dir, "run.efg")
	for range 2 {
		mustMerge(t, []string{dir, filepath.Join(dir, ".")}, Options{Output: out})
		mustEqual(t, out, want)
	}
	var argument *ArgumentError
	if _, err := Run([]string{out}, quick(Options{Output: out})); !errors.As(err, &argument) {
		t.Errorf("the output as an input: %v", err)
	}
	o := quick(Options{Output: out})
	inputs, err := findInputs([]string{dir}, out)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlan(inputs, &o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, p.family+"0123456789abcdef"), 0o755); err != nil {
		t.Fatal(err)
	}
	mustMerge(t, []string{dir}, Options{Output: out})
	mustBeClean(t, dir)
}

// The file of a run contains what its recorder says about it, and worlds with one ID get
// different ones, whether the segments fit in memory or are merged in chunks, and on however many
// processors.
func TestMergeRecorded(t *testing.T) {
	all := t.TempDir()
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 24, Steps: 3, Seed: 1, Stats: true},
		{Program: "farm", Ranks: 24, Steps: 3, Seed: 2},
		{Program: "farm", Ranks: 6, Steps: 3, Seed: 3, Stats: true},
	} {
		for _, f := range segmentsIn(t, simulate(t, c)) {
			copyFile(t, f, all)
		}
	}
	meta := runfile.Meta{Tool: "efg test", Command: []string{"sh", "twice"}, Started: 5, Ended: 9, Status: 7, Time: "stats", Queries: true}
	var want []byte
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct{ limit, processors int }{{16, 2}, {1000, 1}, {1000, 8}} {
		runtime.GOMAXPROCS(c.processors)
		o := quick(Options{Output: filepath.Join(t.TempDir(), "run.efg"), Recorded: &meta})
		o.limits.segments = c.limit
		r, err := Run([]string{all}, o)
		if err != nil || r.Files != 54 || r.Processes != 54 || r.Events != eventsIn(t, o.Output) {
			t.Fatalf("%+v, %v", r, err)
		}
		mustBeClean(t, all, filepath.Dir(o.Output))
		if want == nil {
			if want, err = os.ReadFile(o.Output); err != nil {
				t.Fatal(err)
			}
		}
		mustEqual(t, o.Output, want)
	}
	run, err := runfile.NewRun(bytes.NewReader(want), int64(len(want)))
	if err != nil {
		t.Fatal(err)
	}
	got := run.Meta
	got.Sites = nil
	if !reflect.DeepEqual(got, meta) {
		t.Errorf("%+v, want %+v", got, meta)
	}
	sizes := map[uint64]int{}
	for _, p := range run.Procs {
		sizes[p.World]++
		if sizes[p.World] > p.Size {
			t.Errorf("world %#x: more than %d ranks", p.World, p.Size)
		}
	}
	if len(sizes) != 3 {
		t.Errorf("ranks by world: %v", sizes)
	}
}

// eventsIn is the number of events of a run file.
func eventsIn(t *testing.T, file string) (n uint64) {
	t.Helper()
	run, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	for i := range run.Procs {
		for _, s := range run.Procs[i].Streams {
			n += s.Events
		}
	}
	return n
}

// Two simultaneous recordings each get their file: neither waits for the other's.
func TestMergeRecordedTogether(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run.efg")
	var wg sync.WaitGroup
	for n := range 4 {
		dir := simulate(t, sim.Config{Program: "farm", Ranks: 4, Steps: 3, Seed: uint64(n)})
		wg.Go(func() {
			if _, err := Run([]string{dir}, quick(Options{Output: out, Recorded: &runfile.Meta{Tool: "efg test"}})); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := runfile.OpenRun(out); err != nil {
		t.Error(err)
	}
	mustBeClean(t, filepath.Dir(out))
}
