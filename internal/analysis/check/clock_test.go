package check

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// timed is a call with the µs at which it begins and ends.
type timed struct {
	in       efg.Input
	from, to uint64
}

func at(from, to uint64, in efg.Input) timed { return timed{in, from, to} }

func collective(op string, count uint64) efg.Input {
	return efg.Input{Words: coll{op: op, count: count, sum: "MPI_SUM"}.words()}
}

func blocking(op string) efg.Input { return message(op, constant("MPI_INT"), false) }

// waitFor completes the request of a node.
func waitFor(node uint32) efg.Input {
	p := signature.ProcByName("MPI_Wait")
	w := make([]uint64, len(p.Words))
	w[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(w), 0))
	for i := signature.ObjectWord; i < len(w); i++ {
		w[i] = signature.AsPosted
		if q := p.Words[i].Param; q >= 0 && p.Params[q].Kind == signature.Req {
			w[i] = signature.ID{Node: node}.Word()
		}
	}
	return efg.Input{Words: w}
}

// timedProcesses are processes on some hosts.
func timedProcesses(t *testing.T, hosts string, ranks ...[]timed) []*efg.Process {
	t.Helper()
	var procs []*efg.Process
	for rank, list := range ranks {
		var calls []efg.Input
		intervals, last := []uint64{1000, 1000}, uint64(2000)
		for _, c := range list {
			calls = append(calls, c.in)
			intervals = append(intervals, 1000*c.from-last, 1000*(c.to-c.from))
			last = 1000 * c.to
		}
		intervals = append(intervals, 5000, 1000)
		p := processOf(t, rank, len(ranks), calls)
		p.Host = hosts[rank : rank+1]
		err := sim.GiveTimes(p, func() uint64 { return 1_000_000_000 }, func() uint64 {
			next := intervals[0]
			intervals = intervals[1:]
			return next
		})
		if err != nil {
			t.Fatal(err)
		}
		procs = append(procs, p)
	}
	return procs
}

// timedRun checks processes on some hosts.
func timedRun(t *testing.T, hosts string, ranks ...[]timed) []string {
	t.Helper()
	r := checkProcesses(t, timedProcesses(t, hosts, ranks...), traced)
	if r.Faults() > 0 {
		t.Errorf("faults: %+v", r.Findings)
	}
	var list []string
	for _, f := range r.Findings {
		list = append(list, fmt.Sprintf("%s: rank %d event %d %s x%d on %v %s", f.Kind, f.Rank, f.Event, f.Op, f.Count, f.Ranks, f.Text))
	}
	return list
}

var traced = runfile.Meta{Time: runfile.TraceTime(efg.ErrorUnit/100, 0)}

var micros = regexp.MustCompile(`\d+µs`)

// Each kind of contradiction is found, and apparent ones are not.
func TestTimesContradict(t *testing.T) {
	barrier, sum := collective("MPI_Barrier", 0), collective("MPI_Allreduce", 1)
	for _, c := range []struct {
		name  string
		hosts string
		ranks [][]timed
		want  string
	}{
		{"barrier", "aaa", [][]timed{{at(100, 900, barrier)}, {at(100, 300, barrier)}, {at(800, 900, barrier)}},
			"rank 1 event 1 MPI_Barrier x1 on [1] is over some µs before rank 2 begins the MPI_Barrier that it needs (event 1, "},
		{"barriers", "aa", [][]timed{{at(100, 200, barrier), at(300, 400, barrier)}, {at(500, 600, barrier), at(700, 800, barrier)}},
			"rank 0 event 1 MPI_Barrier x2 on [0] is over some µs before rank 1 begins"},
		{"sum", "aa", [][]timed{{at(100, 900, sum)}, {at(950, 990, sum)}}, "rank 0 event 1 MPI_Allreduce x1"},
		{"nothing to sum", "aa", [][]timed{{at(100, 300, collective("MPI_Allreduce", 0))}, {at(800, 900, collective("MPI_Allreduce", 0))}}, ""},
		{"broadcast", "aa", [][]timed{{at(100, 300, collective("MPI_Bcast", 1))}, {at(800, 900, collective("MPI_Bcast", 1))}}, ""},
		{"hosts", "ab", [][]timed{{at(100, 300, barrier)}, {at(800, 900, barrier)}}, ""},
		{"one host of two", "aba", [][]timed{{at(100, 300, barrier)}, {at(10, 20, barrier)}, {at(800, 900, barrier)}}, "rank 0 event 1"},
		{"not exact", "aa", [][]timed{{at(100, 300, barrier)}, {at(302, 400, barrier)}}, ""},
		{"good", "aa", [][]timed{{at(100, 900, barrier)}, {at(800, 810, barrier)}}, ""},
		{"synchronous", "aa", [][]timed{{at(100, 300, blocking("MPI_Ssend"))}, {at(800, 900, blocking("MPI_Recv"))}},
			"rank 0 event 1 MPI_Ssend x1 on [0] is complete for a synchronous send some µs before rank 1 begins the MPI_Recv"},
		{"posted", "aa", [][]timed{{at(100, 300, blocking("MPI_Ssend"))}, {at(200, 210, blocking("MPI_Irecv")), at(800, 900, waitFor(1))}}, ""},
		{"standard", "aa", [][]timed{{at(100, 300, blocking("MPI_Send"))}, {at(800, 900, blocking("MPI_Recv"))}}, ""},
		{"completed", "aa", [][]timed{{at(100, 110, blocking("MPI_Issend")), at(200, 300, waitFor(1))}, {at(800, 900, blocking("MPI_Recv"))}},
			"rank 0 event 2 MPI_Wait x1 on [0] is complete for a synchronous send some µs before"},
		{"completed later", "aa", [][]timed{{at(100, 110, blocking("MPI_Issend")), at(200, 900, waitFor(1))}, {at(800, 950, blocking("MPI_Recv"))}}, ""},
		{"receive", "aa", [][]timed{{at(800, 900, blocking("MPI_Send"))}, {at(100, 300, blocking("MPI_Recv"))}},
			"rank 1 event 1 MPI_Recv x1 on [1] got a message some µs before rank 0 begins the MPI_Send"},
		{"receive completed", "aa", [][]timed{{at(800, 900, blocking("MPI_Isend")), at(950, 960, waitFor(1))}, {at(100, 110, blocking("MPI_Irecv")), at(120, 300, waitFor(1))}},
			"rank 1 event 2 MPI_Wait x1 on [1] got a message some µs before rank 0 begins the MPI_Isend"},
	} {
		got := micros.ReplaceAllString(strings.Join(timedRun(t, c.hosts, c.ranks...), "; "), "some µs")
		if c.want == "" && got != "" || !strings.HasPrefix(strings.TrimPrefix(got, string(TimesContradict)+": "), c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// farApart makes two ranks, each of which begins with n calls that the other answers only after
// its own, and a barrier that the first leaves before the second enters it.
func farApart(n uint64) (out, in []timed) {
	tagged := func(op string, tag uint64) efg.Input {
		in := blocking(op)
		p := signature.ProcByName(op)
		for i := range p.Words {
			if p.Words[i].Name == "tag" || p.Words[i].Part == signature.MessageTag {
				in.Words[i] = tag
			}
		}
		return in
	}
	for i := range n {
		out = append(out, at(10+20*i, 15+20*i, tagged("MPI_Send", 1)))
		in = append(in, at(90_000+20*i, 90_010+20*i, tagged("MPI_Recv", 2)))
	}
	for i := range n {
		out = append(out, at(80_000+20*i, 80_010+20*i, tagged("MPI_Send", 2)))
		in = append(in, at(190_000+20*i, 190_010+20*i, tagged("MPI_Recv", 1)))
	}
	out = append(out, at(500_000, 500_010, collective("MPI_Barrier", 0)))
	in = append(in, at(600_000, 600_010, collective("MPI_Barrier", 0)))
	return out, in
}

// Processes that are far apart are compared to the end.
func TestFarApart(t *testing.T) {
	const n = 3 * firstLimit
	out, in := farApart(n)
	if got := timedRun(t, "aa", out, in); len(got) != 1 || !strings.Contains(got[0], fmt.Sprintf("rank 0 event %d MPI_Barrier", 2*n+1)) {
		t.Errorf("%q", got)
	}
}

// If processes are too far apart to be compared to the end, the report says from where on they
// are not.
func TestTooFarApart(t *testing.T) {
	const n = 3 * firstLimit
	out, in := farApart(n)
	b := newBuilder(testrun.Of(t, timedProcesses(t, "aa", out, in), traced), nil)
	b.furthest = 4 * firstLimit
	r, err := b.check()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range r.Uncompared {
		got = append(got, fmt.Sprintf("rank %d event %d: %d calls, %s", u.Rank, u.Event, u.Calls, u.Text))
	}
	// Both get to the first limit. Event 0 is MPI_Init, the last two are the barrier and
	// MPI_Finalize.
	const event, calls = 1 + firstLimit, 2*n + 2 - firstLimit
	const text = "some processes are more than 1024 calls on a communicator or channel ahead of others"
	want := []string{fmt.Sprintf("rank 0 event %d: %d calls, %s", event, calls, text), fmt.Sprintf("rank 1 event %d: %d calls, %s", event, calls, text)}
	if len(r.Findings) > 0 || !slices.Equal(got, want) {
		t.Errorf("%q, want %q; found %+v", got, want, r.Findings)
	}
}

// Both parts of the work report their progress.
func TestProgress(t *testing.T) {
	out, in := farApart(3 * firstLimit)
	last := map[string][2]uint64{}
	progress := func(what string, done, total uint64) {
		if done <= last[what][0] || done > total {
			t.Errorf("%d of %d %s after %d", done, total, what, last[what][0])
		}
		last[what] = [2]uint64{done, total}
	}
	if _, err := New(testrun.Of(t, timedProcesses(t, "aa", out, in), traced), progress); err != nil {
		t.Fatal(err)
	}
	events := uint64(2 * (6*firstLimit + 3))
	want := map[string][2]uint64{"ranks": {2, 2}, "events": {events / progressEvery * progressEvery, events}}
	if !maps.Equal(last, want) {
		t.Errorf("%v, want %v", last, want)
	}
}

// TestTracedPrograms records the times of programs: they do not contradict each other.
func TestTracedPrograms(t *testing.T) {
	var list []testrun.Program
	for _, source := range []string{"jacobi", "coll", "farm", "amr", "halo3d", "posted", "threads", "persistent", "probes", "comms", "eager"} {
		list = append(list, testrun.Program{Source: "c/" + source + ".c", Time: "trace"})
	}
	testrun.Record(t, list, func(t *testing.T, r *testrun.Recording) {
		if got := checkRecorded(t, r.Run, ""); len(got.Findings) > 0 {
			t.Errorf("%+v", got.Findings)
		}
	})
}

// FuzzTimes changes processes with times at random: the check ends, with or without an
// error.
func FuzzTimes(f *testing.F) {
	f.Add(byte(0), []byte{})
	f.Add(byte(1), []byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789"))
	f.Add(byte(2), []byte("abcdefghijklmnopqrstuvwxyz\x00\x01\x02\x03\x04\x05\x06\x07\x08"))
	f.Fuzz(func(t *testing.T, program byte, changes []byte) {
		c := sim.Config{Program: sim.Programs()[int(program)%len(sim.Programs())], Ranks: 4, Steps: 6, Seed: 1}
		var procs []*efg.Process
		for rank := range c.Ranks {
			p, err := c.Process(rank)
			if err != nil {
				t.Fatal(err)
			}
			p.Host = "a"
			if err := sim.GiveTimes(p, func() uint64 { return 0 }, func() uint64 { return 1000 * uint64(1+rank) }); err != nil {
				t.Fatal(err)
			}
			procs = append(procs, p)
		}
		for n := 0; len(changes) >= 11; n++ {
			alter(procs[n%len(procs)], binary.LittleEndian.Uint16(changes), changes[2], binary.LittleEndian.Uint64(changes[3:]))
			changes = changes[11:]
		}
		var file bytes.Buffer
		if runfile.EncodeRun(&file, procs, runfile.Meta{Time: runfile.TraceTime(efg.ErrorUnit/100, 0)}) != nil {
			return
		}
		run, err := runfile.NewRun(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			return
		}
		if r, err := New(run); err == nil && r == nil {
			t.Error("no report")
		}
	})
}
