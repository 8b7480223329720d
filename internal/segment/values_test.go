package segment

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// valuesOf sums up what each counter counted at each event of the only stream, and demands of each node that its sums are those of its
// events.
func valuesOf(t *testing.T, s *Segment) []efg.NodeCounter {
	t.Helper()
	st := &s.Process.Streams[0]
	if node, err := efg.CheckTimes(st); err != nil {
		t.Fatalf("node %d: %v", node, err)
	}
	if node, err := efg.CheckValues(st); err != nil {
		t.Fatalf("node %d: %v", node, err)
	}
	sums := make([]efg.NodeCounter, len(s.Process.Counters))
	for i := range st.Nodes {
		for k := range st.Nodes[i].Times.Values {
			it := st.Nodes[i].Times.Values[k].Iter()
			for v, ok := it.Next(); ok; v, ok = it.Next() {
				if v.Counted {
					sums[k].Count++
					sums[k].Call.Sum += v.Call
					sums[k].Before.Sum += v.Before
				}
			}
		}
	}
	return sums
}

// Each event has what the program itself counted, whatever the kernel does meanwhile, and the nodes have its sums.
func TestValuesOfHardware(t *testing.T) {
	for _, mode := range []string{"", "few", "limited"} {
		for _, time := range []string{"trace=0", "trace=500", "trace=500,100000000"} {
			want, s := countWithTime(t, time, true, twoEvents, "20000", mode)
			if got := s.Process.Streams[0].Trace.Counters; got != 2 {
				t.Fatalf("%q: values of %d counters", mode, got)
			}
			checkTallies(t, s, 20000, want)
			checkEach(t, s, false)
			for k, sums := range valuesOf(t, s) {
				if sums.Count != 20000 || sums.Call.Sum != want[k][0] || sums.Before.Sum != want[k][1] {
					t.Errorf("%q: counter %d: values of %d events, %d in calls, %d before; want %d", mode, k, sums.Count, sums.Call.Sum, sums.Before.Sum, want[k])
				}
			}
		}
	}
}

// Events have values of the counters that could be read, and of no others.
func TestValuesNotCounted(t *testing.T) {
	for _, mode := range []string{"refused", "slow"} {
		_, s := countWithTime(t, "trace=0", true, twoEvents+",task-clock:ns:257:0", "1000", mode)
		for k, sums := range valuesOf(t, s) {
			if want := []uint64{0, 0, 1000}[k]; sums.Count != want {
				t.Errorf("%s: counter %d has values of %d events, not %d", mode, k, sums.Count, want)
			}
		}
	}
	_, s := countWithTime(t, "trace=0", true, bothFaults, "5000", "closed")
	want := uint64(2500)
	if s.Process.Counters[0].State == efg.CounterFailed {
		want = 0 // perf events are not allowed here
	}
	if sums := valuesOf(t, s); sums[0].Count != want || sums[1].Count != 5000 {
		t.Errorf("values of %d and %d events", sums[0].Count, sums[1].Count)
	}
}

// Values end with the times, when these and the values have taken their budget; sums are of all events.
func TestValuesEndWithTheTimes(t *testing.T) {
	counters := twoEvents
	for range 3 {
		counters += "," + twoEvents
	}
	for _, budget := range []string{"64", "192", "1000", "5000", "50000"} {
		want, s := countWithTime(t, "trace=0,"+budget, true, counters, "5000")
		checkTallies(t, s, 5000, want)
		timed := s.Process.Streams[0].TimedEvents()
		if timed == 5000 || (timed == 0) != (budget == "64") {
			t.Errorf("budget of %s bytes: times of %d events", budget, timed)
		}
		for k, sums := range valuesOf(t, s) {
			if sums.Count != timed {
				t.Errorf("budget of %s bytes: counter %d has values of %d events, times are of %d", budget, k, sums.Count, timed)
			}
		}
	}
}

// Without times of each event, without counters, or if they were not requested, there are no values.
func TestNoValues(t *testing.T) {
	for _, c := range []struct {
		time, counters string
		values         bool
	}{{"trace=0", twoEvents, false}, {"stats", twoEvents, true}, {"trace=0", "", true}} {
		_, s := countWithTime(t, c.time, c.values, c.counters, "1000")
		if trace := s.Process.Streams[0].Trace; trace != nil && trace.Counters != 0 {
			t.Errorf("%+v: values of %d counters", c, trace.Counters)
		}
		if node, err := efg.CheckTimes(&s.Process.Streams[0]); err != nil {
			t.Errorf("%+v: node %d: %v", c, node, err)
		}
	}
}

// checkEach demands that the events of testdata/pmu.c, perhaps with the mode "small", have what was counted at each of them.
func checkEach(t *testing.T, s *Segment, small bool) {
	t.Helper()
	st := &s.Process.Streams[0]
	if node, err := efg.CheckTimes(st); err != nil {
		t.Fatalf("node %d: %v", node, err)
	}
	c, err := st.ClockFrom(0)
	if err != nil {
		t.Fatal(err)
	}
	w := st.Walk(nil)
	for k := range st.TimedEvents() {
		if !w.Next() {
			t.Fatal(w.Err())
		}
		if _, _, err := c.Next(uint32(w.Node())); err != nil {
			t.Fatal(err)
		}
		for i, v := range c.Values() {
			n := uint64(i)
			want := efg.CounterValue{Before: (k*7919 + n) % 1000, Call: k*31%77 + n, Counted: true}
			if k%50 == 3 && !small {
				want.Before *= 1_000_000_007
			}
			if v != want {
				t.Fatalf("event %d of %d: counter %d: %+v, want %+v", k, st.Events, i, v, want)
			}
		}
	}
}

// A reader finds all values of the events that are published: while the recorder continues, and when it was killed anywhere.
func TestValuesUntilKilled(t *testing.T) {
	exe := build(t, "pmu", "-O2", "-Itestdata", "-include", "pmu.h", "-Wl,--wrap=syscall")
	for round := range uint64(6) {
		dir := t.TempDir()
		cmd := exec.Command(exe, "2000000000", "small")
		cmd.Env = []string{"EFG_DIR=" + dir, "EFG_TIME=trace=0", "EFG_COUNTER_VALUES=1", "EFG_COUNTERS=" + twoEvents}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for events := uint64(0); events < 1+20_000*round; {
			files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
			if len(files) == 0 {
				continue
			}
			s, err := ReadFile(files[0])
			if errors.Is(err, ErrNotSegment) {
				continue
			}
			if err != nil {
				cmd.Process.Kill()
				t.Fatal(err)
			}
			if len(s.Process.Streams) > 0 && s.Process.Streams[0].Events > 0 {
				events = s.Process.Streams[0].Events
				checkEach(t, s, true)
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
		s := onlySegment(t, dir)
		checkEach(t, s, true)
		if node, err := efg.CheckValues(&s.Process.Streams[0]); err != nil {
			t.Errorf("node %d: %v", node, err)
		}
	}
}

// FuzzValues reads chunks of any content: each event that is found is complete.
func FuzzValues(f *testing.F) {
	f.Add([]byte{0x11, 5, 7, 3, 0x11, 1, 2, 0x21, 3, 0, 4, 0x11, 6, 8, 0, 0x11}, uint8(2))
	f.Fuzz(func(t *testing.T, chunk []byte, counters uint8) {
		out := &efg.Times{Values: make([]efg.CounterValues, counters%(MaxCounters+1))}
		addEvents(out, chunk)
		if out.Gap.Len() != out.Dur.Len() {
			t.Errorf("%d gaps, %d durations", out.Gap.Len(), out.Dur.Len())
		}
		for i := range out.Values {
			if out.Values[i].Len() != out.Gap.Len() {
				t.Errorf("counter %d: values of %d events of %d", i, out.Values[i].Len(), out.Gap.Len())
			}
		}
	})
}
