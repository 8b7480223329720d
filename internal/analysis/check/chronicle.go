package check

import (
	"iter"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
)

// Where the times of all events were recorded, an operation must not end before what it
// needs of another process has begun. Clocks of processes on one machine are one, so the
// processes of a machine are gone through side by side, each as far as the others let it:
// what has no counterpart yet is kept, and a process with too much of that waits until
// the others have caught up.

// chronicle goes through the events of the processes of a machine.
type chronicle struct {
	b       *builder
	tellers []*teller
	here    map[int]bool // ranks, and whether the order of their messages is known
	limit   int          // how many operations of a queue may have no counterpart yet
	total   uint64       // events of all tellers
	lines   map[channel]*line
	halls   map[scopeKey]*hall
	clashes map[clashKey]*clash
}

// Bounds of chronicle.limit. With the most that is tried a run is not gone through to
// the end if its processes are still further apart.
const (
	firstLimit = 1 << 10
	lastLimit  = 1 << 19
)

// toldEvery is after how many events progress is told.
const toldEvery = 1 << 12

// teller goes through the events of a stream.
type teller struct {
	proc   *analysis.Process
	rank   int
	thread uint32
	events uint64 // of the stream
	off    int64  // how far its times may be from the recorded ones
	names  *reconstruct.Names
	roles  []*roles // of nodes where requests complete
	coll   []*collRoles
	m      *messages // nil: messages are not compared
	tally  *tally
	open   map[uint64][]*operation // by request
	// forgotten are operations whose completion is not compared: too many requests
	// were open. The first is at event forgot.
	forgotten, forgot uint64

	next func() (*reconstruct.Event, error, bool)
	stop func()
	e    *reconstruct.Event // the next one; nil at the end

	moves []transfer // of e
	scope scopeKey   // of e, if members of a communicator meet there
	known bool       // moves and scope are those of e
	met   map[scopeKey]uint64
}

// moment is an event.
type moment struct {
	by    *teller
	node  int32
	event uint64
	at    int64 // ns
}

// operation is one side of a message, or what a process has of a collective call.
type operation struct {
	begun, ended moment // ended.by is nil if it did not
	side         int    // 0 sends, 1 receives
	sync         bool   // a synchronous send
	other        *operation
}

// line are the operations of a channel, all of one side, that have no counterpart yet;
// nil: the channel is not compared.
type line struct{ waiting []*operation }

// hall are the calls of a communicator that not all members on the machine have made.
type hall struct {
	size  int // 0: not compared
	done  uint64
	calls []meet
}

// meet is a call that nobody leaves before all have come.
type meet struct {
	came        int
	first, last moment // that left, that came
}

// chronicles compares the times of the processes of each machine.
func (b *builder) chronicles() error {
	if !b.run.Meta.Traced() {
		return nil
	}
	hosts := map[string][]int{}
	var order []string
	for i := range b.run.Procs {
		host := b.run.Procs[i].Host
		if hosts[host] == nil {
			order = append(order, host)
		}
		hosts[host] = append(hosts[host], i)
	}
	sites, err := b.run.Sites()
	if err != nil {
		return err
	}
	for _, host := range order {
		if host == "" || len(hosts[host]) < 2 {
			continue
		}
		if err := b.chronicle(hosts[host], sites); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) chronicle(procs []int, sites []runfile.Site) error {
	x := &chronicle{
		b: b, here: map[int]bool{}, limit: firstLimit, lines: map[channel]*line{}, halls: map[scopeKey]*hall{},
		clashes: map[clashKey]*clash{},
	}
	defer func() {
		for _, t := range x.tellers {
			t.stop()
		}
	}()
	for _, i := range procs {
		data, err := b.run.Process(i)
		if err != nil {
			return err
		}
		p, err := analysis.NewProcess(data, b.first[i])
		if err != nil {
			return err
		}
		if err := x.open(p, sites); err != nil {
			return err
		}
	}
	if err := x.run(); err != nil {
		return err
	}
	x.report()
	x.remainder()
	return nil
}

// open adds the streams of a process.
func (x *chronicle) open(p *analysis.Process, sites []runfile.Site) error {
	m := messagesOf(p)
	x.here[p.Data.Rank] = m != nil
	names := reconstruct.NewNames(p.Data.Defs, sites)
	r := reconstruct.NewProcess(p.Data, names)
	for i := range p.Data.Streams {
		s := &p.Data.Streams[i]
		if s.Trace == nil {
			x.here[p.Data.Rank] = m != nil && m.stream != i && x.here[p.Data.Rank]
			continue
		}
		q, err := efg.NewTimeQuantizer(s.Trace.Error)
		if err != nil {
			return err
		}
		t := &teller{
			proc: p, rank: p.Data.Rank, thread: s.Thread, events: s.Events, off: int64(q.Bound()), names: names, tally: newTally(p),
			roles: make([]*roles, len(s.Nodes)), coll: make([]*collRoles, len(s.Nodes)),
			open: map[uint64][]*operation{}, met: map[scopeKey]uint64{},
		}
		if m != nil && m.stream == i {
			t.m = m
		}
		t.prepare(s)
		t.next, t.stop = iter.Pull2(r.Events(i, reconstruct.Options{}))
		x.tellers = append(x.tellers, t)
		x.total += s.Events
		if err := t.fetch(); err != nil {
			return err
		}
	}
	return nil
}

// prepare notes which nodes complete requests, and where members meet.
func (t *teller) prepare(s *efg.Stream) {
	for k := range s.Nodes {
		r := rolesOf(&s.Nodes[k])
		if r.proc == nil || s.Nodes[k].Counted > 0 {
			continue
		}
		if t.m != nil && r.requests != 0 && (r.completes != "" || r.frees) {
			t.roles[k] = r
		}
		if c := collectiveOf(r); c != nil && r.proc.Issues == "" && c.meets() {
			t.coll[k] = c
		}
	}
}

// meets reports whether no member leaves such a call before all have come, if data are
// exchanged. Those with arrays of counts may have no data for some.
func (c *collRoles) meets() bool { return c.proc.Synchronises() && !c.vector() }

// fetch goes to the next event.
func (t *teller) fetch() error {
	e, err, ok := t.next()
	if t.e = e; !ok {
		t.e = nil
	}
	t.known = false
	return err
}

// run goes through all events.
func (x *chronicle) run() error {
	done := uint64(0)
	for {
		moved, left := false, false
		for _, t := range x.tellers {
			before := t.e
			for t.e != nil && x.enter(t) {
				moved = true
				if done++; done%toldEvery == 0 {
					x.b.tell("events", done, x.total)
				}
				if err := t.fetch(); err != nil {
					return err
				}
			}
			left = left || before != nil && t.e != nil
		}
		switch {
		case !left || !moved && 8*x.limit > x.b.furthest:
			return nil
		case !moved:
			x.limit *= 8
		}
	}
}

// enter takes the teller's event in; false if others must catch up before.
func (x *chronicle) enter(t *teller) bool {
	k := t.e.Node()
	role, coll := t.roles[k], t.coll[k]
	moves := t.movesAt(k)
	if moves == nil && coll == nil && (role == nil || len(t.open) == 0) {
		return true
	}
	if !t.known {
		x.look(t, moves, coll)
	}
	for _, move := range t.moves {
		if l := x.lines[move.channel]; len(l.waiting) >= x.limit && l.waiting[0].side == move.side {
			return false
		}
	}
	if t.scope.word != 0 && !x.meet(t) {
		return false
	}
	if moves != nil {
		x.transfer(t, moves)
	}
	if role != nil {
		x.complete(t, role)
	}
	return true
}

// movesAt returns nil if events of a node move no messages that are compared.
func (t *teller) movesAt(node int) *roles {
	if t.m == nil {
		return nil
	}
	return t.m.roles[node]
}

// look finds out what the event is about, as far as it is compared.
func (x *chronicle) look(t *teller, moves *roles, coll *collRoles) {
	t.moves, t.scope, t.known = t.moves[:0], scopeKey{}, true
	if moves == nil && coll == nil {
		return
	}
	words := t.e.Words()
	if words == nil {
		return
	}
	if moves != nil {
		for _, move := range t.m.transfers(moves, words) {
			if x.lineOf(move.channel) != nil {
				t.moves = append(t.moves, move)
			}
		}
	}
	if coll == nil {
		return
	}
	scope := t.tally.scope(words[coll.scope])
	if scope.word == 0 || x.hallOf(scope).size < 2 {
		return
	}
	if coll.proc.Barrier() || coll.symbolOf(t.tally.types, words, false).amount.bytes > 0 {
		t.scope = scope
	}
}

// lineOf returns nil if the channel is not compared.
func (x *chronicle) lineOf(c channel) *line {
	l, ok := x.lines[c]
	if !ok {
		f := x.b.flows[c]
		if x.here[int(c.from)] && x.here[int(c.to)] && f != nil && x.b.quiet(c, f) {
			l = &line{}
		}
		x.lines[c] = l
	}
	return l
}

func (x *chronicle) hallOf(k scopeKey) *hall {
	h := x.halls[k]
	if h != nil {
		return h
	}
	h = &hall{}
	x.halls[k] = h
	s := x.b.scopes[k]
	if s == nil || s.unordered || s.members[0] == nil || s.members.inter() {
		return h
	}
	if list := x.b.addSilent(s, s.list()); len(list) == 1 {
		for _, r := range list[0].ranks {
			if _, here := x.here[r]; here {
				h.size++
			}
		}
	}
	return h
}

// moment returns the beginning or the end of the event.
func (t *teller) moment(end bool) moment {
	start, at, _ := t.e.Times()
	if !end {
		at = start
	}
	return moment{t, int32(t.e.Node()), t.e.Seq, at}
}

// meet takes the event into the calls of its communicator.
func (x *chronicle) meet(t *teller) bool {
	h := x.halls[t.scope]
	i := t.met[t.scope] - h.done
	if i >= uint64(x.limit) {
		return false
	}
	if i == uint64(len(h.calls)) {
		h.calls = append(h.calls, meet{})
	}
	t.met[t.scope]++
	c := &h.calls[i]
	begun, ended := t.moment(false), t.moment(true)
	if c.came == 0 || ended.at < c.first.at {
		c.first = ended
	}
	if c.came == 0 || begun.at > c.last.at {
		c.last = begun
	}
	if c.came++; c.came == h.size {
		x.judge("is over", &c.first, &c.last)
		h.calls = h.calls[1:]
		h.done++
	}
	return true
}
