package perfetto

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/slices"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// decoded is a decoded message: the values of each field, texts or messages.
type decoded map[string][]any

func (m decoded) text(field string) string {
	if len(m[field]) == 0 {
		return ""
	}
	s, _ := m[field][0].(string)
	return s
}

func (m decoded) sub(field string) decoded {
	if len(m[field]) == 0 {
		return nil
	}
	s, _ := m[field][0].(decoded)
	return s
}

func (m decoded) number(field string) uint64 {
	n, _ := strconv.ParseUint(m.text(field), 10, 64)
	return n
}

var unknown = regexp.MustCompile(`(?m)^\s*\d+(:| {)`)

// decode decodes a trace with protoc.
func decode(t *testing.T, trace []byte) decoded {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "protoc", "--decode=perfetto.protos.Trace", "-I", "testdata", "trace.proto")
	cmd.Stdin = bytes.NewReader(trace)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if at := unknown.Find(out); at != nil {
		t.Fatalf("an unknown field: %s", at)
	}
	stack := []decoded{{}}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		top := stack[len(stack)-1]
		if name, ok := strings.CutSuffix(line, " {"); ok {
			m := decoded{}
			top[name] = append(top[name], m)
			stack = append(stack, m)
		} else if line == "}" {
			stack = stack[:len(stack)-1]
		} else if name, value, ok := strings.Cut(line, ": "); ok {
			top[name] = append(top[name], strings.Trim(value, `"`))
		}
	}
	return stack[0]
}

func write(t *testing.T, run *runfile.Run, most uint64) decoded {
	t.Helper()
	job := &export.Job{Run: run, Selection: export.Selection{Thread: -1}}
	for i := range run.Procs {
		job.Procs = append(job.Procs, i)
	}
	var out bytes.Buffer
	if _, err := Write(&out, job, most); err != nil {
		t.Fatal(err)
	}
	return decode(t, out.Bytes())
}

// checker follows the rules of tracks: tracks are described before they are used, slices are closed,
// in order and one inside another, texts are defined before they are referred to.
type checker struct {
	tracks   map[uint64]decoded
	interned map[string]string // by sequence, list and number
	open     map[uint64][]uint64
	last     map[uint64]uint64
	begun    map[string]int // flows
	finished map[string]int
	calls    []string // rank, thread, seq, name, begin
}

func check(t *testing.T, trace decoded) *checker {
	t.Helper()
	c := &checker{map[uint64]decoded{}, map[string]string{}, map[uint64][]uint64{}, map[uint64]uint64{}, map[string]int{}, map[string]int{}, nil}
	for _, p := range trace["packet"] {
		packet, ok := p.(decoded)
		if !ok {
			t.Fatal("a packet is not a message")
		}
		if d := packet.sub("track_descriptor"); d != nil {
			if parent := d.number("parent_uuid"); parent != 0 && c.tracks[parent] == nil {
				t.Errorf("track %d: its parent is not described", d.number("uuid"))
			}
			if c.tracks[d.number("uuid")] != nil {
				t.Errorf("track %d is described twice", d.number("uuid"))
			}
			c.tracks[d.number("uuid")] = d
			continue
		}
		c.define(packet)
		c.event(t, packet)
	}
	for track, open := range c.open {
		if len(open) > 0 {
			t.Errorf("track %d: %d slices are not closed", track, len(open))
		}
	}
	return c
}

func (c *checker) define(packet decoded) {
	for list, entries := range packet.sub("interned_data") {
		for _, e := range entries {
			if m, ok := e.(decoded); ok {
				c.interned[packet.text("trusted_packet_sequence_id")+list+m.text("iid")] = m.text("name") + m.text("str")
			}
		}
	}
}

func (c *checker) event(t *testing.T, packet decoded) {
	e, at := packet.sub("track_event"), packet.number("timestamp")
	track := e.number("track_uuid")
	if c.tracks[track] == nil {
		t.Fatalf("track %d is not described", track)
	}
	if at < c.last[track] {
		t.Errorf("track %d: %d after %d", track, at, c.last[track])
	}
	c.last[track] = at
	switch e.text("type") {
	case "TYPE_SLICE_BEGIN":
		c.open[track] = append(c.open[track], at)
		name := c.interned[packet.text("trusted_packet_sequence_id")+"event_names"+e.text("name_iid")]
		if name == "" {
			t.Errorf("track %d: a slice without a name", track)
		}
		thread := c.tracks[track].sub("thread")
		c.calls = append(c.calls, fmt.Sprintf("%d %s %s %d", thread.number("pid")-1, thread.text("thread_name"), name, at))
		for field, to := range map[string]map[string]int{"flow_ids": c.begun, "terminating_flow_ids": c.finished} {
			for _, f := range e[field] {
				to[fmt.Sprint(f)]++
			}
		}
	case "TYPE_SLICE_END":
		n := len(c.open[track]) - 1
		if n < 0 {
			t.Fatalf("track %d: an end without a begin", track)
		}
		c.open[track] = c.open[track][:n]
	case "TYPE_COUNTER":
		if c.tracks[track].sub("counter") == nil {
			t.Errorf("track %d is no counter", track)
		}
	default:
		t.Errorf("an event of type %s", e.text("type"))
	}
}

// The trace has each call, by the published definitions, and flows of messages and requests.
func TestTrace(t *testing.T) {
	for name, file := range testrun.Texts(t, "../../../efg/text/testdata") {
		run := testrun.Decode(t, file)
		if !run.Traced(0) {
			continue
		}
		c := check(t, write(t, run, 1<<40))
		var want []string
		testrun.EachEvent(t, run, func(_ *reconstruct.Process, e *reconstruct.Event) {
			if start, _, ok := e.Times(); ok {
				want = append(want, fmt.Sprintf("%d thread %d %s %d", e.Rank(), e.Thread(), e.Op(), start))
			}
		})
		if strings.Join(c.calls, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %d calls, want %d, or others", name, len(c.calls), len(want))
		}
	}
	c := check(t, write(t, testrun.Traced(t, sim.Config{Program: "halo", Ranks: 8, Steps: 20}), 1<<40))
	for f, n := range c.finished {
		if n != 1 || c.begun[f] != 1 {
			t.Errorf("flow %s begins %d times, ends %d times", f, c.begun[f], n)
		}
	}
	if len(c.finished) == 0 {
		t.Error("no flows")
	}
}

// Of many calls a bounded number of slices is drawn.
func TestLevelOfDetail(t *testing.T) {
	run := testrun.Traced(t, sim.Config{Program: "halo", Ranks: 4, Steps: 500})
	for _, most := range []uint64{100, 1000, 5000} {
		c := check(t, write(t, run, most))
		if n := uint64(len(c.calls)); n > most || n < most/20 {
			t.Errorf("%d slices, want about %d", n, most)
		}
	}
}

func TestWithoutTimes(t *testing.T) {
	run := testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 4, Steps: 5})
	if _, err := Write(&bytes.Buffer{}, &export.Job{Run: run, Selection: export.Selection{Procs: []int{0}, Thread: -1}}, 100); !errors.Is(err, slices.ErrNoTimes) {
		t.Errorf("%v", err)
	}
}

// What was counted is on a track for each counter, up to the sums of all calls and of what is before them.
func TestCounterTracks(t *testing.T) {
	run := testrun.Decode(t, testrun.Text(t, "testdata/counted.txt"))
	want := map[string]uint64{}
	for i := range run.Procs {
		p, err := run.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range p.Streams[0].Nodes {
			for k, c := range n.Counters {
				want[fmt.Sprintf("%d %s", p.Rank, p.Counters[k].Name)] += c.Before.Sum + c.Call.Sum
			}
		}
	}
	units := map[string]string{"bytes sent": "UNIT_SIZE_BYTES", "page-faults": "UNIT_COUNT", "task-clock": "UNIT_TIME_NS", "max-rss": "KiB"}
	for _, most := range []uint64{1 << 40, 1} { // each call, and calls together
		trace := write(t, run, most)
		c := check(t, trace)
		got := map[string]uint64{}
		for _, p := range trace["packet"] {
			e := p.(decoded).sub("track_event")
			if e.text("type") != "TYPE_COUNTER" {
				continue
			}
			track := c.tracks[e.number("track_uuid")]
			name, counter := track.text("name"), track.sub("counter")
			if unit := counter.text("unit") + counter.text("unit_name"); unit != units[name] {
				t.Errorf("%s: unit %s", name, unit)
			}
			key := fmt.Sprintf("%d %s", c.tracks[track.number("parent_uuid")].sub("thread").number("pid")-1, name)
			if v := e.number("counter_value"); v < got[key] {
				t.Errorf("%s: %d after %d", key, v, got[key])
			}
			got[key] = e.number("counter_value")
		}
		for key, sum := range want {
			if got[key] != sum {
				t.Errorf("%d slices: %s: %d, want %d", most, key, got[key], sum)
			}
		}
	}
}
