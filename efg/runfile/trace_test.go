package runfile

import (
	"bytes"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// traced gives a stream known times, and returns when each event started and ended by the clock
// reconstructed from the codes.
func traced(t testing.TB, rng *rand.Rand, s *efg.Stream, defs []efg.Def) (times [][2]uint64) {
	t.Helper()
	s.Trace = &efg.Trace{Error: 500, Bound: 1000, Begin: rng.Uint64() >> 20}
	q, err := efg.NewTimeQuantizer(s.Trace.Error, s.Trace.Bound)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Nodes {
		s.Nodes[i].Times = &efg.Times{}
	}
	ahead := int64(0)
	now := uint64(0)
	next := func(to *efg.TimeSeq, ns uint64) uint64 {
		if ns%64 != 0 { // others are none of the intervals that have numbers, mostly
			ns, ahead = q.Round(ns, ahead)
		}
		to.Append(ns)
		return ns
	}
	for w := s.Walk(defs); w.Next(); {
		at := s.Nodes[w.Node()].Times
		start := now + next(&at.Gap, uint64(rng.ExpFloat64()*3000))
		now = start + next(&at.Dur, uint64(rng.ExpFloat64()*float64(100*(1+w.Node()))))
		times = append(times, [2]uint64{start, now})
	}
	return times
}

// endTimes takes the times of all but the first n events of a stream away.
func endTimes(t testing.TB, s *efg.Stream, defs []efg.Def, n uint64) {
	t.Helper()
	visits := make([]uint64, len(s.Nodes))
	w := s.Walk(defs)
	for range n {
		if !w.Next() {
			t.Fatal(w.Err())
		}
		visits[w.Node()]++
	}
	for i := range s.Nodes {
		times, err := s.Nodes[i].Times.Prefix(visits[i])
		if err != nil {
			t.Fatal(err)
		}
		s.Nodes[i].Times = times
	}
	s.Trace.Untimed = s.Events - n
}

func checkClock(t *testing.T, s *efg.Stream, defs []efg.Def, from uint64, want [][2]uint64) {
	t.Helper()
	c, err := s.ClockFrom(from)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for w := s.WalkFrom(defs, from); w.Next(); n++ {
		if w.Seq() >= uint64(len(want)) {
			continue
		}
		start, end, err := c.Next(uint32(w.Node()))
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]uint64{start, end}; got != want[w.Seq()] {
			t.Fatalf("from %d: event %d: %v, not %v", from, w.Seq(), got, want[w.Seq()])
		}
	}
	if n == 0 {
		t.Fatalf("from %d: no events", from)
	}
}

// A file preserves times: of short streams, which share a block, and of long ones, which are
// divided; also after a merge.
func TestTracesInAFile(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	for round, events := range []int{500, 60_000, 500, 30_000} {
		var procs []*efg.Process
		var want [][][2]uint64
		for rank := range 10 {
			s, defs := randomStream(t, rng, events)
			if err := s.AddCheckpoints(defs, uint64(events/7)); err != nil {
				t.Fatal(err)
			}
			times := [][2]uint64(nil)
			if rank != 3 {
				times = traced(t, rng, s, defs)
			}
			if n := []uint64{0, 1, s.Events / 7, s.Events / 2, 0, s.Events - 1}; round >= 2 && rank >= 4 {
				times = times[:n[rank-4]]
				endTimes(t, s, defs, uint64(len(times)))
			}
			want = append(want, times)
			procs = append(procs, &efg.Process{Rank: rank, Size: 10, Defs: defs, Streams: []efg.Stream{*s}})
		}
		meta := Meta{Time: "trace"}
		data := encode(t, procs, meta)
		checkTraces(t, data, want)
		dir := t.TempDir()
		a, b, whole := filepath.Join(dir, "a.efg"), filepath.Join(dir, "b.efg"), filepath.Join(dir, "c.efg")
		for path, part := range map[string][]*efg.Process{a: {procs[0], procs[9], procs[5]}, b: {procs[1], procs[2], procs[3], procs[4], procs[6], procs[7], procs[8]}} {
			if err := WriteRun(path, part, meta); err != nil {
				t.Fatal(err)
			}
		}
		if err := MergeRuns(whole, []string{b, a}); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, whole); !bytes.Equal(got, data) {
			t.Errorf("%d events: merged parts are another file", events)
		}
	}
}

func checkTraces(t *testing.T, data []byte, want [][][2]uint64) {
	t.Helper()
	r, err := NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(r); err != nil {
		t.Fatal(err)
	}
	var again []*efg.Process
	for i := range r.Procs {
		p, err := r.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		again = append(again, p)
		s := &p.Streams[0]
		if (s.Trace == nil) != (want[i] == nil) {
			t.Fatalf("rank %d: times: %v", i, s.Trace)
		}
		if s.Trace == nil {
			continue
		}
		for _, from := range []uint64{0, s.Events / 3, s.Events / 2, s.Events - 1} {
			checkClock(t, s, p.Defs, from, want[i])
		}
		if err := s.LoadTimes(); err != nil {
			t.Fatal(err)
		}
		checkClock(t, s, p.Defs, s.Events/2, want[i])
	}
	if !bytes.Equal(encode(t, again, r.Meta), data) {
		t.Error("what was read makes another file")
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
