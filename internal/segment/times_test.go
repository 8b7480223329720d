package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/efg-tools/efg/efg"
)

// irregularTimes are events whose times are spread like a program's: mostly
// microseconds, sometimes next to nothing, sometimes seconds.
func irregularTimes(n int) []timed {
	r := rand.New(rand.NewPCG(7, 8))
	events := make([]timed, n)
	interval := func() uint64 {
		switch r.IntN(200) {
		case 0:
			return r.Uint64() >> (30 + r.IntN(34))
		case 1:
			return 0
		}
		return 20 + uint64(r.ExpFloat64()*float64(uint64(50)<<r.IntN(12)))
	}
	for i := range events {
		events[i] = timed{Site: 1 + r.Uint64N(5), Gap: interval(), Dur: interval()}
	}
	return events
}

// The recorder keeps every interval as it was, over a million events.
func TestTraceKeepsTheClock(t *testing.T) {
	events := irregularTimes(1_000_000)
	s := recordTimed(t, "trace=500", events)
	if s.Trace == nil || s.Trace.Error != 0 || s.Trace.Begin == 0 {
		t.Fatalf("%+v", s.Trace)
	}
	checkFirstTimes(t, s, events, len(events))
}

// Rounding keeps each interval within the error, and each start and end within the bound.
func TestQuantizeKeepsTheClock(t *testing.T) {
	events := irregularTimes(200_000)
	for _, parts := range []uint32{500, 10, 100, 2500} {
		s := recordTimed(t, "trace=500", events)
		if err := s.Quantize(parts, efg.DefaultBound); err != nil {
			t.Fatal(err)
		}
		if s.Trace.Error != parts || s.Trace.Bound != efg.DefaultBound {
			t.Fatalf("%d parts: %+v", parts, s.Trace)
		}
		checkClock(t, s, events)
	}
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// checkClock demands of the stream's clock what efg/FORMAT.md states: no interval is
// off by more than the error, no start and no end by more than the bound.
func checkClock(t *testing.T, s *efg.Stream, events []timed) {
	t.Helper()
	clock, err := efg.NewClock(s)
	if err != nil {
		t.Fatal(err)
	}
	site := map[uint64]uint32{}
	for i := range s.Nodes {
		site[s.Nodes[i].Words[1]] = uint32(i)
	}
	var now, last, farthest uint64
	for i, e := range events {
		start, end, err := clock.Next(site[e.Site])
		if err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
		gap, dur := start-last, end-start
		if 10_000*distance(gap, e.Gap) > e.Gap*uint64(s.Trace.Error) || 10_000*distance(dur, e.Dur) > e.Dur*uint64(s.Trace.Error) {
			t.Fatalf("event %d: gap %d for %d, duration %d for %d", i, gap, e.Gap, dur, e.Dur)
		}
		farthest = max(farthest, distance(start, now+e.Gap), distance(end, now+e.Gap+e.Dur))
		now += e.Gap + e.Dur
		last = end
	}
	if farthest > efg.DefaultBound {
		t.Errorf("the clock is off by %d ns", farthest)
	}
}

// checkFirstTimes demands that the first n events, and no others, have their times, as they were.
func checkFirstTimes(t *testing.T, s *efg.Stream, events []timed, n int) {
	t.Helper()
	if got := s.TimedEvents(); got != uint64(n) {
		t.Fatalf("%d of %d events have times, not %d", got, s.Events, n)
	}
	want := map[uint64]*efg.Times{}
	for i := range s.Nodes {
		want[s.Nodes[i].Words[1]] = &efg.Times{}
	}
	for _, e := range events[:n] {
		want[e.Site].Gap.Append(e.Gap)
		want[e.Site].Dur.Append(e.Dur)
	}
	for i := range s.Nodes {
		node := &s.Nodes[i]
		w := want[node.Words[1]]
		if !bytes.Equal(node.Times.Gap.Code(), w.Gap.Code()) || !bytes.Equal(node.Times.Dur.Code(), w.Dur.Code()) {
			t.Fatalf("node %d: the recorder's intervals are others", i)
		}
	}
}

// checkStats demands that statistics are of all events.
func checkStats(t *testing.T, s *efg.Stream, events []timed) {
	t.Helper()
	want := map[uint64]*efg.Stats{}
	for _, e := range events {
		st := want[e.Site]
		if st == nil {
			st = &efg.Stats{}
			want[e.Site] = st
		}
		addTo(&st.Dur, st.Count, e.Dur)
		addTo(&st.Gap, st.Count, e.Gap)
		st.Count++
	}
	for i := range s.Nodes {
		if st := want[s.Nodes[i].Words[1]]; *s.Nodes[i].Stats != *st {
			t.Errorf("node %d: %+v\nwant %+v", i, *s.Nodes[i].Stats, *st)
		}
	}
}

// pairBytes is how many bytes the times of an event take in a segment.
func pairBytes(e timed) int { return 1 + (bits.Len64(e.Gap|1)+7)/8 + (bits.Len64(e.Dur|1)+7)/8 }

// The times of the first events are kept, until those of the next one do not fit into the budget;
// statistics are of all.
func TestTimesEndWithTheBudget(t *testing.T) {
	events := irregularTimes(60_000)
	for _, budget := range []int{0, 64, 4096, 5000, 100_000, 1 << 20} {
		mode := fmt.Sprintf("trace=500,%d", budget)
		if budget == 0 {
			mode = "trace=500"
		}
		s := recordTimed(t, mode, events)
		timed, bytes := int(s.TimedEvents()), 0
		checkFirstTimes(t, s, events, timed)
		checkStats(t, s, events)
		for _, e := range events[:timed] {
			bytes += pairBytes(e)
		}
		switch {
		case budget == 0 || budget == 1<<20:
			if timed != len(events) {
				t.Errorf("budget of %d bytes: %d bytes of %d events", budget, bytes, timed)
			}
		case bytes > budget || bytes < budget*9/10-64: // the ends of chunks remain empty
			t.Errorf("budget of %d bytes: %d bytes of %d events", budget, bytes, timed)
		}
		if err := s.Quantize(500, efg.DefaultBound); err != nil || s.TimedEvents() != uint64(timed) {
			t.Errorf("budget of %d bytes: %v, times of %d events after rounding", budget, err, s.TimedEvents())
		}
	}
}

// Where space is short, the times of a limited budget end early enough for all events to be recorded.
func TestTimesLeaveSpace(t *testing.T) {
	events := irregularTimes(1_000_000)
	most := uint64(0) // bytes of all times
	for _, e := range events {
		most += uint64(pairBytes(e))
	}
	for _, c := range []struct {
		name, memory, limits string
		most                 uint64 // that times may take
	}{
		{"file system", "4m", "", 3 << 20},
		{"file size", "64m", "ulimit -f 4096;", 1 << 20}, // 512 bytes each
		{"address space", "64m", "ulimit -v 65536;", 1 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := memory(t, c.memory)
			timedSegmentIn(t, dir, c.limits, "trace=500,33554432", events, "")
			segment := onlySegment(t, dir)
			s := &segment.Process.Streams[0]
			if s.Dropped != 0 || segment.Header.Full != 0 || s.Events != uint64(len(events)) {
				t.Fatalf("%d events and %d dropped of %d", s.Events, s.Dropped, len(events))
			}
			timed, bytes := int(s.TimedEvents()), uint64(0)
			checkFirstTimes(t, s, events, timed)
			checkStats(t, s, events)
			for _, e := range events[:timed] {
				bytes += uint64(pairBytes(e))
			}
			if bytes > c.most || bytes < c.most/2 {
				t.Errorf("the times of %d events take %d bytes of %d, want up to %d", timed, bytes, most, c.most)
			}
		})
	}
}

// A process that is killed before its times end, at that moment or later leaves all its events, and
// the times of those that have some.
func TestKilledWhenTimesEnd(t *testing.T) {
	events := irregularTimes(3000)
	const mode = "trace=500,4096"
	last := int(recordTimed(t, mode, events).TimedEvents())
	for _, n := range []int{1, last - 1, last, last + 1, last + 100} {
		dir := timedSegment(t, mode, events, fmt.Sprint(n))
		s := &onlySegment(t, dir).Process.Streams[0]
		if s.End != efg.EndOpen || s.Events != uint64(n) {
			t.Fatalf("killed after %d events: %d, %v", n, s.Events, s.End)
		}
		checkFirstTimes(t, s, events, min(n, last))
		checkStats(t, s, events[:n])
		if n != last {
			continue
		}
		// As if it had been killed when the end was stored, and the event not yet published.
		files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		at := int(binary.LittleEndian.Uint32(data[unsafe.Offsetof(Header{}.Streams):]))*RefUnit + int(unsafe.Offsetof(Stream{}.TimesEnd))
		for end, fails := range map[uint64]bool{uint64(n) + 1: false, uint64(n): false, uint64(n) + 2: false, 1: false} {
			binary.LittleEndian.PutUint64(data[at:], end)
			again, err := Parse(data)
			if (err != nil) != fails {
				t.Fatalf("end of times at %d: %v", end, err)
			}
			checkFirstTimes(t, &again.Process.Streams[0], events, min(int(end)-1, n))
		}
	}
}

// takeTimes demands that each event of a stream has its times, if any has and the budget was
// sufficient, and that clocks do not go back. It takes them away, so that the rest can be compared.
func takeTimes(t testing.TB, s *efg.Stream, defs []efg.Def) {
	t.Helper()
	if s.Trace == nil {
		return
	}
	clock, err := efg.NewClock(s)
	if err != nil {
		t.Fatal(err)
	}
	var last, times uint64
	w := s.Walk(defs)
	for range s.TimedEvents() {
		w.Next()
		start, end, err := clock.Next(uint32(w.Node()))
		if err != nil || start < last || end < start {
			t.Fatalf("event %d: from %d to %d after %d: %v", w.Seq(), start, end, last, err)
		}
		last = end
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		times += n.Times.Gap.Len() + n.Times.Dur.Len()
		n.Times, n.Stats = nil, nil
	}
	if times != 2*s.TimedEvents() {
		t.Fatalf("%d intervals of %d events", times, s.Events)
	}
	s.Trace = nil
}

// Space that ends in the middle of the times ends the recording, too.
func TestTraceWithoutSpace(t *testing.T) {
	p := large(12)
	for _, limit := range []int{600, 2000} {
		feederRun{name: "plain", p: p, limits: fmt.Sprintf("ulimit -f %d;", limit), env: []string{"EFG_TIME=trace=500"}}.
			run(t, build(t, "days", "-O2")).stopped(t, p, syscall.EFBIG)
	}
}
