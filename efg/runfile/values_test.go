package runfile

import (
	"bytes"
	"errors"
	"math"
	"math/rand"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// valued gives the events of a stream that has times the values of so many counters, some of which did not count each event, and the
// nodes their sums. It returns the values of each event.
func valued(t testing.TB, rng *rand.Rand, s *efg.Stream, defs []efg.Def, counters int) (values [][]efg.CounterValue) {
	t.Helper()
	s.Trace.Counters = counters
	for w := s.Walk(defs); w.Next(); {
		n := &s.Nodes[w.Node()]
		if n.Counters == nil {
			n.Counters = make([]efg.NodeCounter, counters)
		}
		of := make([]efg.CounterValue, counters)
		for k := range of {
			if rng.Intn(1+k) > 1 {
				continue
			}
			of[k] = efg.CounterValue{Before: rng.Uint64() >> rng.Intn(64), Call: rng.Uint64() >> (1 + rng.Intn(63)), Counted: true}
			c := &n.Counters[k]
			if c.Count == 0 {
				c.Call.Min, c.Before.Min = math.MaxUint64, math.MaxUint64
			}
			c.Count++
			c.Call.Add(of[k].Call)
			c.Before.Add(of[k].Before)
		}
		if w.Seq() < s.TimedEvents() {
			n.Times.AppendValues(of)
			values = append(values, of)
		}
	}
	return values
}

// valuedProcs are processes with values, except for the third one, and those of each event. Long streams have checkpoints; the last
// process has times and values of its first events only.
func valuedProcs(t *testing.T, seed int64, events int) (procs []*efg.Process, meta Meta, values [][][]efg.CounterValue) {
	rng := rand.New(rand.NewSource(seed))
	meta = Meta{Time: "trace", Counters: []string{"instructions", "task-clock ns", "page-faults"}}
	for rank := range 5 {
		s, defs := randomStream(t, rng, events)
		if err := s.AddCheckpoints(defs, uint64(events/7)); err != nil {
			t.Fatal(err)
		}
		p := &efg.Process{Rank: rank, Size: 5, Defs: defs}
		for _, name := range meta.Counters {
			p.Counters = append(p.Counters, counterOf(name))
		}
		traced(t, rng, s, defs)
		if rank == 4 {
			endTimes(t, s, defs, s.Events/3)
		}
		var of [][]efg.CounterValue
		if rank != 2 {
			of = valued(t, rng, s, defs, len(meta.Counters))
		}
		for i := range s.Nodes {
			s.Nodes[i].Stats = &efg.Stats{}
		}
		p.Streams = []efg.Stream{*s}
		procs, values = append(procs, p), append(values, of)
	}
	return procs, meta, values
}

// divideTimes makes writers divide the times of streams with checkpoints, as they do those of longer ones.
func divideTimes(t *testing.T) {
	t.Helper()
	before := sharedTrace
	sharedTrace = 1000
	t.Cleanup(func() { sharedTrace = before })
}

func counterOf(name string) efg.Counter {
	c := efg.ParseCounter(name)
	c.State = efg.CounterRead
	return c
}

func checkValuesFrom(t *testing.T, s *efg.Stream, defs []efg.Def, from uint64, want [][]efg.CounterValue) {
	t.Helper()
	c, err := s.ClockFrom(from)
	if err != nil {
		t.Fatal(err)
	}
	for w := s.WalkFrom(defs, from); w.Next() && w.Seq() < s.TimedEvents(); {
		if _, _, err := c.Next(uint32(w.Node())); err != nil {
			t.Fatal(err)
		}
		if want == nil && c.Values() != nil || want != nil && !reflect.DeepEqual(c.Values(), want[w.Seq()]) {
			t.Fatalf("from %d: event %d: %v, want %v", from, w.Seq(), c.Values(), want)
		}
	}
}

// Values are in the file as they were, of short streams and of those that have parts; from any position, after a merge, and for the
// independent reader.
func TestValuesInAFile(t *testing.T) {
	for i, events := range []int{500, 6000} {
		if i > 0 {
			divideTimes(t)
		}
		procs, meta, want := valuedProcs(t, int64(i), events)
		data := encode(t, procs, meta)
		r, err := NewRun(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(r); err != nil {
			t.Fatal(err)
		}
		if parts := len(r.traces) > len(procs); parts != (i > 0) {
			t.Fatalf("%d blocks of %d processes with %d events", len(r.traces), len(procs), procs[0].Streams[0].Events)
		}
		var again []*efg.Process
		for i := range r.Procs {
			p, err := r.Process(i)
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, p)
			s := &p.Streams[0]
			for _, from := range []uint64{0, s.Events / 4, s.Events / 2, s.Events - 1} {
				if from < s.TimedEvents() {
					checkValuesFrom(t, s, p.Defs, from, want[i])
				}
			}
			if err := s.LoadTimes(); err != nil {
				t.Fatal(err)
			}
			checkValuesFrom(t, s, p.Defs, s.Events/5, want[i])
		}
		if !bytes.Equal(encode(t, again, r.Meta), data) {
			t.Error("what was read makes another file")
		}
		dir := t.TempDir()
		a, b, whole := filepath.Join(dir, "a.efg"), filepath.Join(dir, "b.efg"), filepath.Join(dir, "c.efg")
		for path, part := range map[string][]*efg.Process{a: {procs[0], procs[3]}, b: {procs[1], procs[2], procs[4]}} {
			if err := WriteRun(path, part, meta); err != nil {
				t.Fatal(err)
			}
		}
		if err := MergeRuns(whole, []string{b, a}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(readFile(t, whole), data) {
			t.Errorf("%d events: merged parts are another file", events)
		}
		if got, want := independently(t, data), shown(t, data); got != want {
			t.Fatalf("%d events: the independent reader disagrees: %s", events, firstDifference(got, want))
		}
	}
}

// A file without values has neither the feature nor the blocks.
func TestNoValuesNoFeature(t *testing.T) {
	procs, meta, _ := valuedProcs(t, 1, 500)
	plain := encode(t, procs[2:3], meta)
	r, err := NewRun(bytes.NewReader(plain), int64(len(plain)))
	if err != nil || r.HasCounterValues() {
		t.Errorf("%v, features %#x", err, r.features)
	}
	meta.Counters = nil
	without := encode(t, procs, meta)
	if r, err = NewRun(bytes.NewReader(without), int64(len(without))); err != nil || r.HasCounterValues() {
		t.Fatalf("%v, features %#x", err, r.features)
	}
	if err := Validate(r); err != nil {
		t.Error(err)
	}
}

// Values that do not make the sums of their node are found.
func TestValuesContradictSums(t *testing.T) {
	for _, events := range []int{500, 6000} {
		if events > 500 {
			divideTimes(t)
		}
		procs, meta, _ := valuedProcs(t, 3, events)
		c := &procs[1].Streams[0].Nodes[0].Counters[0]
		c.Before.Sum++
		data := encode(t, procs, meta)
		r, err := NewRun(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		var where *efg.StreamError
		if err := Validate(r); !errors.As(err, &where) || where.Rank != 1 || where.Node != 0 {
			t.Errorf("%d events: %v", events, err)
		}
	}
}

// valuedBlocks returns the contents of the blocks of a file with values, the index last.
func valuedBlocks(tb testing.TB) []blockContent {
	tb.Helper()
	rng := rand.New(rand.NewSource(6))
	procs := []*efg.Process{sampleProcess(0), sampleProcess(1)}
	meta := sampleMeta(procs[0])
	meta.Time, meta.Counters = "trace", []string{"instructions", "task-clock ns", "page-faults"}
	for _, p := range procs {
		for _, name := range meta.Counters {
			p.Counters = append(p.Counters, counterOf(name))
		}
		s := &p.Streams[0]
		traced(tb, rng, s, p.Defs)
		valued(tb, rng, s, p.Defs, len(meta.Counters))
	}
	return blocksOf(tb, encode(tb, procs, meta))
}

// Blocks that say something else about the counters than the file are refused, whatever is in them.
func TestBrokenValues(t *testing.T) {
	blocks := valuedBlocks(t)
	for column := valuesCounters; column < valuesSets+3*valuesEach; column++ {
		for _, change := range []func(v []uint64) []uint64{
			func(v []uint64) []uint64 { return v[:len(v)-1] },
			func(v []uint64) []uint64 { return append(v, 1) },
		} {
			changed := make([]blockContent, len(blocks))
			copy(changed, blocks)
			found := false
			for k := range changed {
				if changed[k].kind == blockValues {
					cols := append(block.Columns{}, changed[k].cols...)
					cols[column] = change(append([]uint64{}, cols[column]...))
					changed[k].cols, found = cols, true
				}
			}
			if !found {
				t.Fatal("no block with values")
			}
			data := assemble(changed)
			r, err := NewRun(bytes.NewReader(data), int64(len(data)))
			if err == nil {
				err = Validate(r)
			}
			if err == nil {
				t.Errorf("column %d: accepted", column)
			}
		}
	}
}
