package paraver

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/table"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// parsed is a trace, read by the description of the format alone.
type parsed struct {
	length int64
	tasks  []int // threads of each
	comms  map[int64][]int64
	states map[[2]int64][][3]int64 // by task and thread: from, to, state
	events map[[2]int64][][]int64  // time, type, value, type, value …
	sent   [][]int64               // fields of communications
	labels map[[2]int64]string     // by type and value
}

func write(t *testing.T, run *runfile.Run, job *export.Job) string {
	t.Helper()
	dir := t.TempDir()
	for i := range run.Procs {
		job.Procs = append(job.Procs, i)
	}
	job.Run, job.Thread = run, -1
	if err := Write(dir, job); err != nil {
		t.Fatal(err)
	}
	if !Owns(dir) {
		t.Error("the directory is not taken for a trace")
	}
	return dir
}

func numbers(t *testing.T, text string) (list []int64) {
	t.Helper()
	for _, f := range strings.Split(text, ":") {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		list = append(list, n)
	}
	return list
}

// parse reads a trace. Messages may seem to arrive up to slack ns before they were sent.
func parse(t *testing.T, dir string, slack int64) *parsed {
	t.Helper()
	p := &parsed{comms: map[int64][]int64{}, states: map[[2]int64][][3]int64{}, events: map[[2]int64][][]int64{}, labels: map[[2]int64]string{}}
	text, err := os.ReadFile(filepath.Join(dir, Name+".prv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	comms := p.header(t, lines[0])
	for _, line := range lines[1 : 1+comms] {
		f := numbers(t, strings.TrimPrefix(line, "c:"))
		if f[0] != 1 || int(f[2]) != len(f)-3 {
			t.Errorf("communicator %q", line)
		}
		p.comms[f[1]] = f[3:]
	}
	last := int64(0)
	for _, line := range lines[1+comms:] {
		f := numbers(t, line)
		key := [2]int64{f[3], f[4]}
		if f[2] != 1 || f[3] < 1 || int(f[3]) > len(p.tasks) || f[4] < 1 || int(f[4]) > p.tasks[f[3]-1] || f[5] < last || f[5] > p.length {
			t.Fatalf("record %q after %d", line, last)
		}
		last = f[5]
		switch f[0] {
		case 1:
			p.states[key] = append(p.states[key], [3]int64{f[5], f[6], f[7]})
		case 2:
			p.events[key] = append(p.events[key], f[5:])
		case 3:
			if len(f) != 15 || f[5] > f[12]+slack || f[12] > p.length {
				t.Errorf("communication %q", line)
			}
			p.sent = append(p.sent, f)
		default:
			t.Errorf("record %q", line)
		}
	}
	p.readLabels(t, filepath.Join(dir, Name+".pcf"))
	return p
}

// header reads the first line, and returns the number of communicators.
func (p *parsed) header(t *testing.T, line string) (comms int) {
	t.Helper()
	_, rest, _ := strings.Cut(line, "):")
	length, rest, _ := strings.Cut(rest, "_ns:")
	p.length, _ = strconv.ParseInt(length, 10, 64)
	nodes, rest, _ := strings.Cut(rest, "):")
	if !strings.HasPrefix(line, "#Paraver (") || !strings.Contains(nodes, "(") {
		t.Fatalf("header %q", line)
	}
	var tasks int
	var list string
	if n, err := fmt.Sscanf(strings.NewReplacer("(", " ", ")", " ").Replace(rest), "1:%d %s ,%d", &tasks, &list, &comms); n != 3 || err != nil {
		t.Fatalf("header %q: %d, %v", rest, n, err)
	}
	for _, task := range strings.Split(list, ",") {
		p.tasks = append(p.tasks, int(numbers(t, task)[0]))
	}
	if len(p.tasks) != tasks {
		t.Errorf("%d tasks in %q", len(p.tasks), line)
	}
	return comms
}

// readLabels reads the names of values.
func (p *parsed) readLabels(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var types []int64
	inTypes, inValues := false, false
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
			inTypes, inValues = false, false
		case f[0] == "EVENT_TYPE":
			inTypes, types = true, nil
		case f[0] == "VALUES":
			inTypes, inValues = false, true
		case inTypes:
			types = append(types, numbers(t, f[1])[0])
		case inValues:
			for _, of := range types {
				p.labels[[2]int64{of, numbers(t, f[0])[0]}] = f[1]
			}
		}
	}
}

// Each call is a pair of events of its thread and a state, each message a communication; communicators
// have the members that take part.
func TestTrace(t *testing.T) {
	programs := []testrun.Program{
		{Source: "c/jacobi.c", Args: "30"}, {Source: "c/comms.c", MPI: "openmpi"}, {Source: "c/threads.c", MPI: "mpich"}, {Source: "c/coll.c", MPI: "mpich"},
		{Source: "c/icoll.c", MPI: "openmpi"}, {Source: "c/io.c", Args: "2 DIR", MPI: "mpich"}, {Source: "c/rma.c", Args: "2", MPI: "openmpi"},
		{Source: "c/persistent.c", MPI: "mpich"}, {Source: "c/fail.c", Args: "kill 50", Fails: true, MPI: "openmpi"}, {Source: "fortran/all_f08.f90", MPI: "mpich"},
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		p := parse(t, write(t, r.Run, &export.Job{RawClock: true}), 2000)
		p.compareCalls(t, r.Run)
		p.compareMessages(t, r.Run)
		part := parse(t, write(t, r.Run, &export.Job{RawClock: true, Selection: export.Selection{From: 5, To: 20}}), 2000)
		for key, list := range part.events {
			if len(list) > 30 {
				t.Errorf("%v: %d events of 15 calls", key, len(list))
			}
		}
		p.compareParts(t, r.Run)
		parse(t, write(t, r.Run, &export.Job{}), 0) // corrects the times of the run
	})
}

// compareParts checks that parts are those of the whole trace, and nothing else.
func (p *parsed) compareParts(t *testing.T, run *runfile.Run) {
	t.Helper()
	for _, part := range []string{States, Calls, Messages} {
		got := parse(t, write(t, run, &export.Job{RawClock: true, What: []string{part}}), 2000)
		want := parsed{}
		switch part {
		case States:
			want.states = p.states
		case Calls:
			want.events = p.events
		case Messages:
			want.sent = p.sent
		}
		if fmt.Sprint(got.states, got.events, got.sent) != fmt.Sprint(want.states, want.events, want.sent) {
			t.Errorf("--what %s: not this part of the trace", part)
		}
	}
}

func (p *parsed) compareCalls(t *testing.T, run *runfile.Run) {
	t.Helper()
	at := map[[2]int64]int{}
	testrun.EachEvent(t, run, func(_ *reconstruct.Process, e *reconstruct.Event) {
		if e.Depth() > 0 || t.Failed() {
			return
		}
		key := [2]int64{int64(e.Rank()) + 1, int64(e.Thread()) + 1}
		list := p.events[key]
		if at[key]+2 > len(list) {
			t.Errorf("%v: too few events", key)
			return
		}
		begin, left := list[at[key]], list[at[key]+1]
		at[key] += 2
		start, end, _ := e.Times()
		label := p.labels[[2]int64{begin[1], begin[2]}]
		if label != e.Op() || begin[0] != start || left[0] != end || left[1] != begin[1] || left[2] != 0 {
			t.Errorf("%v: %v %v (%s), want %s from %d to %d", key, begin, left, label, e.Op(), start, end)
		}
		for i := 3; i+1 < len(begin); i += 2 {
			if begin[i] == onCommunicator && !slices.Contains(p.comms[begin[i+1]], key[0]) {
				t.Errorf("%v: %s on a communicator of %v", key, label, p.comms[begin[i+1]])
			}
			if begin[i] == isRoot && e.Proc().Roles.Root == 0 {
				t.Errorf("%v: %s has no root", key, label)
			}
		}
	})
	testrun.InProgress(t, run, func(p *reconstruct.Process, stream int, _ *reconstruct.Pending) {
		at[[2]int64{int64(p.Data().Rank) + 1, int64(p.Data().Streams[stream].Thread) + 1}] += 2 // see TestUnfinished
	})
	for key, list := range p.events {
		if at[key] != len(list) {
			t.Errorf("%v: %d events, want %d", key, len(list), at[key])
		}
	}
	for key, list := range p.states {
		last := int64(0)
		for i, s := range list {
			if s[0] > s[1] || i > 0 && s[0] != last {
				t.Fatalf("%v: state %v after %d", key, s, last)
			}
			last = s[1]
		}
	}
}

func (p *parsed) compareMessages(t *testing.T, run *runfile.Run) {
	t.Helper()
	var want, got []string
	job := &export.Job{Run: run, Selection: export.Selection{Thread: -1}}
	for i := range run.Procs {
		job.Procs = append(job.Procs, i)
	}
	_, _, err := table.Matched(job, func(b *table.Batch) error {
		of := func(name string, row int) int64 { return b.Vectors[b.Column(name)].Ints[row] }
		for row := range b.Rows {
			want = append(want, fmt.Sprint(of("send_rank", row)+1, of("send_thread", row)+1, of("sent", row), of("recv_rank", row)+1,
				of("recv_thread", row)+1, of("posted", row), of("received", row), of("bytes", row)))
		}
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.sent {
		got = append(got, fmt.Sprint(f[3], f[4], f[6], f[9], f[10], f[11], f[12], f[13]))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d messages, want %d\n%.500q\n%.500q", len(got), len(want), got, want)
	}
}

// Lines sorted in files are those sorted in memory.
func TestSorter(t *testing.T) {
	var texts []string
	for _, most := range []int{mostHeld, 100, 1} {
		dir := t.TempDir()
		s := newSorter(dir)
		s.most = most
		for i := range int64(300) {
			if err := s.add((i*7919)%97-20, fmt.Appendf(nil, "%d\n", i)); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		if err := s.write(&b); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, b.String())
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%d files are left", len(left))
		}
	}
	if texts[1] != texts[0] || texts[2] != texts[0] || strings.Count(texts[0], "\n") != 300 {
		t.Error("not the same lines")
	}
}

// The tag and the size of a message, the root and the sizes of a collective, in the numbers that Extrae has.
func TestConventions(t *testing.T) {
	s := testrun.NewScript(t, 2)
	message := func(peer string, rank int) testrun.Args {
		return testrun.Args{"count": 3, "datatype": "MPI_INT", peer: rank, "tag": 5, "comm": "MPI_COMM_WORLD"}
	}
	s.Rank(0).Call(10, 20, "MPI_Send", message("dest", 1))
	q := s.Rank(1).Call(0, 5, "MPI_Irecv", message("source", 0))
	s.Rank(1).Call(6, 40, "MPI_Wait", testrun.Args{"request": q})
	s.Each(func(r *testrun.ScriptRank, _ int) {
		r.Call(50, 60, "MPI_Bcast", testrun.Args{"count": 2, "datatype": "MPI_DOUBLE", "root": 1, "comm": "MPI_COMM_WORLD"})
	})
	run := s.Run()
	p := parse(t, write(t, run, &export.Job{RawClock: true}), 0)
	if len(p.sent) != 1 || p.sent[0][13] != 12 || p.sent[0][14] != 5 {
		t.Errorf("%v", p.sent)
	}
	root := p.events[[2]int64{2, 1}][4]
	if want := []int64{50000002, 7, 50100001, 16, 50100002, 0, 50100004, 1, 50100003, 1}; !slices.Equal(root[1:], want) {
		t.Errorf("%v, want %v", root, want)
	}
	if leaf := p.events[[2]int64{1, 1}][2]; slices.Contains(leaf[3:], 50100003) {
		t.Errorf("%v", leaf)
	}
	if got := p.events[[2]int64{1, 1}][0][1:]; !slices.Equal(got, []int64{50000001, 1}) {
		t.Errorf("%v", got)
	}
	if fmt.Sprint(p.comms) != "map[1:[1 2]]" {
		t.Errorf("%v", p.comms)
	}
}

// A call that had not returned when the recording ended lasts until the process was gone, or the run ends.
func TestUnfinished(t *testing.T) {
	programs := []testrun.Program{{Source: "c/inside.c", Args: "end", Time: "trace", Fails: true}, {Source: "c/fail.c", Args: "kill", Time: "trace", Fails: true}}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		p := parse(t, write(t, r.Run, &export.Job{}), 1<<40)
		found := 0
		testrun.InProgress(t, r.Run, func(process *reconstruct.Process, stream int, call *reconstruct.Pending) {
			found++
			key := [2]int64{int64(process.Data().Rank) + 1, 1}
			end := process.Data().LatestEndInRun(r.Run.Meta.Ended - r.Run.Meta.Started)
			events, states := p.events[key], p.states[key]
			if len(events) < 2 || len(states) == 0 {
				t.Fatalf("task %d: %d events, %d states", key[0], len(events), len(states))
			}
			began, last, state := events[len(events)-2], events[len(events)-1], states[len(states)-1]
			if label := p.labels[[2]int64{began[1], began[2]}]; label != call.Describe().Op || last[0] != end || last[2] != 0 {
				t.Errorf("task %d: %s until %d, want %s until %d", key[0], label, last[0], call.Describe().Op, end)
			}
			if since := process.Data().Streams[stream].Pending.InRun(process.Data()); state[0] != since || began[0] != since || state[1] != end {
				t.Errorf("task %d: state %v, event at %d, want from %d to %d", key[0], state, began[0], since, end)
			}
		})
		if found == 0 {
			t.Error("no rank was in a call")
		}
	})
}
