package waits

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// delay is what the programs are told, in ms.
const delay = 100

// planted are waits that the programs cause: at least half as long as this many delays.
type planted struct {
	key  pairKey
	part float64
}

// pairKey names the waits of a rank for another; culprit -1: for none.
type pairKey struct {
	state         State
	rank, culprit int
}

var basicDelays = []planted{
	{pairKey{LateSender, 1, 0}, 1}, {pairKey{LateReceiver, 2, 3}, 1}, {pairKey{Barrier, 0, 2}, 1}, {pairKey{Barrier, 3, 2}, 1},
	{pairKey{NxN, 0, 3}, 1.5}, {pairKey{LateBroadcast, 0, 1}, 1}, {pairKey{LateBroadcast, 3, 1}, 1},
}

var moreDelays = []planted{
	{pairKey{LateSender, 2, 1}, 1}, {pairKey{LateSender, 3, 2}, 2.5}, {pairKey{EarlyReduce, 0, 3}, 1}, {pairKey{NxN, 0, 2}, 0.7}, {pairKey{NxN, 3, 2}, 0.7},
}

// partitionedDelays are those of libraries with partitioned messages, with the waits for the same ranks before.
var partitionedDelays = []planted{{pairKey{LateSender, 1, 0}, 4}, {pairKey{LateSender, 3, 2}, 6}}

// logged is a call as the program saw it.
type logged struct {
	what          string
	rank          int
	peer, tag     int
	before, after int64 // CLOCK_MONOTONIC
	enter, exit   int64 // as recorded
}

// readLog reads the log of a rank.
func readLog(t *testing.T, dir string, rank int) []logged {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, fmt.Sprintf("log.%d", rank)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []logged
	for lines := bufio.NewScanner(f); lines.Scan(); {
		l := logged{rank: rank}
		if _, err := fmt.Sscanf(lines.Text(), "%s %d %d %d %d", &l.what, &l.peer, &l.tag, &l.before, &l.after); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		list = append(list, l)
	}
	return list
}

// takeRecorded replaces the times of the log by the recorded ones, which must lie in between but
// for what a clock may be off. (Before and after a call the program may lose its processor.)
func takeRecorded(t *testing.T, r *testrun.Recording, logs [][]logged, bound int64) {
	t.Helper()
	at, last := make([]int, len(logs)), make([]string, len(logs))
	testrun.EachEvent(t, r.Run, func(p *reconstruct.Process, e *reconstruct.Event) {
		if e.Proc().Begins || e.Proc().Ends {
			return
		}
		start, end, _ := e.Times()
		rank, clock := e.Rank(), p.Data().Clock
		again := e.Proc().PollWord() != 0 && last[rank] == e.Op()
		if !again {
			at[rank]++
		}
		if at[rank] > len(logs[rank]) {
			t.Fatalf("rank %d: event %d is not in the log", rank, e.Seq)
		}
		l := &logs[rank][at[rank]-1]
		off := bound + (l.before-logs[rank][0].before)/10_000 // rates of clocks differ, too
		if start < l.before+clock-off || end > l.after+clock+off {
			t.Errorf("rank %d, event %d: from %d to %d, by the log %d to %d", rank, e.Seq, start-clock, end-clock, l.before, l.after)
		}
		if !again {
			l.enter = start
		}
		l.exit, last[rank] = end, e.Op()
	})
	for rank, n := range at {
		if n != len(logs[rank]) {
			t.Fatalf("rank %d: %d calls of %d in the log", rank, n, len(logs[rank]))
		}
	}
}

type oracle struct {
	logs [][]logged
	sums map[pairKey]int64
}

func (x *oracle) add(state State, by, culprit *logged, time int64) {
	if time <= 0 {
		return
	}
	key := pairKey{state, by.rank, -1}
	if culprit != nil {
		key.culprit = culprit.rank
	}
	x.sums[key] += time
}

// find returns what posts the other side of a message.
func (x *oracle) find(of *logged, what ...string) *logged {
	for i := range x.logs[of.peer] {
		if l := &x.logs[of.peer][i]; slices.Contains(what, l.what) && l.peer == of.rank && l.tag == of.tag {
			return l
		}
	}
	return nil
}

func (x *oracle) waits() {
	members := map[string][]*logged{}
	started := map[string][]*logged{}
	for rank := range x.logs {
		for i := range x.logs[rank] {
			l := &x.logs[rank][i]
			switch l.what {
			case "receive", "wait-receive", "poll-receive":
				s := x.find(l, "send", "start-send")
				x.add(LateSender, l, s, min(s.enter, l.exit)-l.enter)
			case "send", "wait-send":
				if r := x.find(l, "receive", "start-receive"); r.enter <= l.exit {
					x.add(LateReceiver, l, r, r.enter-l.enter)
				}
			case "start-sum":
				started[fmt.Sprint("wait-sum ", l.tag)] = append(started[fmt.Sprint("wait-sum ", l.tag)], l)
			case "start-send", "start-receive", "other":
			default:
				key := fmt.Sprint(l.what, " ", l.tag)
				members[key] = append(members[key], l)
			}
		}
	}
	for key, list := range members {
		from := started[key]
		if from == nil {
			from = list
		}
		x.collective(list, from)
	}
}

// collective is a call of some members, that began with others.
func (x *oracle) collective(list, from []*logged) {
	last := slices.MaxFunc(from, func(a, b *logged) int { return int(a.enter - b.enter) })
	first := slices.MinFunc(list, func(a, b *logged) int { return int(a.exit - b.exit) })
	for i, l := range list {
		switch l.what {
		case "bcast":
			if l.rank != l.peer {
				x.add(LateBroadcast, l, list[l.peer], min(list[l.peer].enter, l.exit)-l.enter)
			}
		case "reduce":
			if l.rank == l.peer && last != l {
				x.add(EarlyReduce, l, last, min(last.enter, l.exit)-l.enter)
			}
		default:
			waiting, completion := Barrier, BarrierCompletion
			if l.what != "barrier" {
				waiting, completion = NxN, NxNCompletion
			}
			if from[i] != last {
				x.add(waiting, l, last, min(last.enter, l.exit)-l.enter)
			}
			x.add(completion, l, nil, l.exit-max(first.exit, min(last.enter, l.exit), l.enter))
		}
	}
}

// pairs sums the waits that are found.
type pairs struct {
	*Classifier
	sums  map[pairKey]int64
	bound int64
}

func (x *pairs) Exit(c *match.Call) {
	for _, i := range x.Classifier.Exit(c) {
		if i.State.Apart() {
			continue
		}
		key := pairKey{i.State, c.Thread.Process.Rank, -1}
		if i.Culprit != nil {
			key.culprit = i.Culprit.Thread.Process.Rank
		}
		x.sums[key] += i.Time
	}
}

func found(t *testing.T, r *testrun.Recording) *pairs {
	t.Helper()
	trace, err := match.Open(r.Run)
	if err != nil {
		t.Fatal(err)
	}
	x := &pairs{Classifier: NewClassifier(trace), sums: map[pairKey]int64{}, bound: trace.Threads[0].Bound}
	if _, err := trace.Walk(t.Context(), x, nil); err != nil {
		t.Fatal(err)
	}
	return x
}

// logAndFindings returns the waits by a program's own logs, and those that are found.
func logAndFindings(t *testing.T, r *testrun.Recording) (*oracle, *pairs) {
	t.Helper()
	x := &oracle{sums: map[pairKey]int64{}}
	for rank := range r.Run.Procs {
		x.logs = append(x.logs, readLog(t, r.Dir, rank))
	}
	got := found(t, r)
	takeRecorded(t, r, x.logs, got.bound)
	x.waits()
	return x, got
}

// lacking are the planted waits that the program did not cause, because a rank that was to wait
// began late on a busy machine.
func (x *oracle) lacking(expected []planted) (list []pairKey) {
	for _, p := range expected {
		if float64(x.sums[p.key]) < p.part*delay*0.5e6 {
			list = append(list, p.key)
		}
	}
	return list
}

// Waits that programs cause on purpose are found, with their severity and their culprit, as an
// independent computation from the programs' own logs has them; and no others.
func TestPlantedDelays(t *testing.T) {
	args := fmt.Sprint("DIR ", delay)
	list := []testrun.Program{
		{Source: "c/delays.c", Args: args, Time: "trace"},
		{Source: "fortran/delays.f90", Args: args, Time: "trace"},
	}
	testrun.Record(t, list, func(t *testing.T, r *testrun.Recording) {
		expected := basicDelays
		if strings.HasPrefix(list[r.Program].Source, "c/") {
			expected = slices.Concat(basicDelays, moreDelays)
		}
		x, got := logAndFindings(t, r)
		if slices.ContainsFunc(x.logs[0], func(l logged) bool { return l.what == "other" }) {
			expected = slices.Concat(expected, partitionedDelays)
		}
		for tries := 1; len(x.lacking(expected)) > 0; tries++ {
			if tries == 5 {
				t.Fatalf("the program did not cause %v", x.lacking(expected))
			}
			x, got = logAndFindings(t, r.Again(t))
		}
		compareWaits(t, x.sums, got)
	})
}

// compareWaits demands that waits are the same but for a percent and 2 µs.
func compareWaits(t *testing.T, want map[pairKey]int64, got *pairs) {
	t.Helper()
	keys := slices.Collect(maps.Keys(want))
	for key := range got.sums {
		if _, ok := want[key]; !ok {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if off := got.sums[key] - want[key]; max(off, -off) > want[key]/100+2000 {
			t.Errorf("%v of rank %d for %d: %d ns, by the log %d", key.state, key.rank, key.culprit, got.sums[key], want[key])
		}
	}
}
