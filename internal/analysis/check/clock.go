package check

import (
	"iter"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
)

// If the times of all events were recorded, an operation must not end before the operation that
// it needs of another process has begun. Processes on one machine share a clock, and those of all
// if clocks are corrected. The processes that share one are iterated side by side, each as far as the others allow: operations
// without a counterpart so far are kept, and a process with too many of these waits until the
// others have caught up.

// clockCheck iterates over the events of the processes of a machine.
type clockCheck struct {
	b              *builder
	streams        []*streamCursor
	here           map[int]bool // whether the order of the messages is known, by rank
	limit          int          // maximum number of operations of a queue without a counterpart
	total          uint64       // events of all streams
	queues         map[channel]*messageQueue
	collectives    map[scopeKey]*openCollectives
	contradictions map[contradictionKey]*contradiction
}

// Bounds of clockCheck.limit. If processes are further apart than the largest limit, the run is
// not iterated to the end.
const (
	firstLimit = 1 << 10
	lastLimit  = 1 << 19
)

// progressEvery is the number of events between progress reports.
const progressEvery = 1 << 12

// streamCursor iterates over the events of a stream.
type streamCursor struct {
	proc      *analysis.Process
	rank      int
	thread    uint32
	events    uint64 // of the stream
	timeError int64  // error bound of its times
	names     *reconstruct.Names
	roles     []*roles // by node, where requests complete
	coll      []*collRoles
	m         *messages // nil if messages are not compared
	tally     *tally
	open      map[uint64][]*operation // by request
	// forgotten counts operations whose completion is not compared, because too many requests
	// were pending. The first is at event forgot.
	forgotten, forgot uint64

	next func() (*reconstruct.Event, error, bool)
	stop func()
	e    *reconstruct.Event // the next event; nil at the end

	moves           []transfer // of e
	scope           scopeKey   // of e, if it is a collective that is compared
	known           bool       // moves and scope are those of e
	collectiveCalls map[scopeKey]uint64
}

// eventTime is the time of the beginning or the end of an event.
type eventTime struct {
	by    *streamCursor
	node  int32
	event uint64
	at    int64 // ns
}

// operation is one side of a message, or a process's part in a collective call.
type operation struct {
	begun, ended eventTime // ended.by is nil if it has not ended
	side         int       // 0 sends, 1 receives
	sync         bool      // a synchronous send
	other        *operation
}

// messageQueue holds the operations of a channel, all of one side, that have no counterpart so
// far; it is nil if the channel is not compared.
type messageQueue struct{ waiting []*operation }

// openCollectives are the calls of a communicator that not all members on the machine have made.
type openCollectives struct {
	size  int // 0 if not compared
	done  uint64
	calls []openCollective
}

// openCollective is a collective call that no member leaves before all have entered it.
type openCollective struct {
	arrived     int
	first, last eventTime // the first member that left, the last that entered
}

// clockChecks compares the times of the processes of each machine.
func (b *builder) clockChecks() error {
	if !b.run.Meta.Traced() {
		return nil
	}
	hosts := map[string][]int{}
	var order []string
	for i := range b.run.Procs {
		host := b.run.Procs[i].Host
		if b.run.Corrected() {
			host = "all"
		}
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
		if err := b.clockCheck(hosts[host], sites); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) clockCheck(procs []int, sites []runfile.Site) error {
	x := &clockCheck{
		b: b, here: map[int]bool{}, limit: firstLimit, queues: map[channel]*messageQueue{}, collectives: map[scopeKey]*openCollectives{},
		contradictions: map[contradictionKey]*contradiction{},
	}
	defer func() {
		for _, t := range x.streams {
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
func (x *clockCheck) open(p *analysis.Process, sites []runfile.Site) error {
	m := messagesOf(p)
	x.here[p.Data.Rank] = m != nil
	names := reconstruct.NamesOf(p.Data, sites)
	r := reconstruct.NewProcess(p.Data, names)
	for i := range p.Data.Streams {
		s := &p.Data.Streams[i]
		if s.Trace == nil {
			x.here[p.Data.Rank] = m != nil && m.stream != i && x.here[p.Data.Rank]
			continue
		}
		t := &streamCursor{
			proc: p, rank: p.Data.Rank, thread: s.Thread, events: s.Events, timeError: int64(s.Trace.BoundNS()), names: names, tally: newTally(p),
			roles: make([]*roles, len(s.Nodes)), coll: make([]*collRoles, len(s.Nodes)),
			open: map[uint64][]*operation{}, collectiveCalls: map[scopeKey]uint64{},
		}
		if m != nil && m.stream == i {
			t.m = m
		}
		t.prepare(s)
		t.next, t.stop = iter.Pull2(timedEvents(r, i, s.TimedEvents()))
		x.streams = append(x.streams, t)
		x.total += s.TimedEvents()
		if err := t.fetch(); err != nil {
			return err
		}
	}
	return nil
}

// timedEvents are the first n events of stream i.
func timedEvents(r *reconstruct.Process, i int, n uint64) iter.Seq2[*reconstruct.Event, error] {
	if n == 0 {
		return func(func(*reconstruct.Event, error) bool) {}
	}
	return r.Events(i, reconstruct.Options{To: n})
}

// prepare finds the nodes that complete requests, and those of collectives.
func (t *streamCursor) prepare(s *efg.Stream) {
	for k := range s.Nodes {
		r := rolesOf(&s.Nodes[k])
		if r.proc == nil || s.Nodes[k].Counted > 0 {
			continue
		}
		if t.m != nil && r.requests != 0 && (r.completes != "" || r.frees) {
			t.roles[k] = r
		}
		if c := collectiveOf(r); c != nil && r.proc.Issues == "" && c.synchronizes() {
			t.coll[k] = c
		}
	}
}

// synchronizes reports whether no member leaves such a call before all have entered it,
// provided that data are exchanged. Calls with arrays of counts may have no data for some
// members.
func (c *collRoles) synchronizes() bool { return c.proc.Synchronises() && !c.vector() }

// fetch moves to the next event.
func (t *streamCursor) fetch() error {
	e, err, ok := t.next()
	if t.e = e; !ok {
		t.e = nil
	}
	t.known = false
	return err
}

// run iterates over all events.
func (x *clockCheck) run() error {
	done := uint64(0)
	for {
		moved, left := false, false
		for _, t := range x.streams {
			before := t.e
			for t.e != nil && x.take(t) {
				moved = true
				if done++; done%progressEvery == 0 {
					x.b.reportProgress("events", done, x.total)
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

// take processes the next event of a stream; false if others must catch up first.
func (x *clockCheck) take(t *streamCursor) bool {
	k := t.e.Node()
	role, coll := t.roles[k], t.coll[k]
	moves := t.movesAt(k)
	if moves == nil && coll == nil && (role == nil || len(t.open) == 0) {
		return true
	}
	if !t.known {
		x.prepareNext(t, moves, coll)
	}
	for _, move := range t.moves {
		if l := x.queues[move.channel]; len(l.waiting) >= x.limit && l.waiting[0].side == move.side {
			return false
		}
	}
	if t.scope.word != 0 && !x.addCollective(t) {
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
func (t *streamCursor) movesAt(node int) *roles {
	if t.m == nil {
		return nil
	}
	return t.m.roles[node]
}

// prepareNext determines what the event does, as far as that is compared.
func (x *clockCheck) prepareNext(t *streamCursor, moves *roles, coll *collRoles) {
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
			if x.queueOf(move.channel) != nil {
				t.moves = append(t.moves, move)
			}
		}
	}
	if coll == nil {
		return
	}
	scope := t.tally.scope(words[coll.scope])
	if scope.word == 0 || x.collectivesOf(scope).size < 2 {
		return
	}
	if coll.proc.Barrier() || coll.symbolOf(t.tally.types, words, false).amount.bytes > 0 {
		t.scope = scope
	}
}

// queueOf returns nil if the channel is not compared.
func (x *clockCheck) queueOf(c channel) *messageQueue {
	l, ok := x.queues[c]
	if !ok {
		f := x.b.flows[c]
		if x.here[int(c.from)] && x.here[int(c.to)] && f != nil && x.b.allReceived(c, f) {
			l = &messageQueue{}
		}
		x.queues[c] = l
	}
	return l
}

func (x *clockCheck) collectivesOf(k scopeKey) *openCollectives {
	h := x.collectives[k]
	if h != nil {
		return h
	}
	h = &openCollectives{}
	x.collectives[k] = h
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

// time returns the beginning or the end of the event.
func (t *streamCursor) time(end bool) eventTime {
	start, at, _ := t.e.Times()
	if !end {
		at = start
	}
	return eventTime{t, int32(t.e.Node()), t.e.Seq, at}
}

// addCollective adds the event to the calls of its communicator.
func (x *clockCheck) addCollective(t *streamCursor) bool {
	h := x.collectives[t.scope]
	i := t.collectiveCalls[t.scope] - h.done
	if i >= uint64(x.limit) {
		return false
	}
	if i == uint64(len(h.calls)) {
		h.calls = append(h.calls, openCollective{})
	}
	t.collectiveCalls[t.scope]++
	c := &h.calls[i]
	begun, ended := t.time(false), t.time(true)
	if c.arrived == 0 || ended.at < c.first.at {
		c.first = ended
	}
	if c.arrived == 0 || begun.at > c.last.at {
		c.last = begun
	}
	if c.arrived++; c.arrived == h.size {
		x.requireOrder("is over", &c.first, &c.last)
		h.calls = h.calls[1:]
		h.done++
	}
	return true
}
