package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// timed is an event of testdata/times.c: its callsite and its times in ns.
type timed struct{ Site, Gap, Dur uint64 }

// recordTimed has the C recorder record the events.
func recordTimed(t *testing.T, mode string, events []timed) *efg.Stream {
	t.Helper()
	return &onlySegment(t, timedSegment(t, mode, events, "")).Process.Streams[0]
}

// timedSegment returns the directory with the segment of the events; the process kills itself
// after some if a number is given.
func timedSegment(t *testing.T, mode string, events []timed, killed string) string {
	t.Helper()
	dir := t.TempDir()
	timedSegmentIn(t, dir, "", mode, events, killed)
	return dir
}

// timedSegmentIn does so in a directory, after a shell's command that sets limits.
func timedSegmentIn(t *testing.T, dir, limits, mode string, events []timed, killed string) {
	t.Helper()
	var in bytes.Buffer
	if err := binary.Write(&in, binary.LittleEndian, events); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", limits+` exec "$0" "$@"`, build(t, "times", "-O2"))
	cmd.Args = append(cmd.Args, strings.Fields(killed)...)
	cmd.Stdin = &in
	cmd.Env = append(os.Environ(), "EFG_DIR="+dir, "EFG_TIME="+mode)
	if out, err := cmd.CombinedOutput(); err != nil && killed == "" {
		t.Fatalf("%v\n%s", err, out)
	}
}

func addTo(v *efg.Interval, count, ns uint64) {
	if count == 0 {
		v.Min = ns
	}
	v.Sum += ns
	v.Min = min(v.Min, ns)
	v.Max = max(v.Max, ns)
	v.Bins[min(max(bits.Len64(ns)-4, 0), len(v.Bins)-1)]++
}

// Each event's times are in its node's sums and bins, also where bins go beyond
// what a byte, and two, can hold.
func TestStatsCountEachEvent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var events []timed
	for range 300_000 {
		e := timed{Site: 2, Gap: 100 + r.Uint64N(30), Dur: 1000}
		if r.IntN(3) == 0 {
			e = timed{Site: 3, Gap: 1 << r.Uint64N(40), Dur: r.Uint64() >> (20 + r.IntN(44))}
		}
		events = append(events, e)
	}
	want := map[uint64]*efg.Stats{2: {}, 3: {}}
	for _, e := range events {
		st := want[e.Site]
		addTo(&st.Dur, st.Count, e.Dur)
		addTo(&st.Gap, st.Count, e.Gap)
		st.Count++
	}
	s := recordTimed(t, "stats", events)
	for i := range s.Nodes {
		if st := want[s.Nodes[i].Words[1]]; st != nil && *s.Nodes[i].Stats != *st {
			t.Errorf("node %d: %s", i, fmt.Sprintf("%+v\nwant %+v", *s.Nodes[i].Stats, *st))
		}
	}
	if len(s.Nodes) != 2 || s.Events != uint64(len(events)) {
		t.Errorf("%d nodes, %d events", len(s.Nodes), s.Events)
	}
}
