package segment

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

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
	want := map[uint64]*efg.Times{}
	for _, e := range events {
		if want[e.Site] == nil {
			want[e.Site] = &efg.Times{}
		}
		want[e.Site].Gap.Append(e.Gap)
		want[e.Site].Dur.Append(e.Dur)
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		w := want[n.Words[1]]
		if !bytes.Equal(n.Times.Gap.Code(), w.Gap.Code()) || !bytes.Equal(n.Times.Dur.Code(), w.Dur.Code()) {
			t.Fatalf("node %d: the recorder's intervals are others", i)
		}
	}
	if len(s.Nodes) != len(want) {
		t.Errorf("%d nodes, not %d", len(s.Nodes), len(want))
	}
}

// Rounding keeps each interval within the error, and each start and end within the bound.
func TestQuantizeKeepsTheClock(t *testing.T) {
	events := irregularTimes(200_000)
	for _, parts := range []uint32{500, 10, 100, 2500} {
		s := recordTimed(t, "trace=500", events)
		if err := s.Quantize(parts, efg.DefaultBound, nil); err != nil {
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

// takeTimes demands that each event of a stream has its times, if any has, and
// that clocks do not go back. It takes them away, so that the rest can be compared.
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
	for w := s.Walk(defs); w.Next(); {
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
	if times != 2*s.Events {
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
