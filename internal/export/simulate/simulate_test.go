package simulate_test

import (
	"container/heap"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A simulator of its own, for schedules: it knows the grammar that LogGOPSim's txt2bin reads, and nothing
// of how they are made.

// operation is one of a schedule.
type operation struct {
	rank, number int
	kind         string // calc, send, recv
	size         uint64 // ns or bytes
	peer         int
	tag          int64
	cpu          int
	waits, left  int // requirements, and those that are not met
	begun        bool
	after        []*operation // require that it is done
	along        []*operation // that it has begun
	known        map[int]bool // ranks of which something has come in
}

// schedule are the operations of each rank.
type schedule struct {
	ranks [][]*operation
}

var (
	rankLine    = regexp.MustCompile(`^rank ([0-9]+) \{$`)
	calcLine    = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9_]*): calc ([0-9]+)(?: cpu ([0-9]+))?$`)
	messageLine = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9_]*): (send|recv) ([0-9]+)b (to|from) ([0-9]+) tag ([0-9]+)(?: cpu ([0-9]+) nic 0)?$`)
	requireLine = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9_]*) (requires|irequires) ([a-zA-Z][a-zA-Z0-9_]*)$`)
)

// parse reads a schedule, and demands all that its readers do.
func parse(t *testing.T, text string) *schedule {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var ranks int
	if _, err := fmt.Sscanf(lines[0], "num_ranks %d", &ranks); err != nil {
		t.Fatalf("%q: %v", lines[0], err)
	}
	s := &schedule{}
	var labels map[string]*operation
	for i, line := range lines[1:] {
		bad := func(why string) { t.Fatalf("line %d: %q: %s", i+2, line, why) }
		number := func(text string, bits int) uint64 {
			n, err := strconv.ParseUint("0"+text, 10, bits)
			if err != nil {
				bad(err.Error())
			}
			return n
		}
		add := func(label string, o *operation) {
			if labels == nil || labels[label] != nil {
				bad("outside of a rank, or a label that exists")
			}
			o.rank, o.number = len(s.ranks)-1, len(s.ranks[len(s.ranks)-1])
			labels[label] = o
			s.ranks[o.rank] = append(s.ranks[o.rank], o)
		}
		switch {
		case line == "":
		case rankLine.MatchString(line):
			if n := number(rankLine.FindStringSubmatch(line)[1], 31); int(n) != len(s.ranks) || labels != nil {
				bad("want the next rank")
			}
			s.ranks, labels = append(s.ranks, nil), map[string]*operation{}
		case line == "}":
			if len(labels) == 0 {
				bad("a rank without operations, or none")
			}
			labels = nil
		case calcLine.MatchString(line):
			f := calcLine.FindStringSubmatch(line)
			add(f[1], &operation{kind: "calc", size: number(f[2], 63), cpu: int(number(f[3], 8))})
		case messageLine.MatchString(line):
			f := messageLine.FindStringSubmatch(line)
			o := &operation{kind: f[2], size: number(f[3], 63), peer: int(number(f[5], 31)), tag: int64(number(f[6], 31)), cpu: int(number(f[7], 8))}
			if (f[2] == "send") != (f[4] == "to") || o.peer >= ranks {
				bad("no such peer")
			}
			add(f[1], o)
		case requireLine.MatchString(line):
			f := requireLine.FindStringSubmatch(line)
			o, of := labels[f[1]], labels[f[3]]
			if o == nil || of == nil || o.number <= of.number {
				bad("a label that is not defined, or required backwards")
			}
			o.waits++
			if f[2] == "requires" {
				of.after = append(of.after, o)
			} else {
				of.along = append(of.along, o)
			}
		default:
			bad("not in the grammar")
		}
	}
	if len(s.ranks) != ranks || labels != nil {
		t.Fatalf("%d of %d ranks", len(s.ranks), ranks)
	}
	return s
}

// event is when something is to happen to an operation.
type event struct {
	at      int64
	order   int
	of      *operation
	arrives bool // the message that it sends
}

type events []event

func (q events) Len() int           { return len(q) }
func (q events) Less(i, j int) bool { return slices.Compare(q[i].key(), q[j].key()) < 0 }
func (q events) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)        { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
func (e *event) key() []int64 { return []int64{e.at, int64(e.order)} }

// channel is where messages and receives wait for each other.
type channel struct {
	from, to int
	tag      int64
}

// simulator executes a schedule: a message takes a µs, and one of more than eager bytes lets the sender
// wait until it is received.
type simulator struct {
	t        *testing.T
	queue    events
	order    int
	eager    uint64
	messages map[channel][]*operation
	receives map[channel][]*operation
	finished int
}

// knows is of which ranks something has come in at a rank.
func (s *schedule) knows(rank int) []int {
	all := map[int]bool{}
	for _, o := range s.ranks[rank] {
		maps.Copy(all, o.known)
	}
	return slices.Sorted(maps.Keys(all))
}

// execute returns how long a schedule takes. All must be executed, and each message be received.
func (s *schedule) execute(t *testing.T, eager uint64) int64 {
	t.Helper()
	x := &simulator{t: t, eager: eager, messages: map[channel][]*operation{}, receives: map[channel][]*operation{}}
	all := 0
	for _, list := range s.ranks {
		for _, o := range list {
			o.begun, o.left, o.known = false, o.waits, map[int]bool{o.rank: true}
			all++
			if o.waits == 0 {
				x.push(0, o, false)
			}
		}
	}
	now := int64(0)
	for len(x.queue) > 0 {
		e := heap.Pop(&x.queue).(event)
		now = e.at
		x.happen(&e)
	}
	if x.finished != all || len(x.messages) > 0 || len(x.receives) > 0 {
		t.Errorf("%d of %d operations are executed, messages are left on %d channels, receives on %d", x.finished, all, len(x.messages), len(x.receives))
	}
	return now
}

func (x *simulator) push(at int64, o *operation, arrives bool) {
	x.order++
	heap.Push(&x.queue, event{at, x.order, o, arrives})
}

func (x *simulator) happen(e *event) {
	o := e.of
	switch {
	case e.arrives:
		c := channel{o.rank, o.peer, o.tag}
		if r := take(x.receives, c); r != nil {
			x.received(r, o, e.at)
		} else {
			x.messages[c] = append(x.messages[c], o)
		}
	case o.kind == "calc" && !o.begun:
		x.begin(o, e.at)
		x.push(e.at+int64(o.size), o, false)
	case o.kind == "calc":
		x.finish(o, e.at)
	case o.kind == "send":
		x.begin(o, e.at)
		x.push(e.at+1000, o, true)
		if o.size <= x.eager {
			x.finish(o, e.at)
		}
	default:
		x.begin(o, e.at)
		c := channel{o.peer, o.rank, o.tag}
		if m := take(x.messages, c); m != nil {
			x.received(o, m, e.at)
		} else {
			x.receives[c] = append(x.receives[c], o)
		}
	}
}

func take(from map[channel][]*operation, c channel) *operation {
	list := from[c]
	if len(list) == 0 {
		return nil
	}
	if from[c] = list[1:]; len(list) == 1 {
		delete(from, c)
	}
	return list[0]
}

func (x *simulator) received(o, m *operation, at int64) {
	if o.size != m.size {
		x.t.Errorf("rank %d sends rank %d %d bytes with tag %d, which receives %d", m.rank, o.rank, m.size, m.tag, o.size)
	}
	maps.Copy(o.known, m.known)
	x.finish(o, at)
	if m.size > x.eager {
		x.finish(m, at)
	}
}

func (x *simulator) begin(o *operation, at int64) {
	o.begun = true
	for _, next := range o.along {
		x.met(next, at)
	}
}

func (x *simulator) finish(o *operation, at int64) {
	x.finished++
	for _, next := range o.after {
		maps.Copy(next.known, o.known)
		x.met(next, at)
	}
}

func (x *simulator) met(next *operation, at int64) {
	if next.left--; next.left == 0 {
		x.push(at, next, false)
	}
}
