package segment

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// countWith runs testdata/pmu.c and returns what it says that it counted, and its segment.
func countWith(t *testing.T, counters string, args ...string) ([][2]uint64, *Segment) {
	t.Helper()
	return countWithTime(t, "stats", false, counters, args...)
}

// countWithTime is countWith with times of another kind, and perhaps with what was counted at each event.
func countWithTime(t *testing.T, time string, values bool, counters string, args ...string) ([][2]uint64, *Segment) {
	t.Helper()
	exe := build(t, "pmu", "-O2", "-Itestdata", "-include", "pmu.h", "-Wl,--wrap=syscall")
	dir := t.TempDir()
	cmd := exec.Command(exe, args...)
	cmd.Env = []string{"EFG_DIR=" + dir, "EFG_TIME=" + time, "EFG_COUNTERS=" + counters}
	if values {
		cmd.Env = append(cmd.Env, "EFG_COUNTER_VALUES=1")
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
	}
	var sums [][2]uint64
	for line := range strings.Lines(string(out)) {
		var s [2]uint64
		if _, err := fmt.Sscan(line, &s[0], &s[1]); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, s)
	}
	return sums, onlySegment(t, dir)
}

const twoEvents = "instructions::0:1,cycles::0:0"

// checkTallies compares sums, and that the bins have each event.
func checkTallies(t *testing.T, s *Segment, events uint64, want [][2]uint64) {
	t.Helper()
	for i, sums := range want {
		var got efg.NodeCounter
		nodes := s.Process.Streams[0].Nodes
		for n := range nodes {
			got.AddOf(&nodes[n].Counters[i])
		}
		if got.Count != events || got.Call.Sum != sums[0] || got.Before.Sum != sums[1] {
			t.Errorf("counter %d: %d events, %d in calls, %d before; want %d, %d", i, got.Count, got.Call.Sum, got.Before.Sum, events, sums)
		}
		for _, tally := range []*efg.Tally{&got.Call, &got.Before} {
			total := uint64(0)
			for _, n := range tally.Bins {
				total += uint64(n)
			}
			if total != events || tally.Min > tally.Max || tally.Bins[efg.TallyBin(tally.Min)] == 0 || tally.Bins[efg.TallyBin(tally.Max)] == 0 {
				t.Errorf("counter %d: %+v of %d events", i, tally, events)
			}
		}
	}
}

// Counters of the hardware are read as the kernel says, whatever it does meanwhile.
func TestCountersOfHardware(t *testing.T) {
	for _, mode := range []string{"", "few"} {
		sums, s := countWith(t, twoEvents, "20000", mode)
		if len(sums) != 2 {
			t.Fatalf("%d counters", len(sums))
		}
		checkTallies(t, s, 20000, sums)
		for _, c := range s.Process.Counters {
			if c.State != efg.CounterRead {
				t.Errorf("%q: state of %s is %d", mode, c.Name, c.State)
			}
		}
	}
}

// A counter that shared the hardware is marked.
func TestCountersMultiplexed(t *testing.T) {
	_, s := countWith(t, twoEvents, "20000", "limited")
	if a, b := s.Process.Counters[0].State, s.Process.Counters[1].State; a != efg.CounterRead || b != efg.CounterRead|efg.CounterMultiplexed {
		t.Errorf("states %d, %d", a, b)
	}
}

// What cannot be read is marked, and all else is recorded.
func TestCountersRefused(t *testing.T) {
	for mode, state := range map[string]efg.CounterState{"refused": efg.CounterFailed, "slow": efg.CounterRead | efg.CounterFailed} {
		_, s := countWith(t, twoEvents+",task-clock:ns:257:0", "1000", mode)
		for i, want := range []efg.CounterState{state, state, efg.CounterRead} {
			if got := s.Process.Counters[i].State; got != want {
				t.Errorf("%s: state of counter %d is %d, want %d", mode, i, got, want)
			}
		}
		if st := &s.Process.Streams[0]; st.Events != 1000 {
			t.Errorf("%s: %d events", mode, st.Events)
		}
		nodes := s.Process.Streams[0].Nodes
		for n := range nodes {
			if c := nodes[n].Counters; c[0].Count != 0 || c[1].Count != 0 || c[2].Count == 0 {
				t.Errorf("%s: node %d: %d, %d and %d events", mode, n, c[0].Count, c[1].Count, c[2].Count)
			}
		}
	}
}

// What is no list of counters counts nothing, and what follows is not read.
func TestCountersMisspelled(t *testing.T) {
	for text, want := range map[string]int{"x": 0, ":": 0, "a::0": 0, "a::0:1:": 0, "a:ns:257:0,": 1, "a:ns:257:0,b": 1, strings.Repeat("a", 60) + "::257:0": 0, strings.Repeat("a::257:0,", 20): efg.MaxCounters} {
		if _, s := countWith(t, text, "10"); len(s.Process.Counters) != want || s.Process.Streams[0].Events != 10 {
			t.Errorf("%q: %d counters, %d events; want %d", text, len(s.Process.Counters), s.Process.Streams[0].Events, want)
		}
	}
}

// sumsOf sums the counters of all nodes of the only stream.
func sumsOf(s *Segment) []efg.NodeCounter {
	sums := make([]efg.NodeCounter, len(s.Process.Counters))
	nodes := s.Process.Streams[0].Nodes
	for n := range nodes {
		for i := range sums {
			sums[i].AddOf(&nodes[n].Counters[i])
		}
	}
	return sums
}

// bothFaults are page faults as perf events count them, read by read(2), and as getrusage does.
const bothFaults = "faults::1:2,page-faults::256:2"

// A group of events that is read by read(2) has what the kernel itself says.
func TestCountersOfKernel(t *testing.T) {
	_, s := countWith(t, bothFaults, "5000", "real")
	if s.Process.Counters[0].State == efg.CounterFailed && s.Header.Counters[0].Error != 0 {
		return // perf events are not allowed here, which is marked
	}
	sums, touched := sumsOf(s), uint64(5000/10*45)
	for i, c := range sums {
		if c.Count != 5000 || c.Before.Sum < touched || c.Before.Sum > touched+touched/20 {
			t.Errorf("counter %d: %d events, %d page faults of at least %d", i, c.Count, c.Before.Sum, touched)
		}
	}
	if a, b := sums[0].Before.Sum, sums[1].Before.Sum; max(a, b)-min(a, b) > 50 {
		t.Errorf("%d page faults by perf events, %d by getrusage", a, b)
	}
}

// A program that closes all descriptors ends what read(2) reads, and nothing is read from what it opens.
func TestCountersClosed(t *testing.T) {
	_, s := countWith(t, bothFaults, "5000", "closed")
	if s.Process.Counters[0].State == efg.CounterFailed && s.Header.Counters[0].Error != 0 {
		return // perf events are not allowed here, which is marked
	}
	if state := s.Process.Counters[0].State; state != efg.CounterRead|efg.CounterFailed {
		t.Errorf("state %d", state)
	}
	if sums := sumsOf(s); sums[0].Count != 2500 || sums[1].Count != 5000 {
		t.Errorf("%d and %d events were counted", sums[0].Count, sums[1].Count)
	}
}
