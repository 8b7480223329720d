package match

import (
	"context"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// Visitor sees the outermost calls of a run: each when it is entered and, unless it never returned, when it
// is left. Calls of a process with one thread that complete nothing are left as soon as they were
// entered. A Call is valid during the visit.
type Visitor interface {
	// Enter: Posted is known, and what it depends on as far as that was posted before.
	Enter(c *Call)
	// Exit: Done is known, and what it depends on; see Summary.Unmatched.
	Exit(c *Call)
}

// An InnerVisitor sees all calls, and what is posted and done inside others: those calls before the ones around them,
// though they begin later.
type InnerVisitor interface {
	Visitor
	SeesInner()
}

// Visitors are visited one after the other.
type Visitors []Visitor

// Enter implements Visitor.
func (v Visitors) Enter(c *Call) {
	for _, x := range v {
		x.Enter(c)
	}
}

// Exit implements Visitor.
func (v Visitors) Exit(c *Call) {
	for _, x := range v {
		x.Exit(c)
	}
}

// Summary counts what was matched, and what was not.
type Summary struct {
	Calls, Messages, Collectives uint64
	// Unmatched are calls that completed although what they depend on is not in the recording.
	Unmatched uint64
	// Outside are messages and synchronisations with processes that are not in the file.
	Outside uint64
	// Disagreeing are collective calls that are not matched, because members made different ones.
	Disagreeing uint64
	// Unfinished are calls that never returned.
	Unfinished uint64
}

// matcher walks a trace.
type matcher struct {
	trace    *Trace
	visitor  Visitor
	inner    []InnerVisitor // if there are calls inside others
	summary  Summary
	done     uint64 // events
	queue    queue  // threads that go on
	held     queue  // threads that are held back
	channels map[channelKey]*channel
	spare    []*channel
	scopes   map[scopeKey]*scope
	groups   map[[2]uint64]*group
	splits   map[splitKey]*Operation
	windows  map[lockKey]*lockHistory
	pairs    map[pairsOf]uint32
	reads    *windowReader

	free        []*Operation
	collectives int
	nested      bool // there are calls inside others
}

// progressEvery is the number of events between progress reports.
const progressEvery = 1 << 14

// Walk visits all calls of the trace, once. progress, if not nil, is called with how many of
// Trace.Events are done.
func (t *Trace) Walk(ctx context.Context, v Visitor, progress func(done uint64)) (*Summary, error) {
	m := &matcher{
		trace: t, visitor: v, channels: map[channelKey]*channel{}, scopes: map[scopeKey]*scope{}, groups: map[[2]uint64]*group{},
		splits: map[splitKey]*Operation{}, windows: map[lockKey]*lockHistory{}, pairs: map[pairsOf]uint32{},
		queue: newQueue(len(t.Threads)), held: newQueue(len(t.Threads)), reads: newWindowReader(t.Threads),
	}
	defer m.reads.stop()
	for _, th := range t.Threads {
		if th.Nested() && !m.nested {
			m.nested = true
			m.separate()
		}
		ok, err := m.fetch(th)
		if err != nil {
			return nil, err
		}
		if ok {
			m.await(th)
		}
	}
	next := uint64(0) // number of events after which progress is reported
	for {
		for m.queue.empty() {
			if !m.force() {
				return &m.summary, nil
			}
		}
		i := m.queue.first()
		if err := m.step(t.Threads[i]); err != nil {
			return nil, err
		}
		if m.done >= next {
			next = m.done + progressEvery
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if progress != nil {
				progress(m.done)
			}
		}
	}
}

// step lets the thread whose turn it is leave its call, if it has one, and enter the next ones.
func (m *matcher) step(t *Thread) error {
	if t.left {
		if !t.decided {
			m.decide(t)
			t.decided = true
		}
		if !m.ready(t) {
			return nil
		}
		frees := t.nodes[t.call.Node].freed != 0 // what is made next may have the same name
		if more, err := m.leaveAndFetch(t); !more {
			return err
		}
		if !t.alone || frees {
			m.await(t)
			return nil
		}
	}
	return m.goOn(t)
}

// mostAhead is how many calls a thread makes in one step.
const mostAhead = 1 << 10

// goOn enters calls of a thread up to one that has to be left in its turn.
func (m *matcher) goOn(t *Thread) error {
	for range mostAhead {
		n := &t.nodes[t.call.Node]
		m.enterCall(t, n)
		switch {
		case t.never, t.cut:
			if t.never {
				m.summary.Unfinished++
			}
			m.queue.remove(t)
			return nil
		case !t.alone || !n.quiet && !t.foundNothing(n):
			t.left, t.key = true, t.call.Exit
			m.queue.put(t)
			return nil
		}
		if more, err := m.leaveAndFetch(t); !more {
			return err
		}
	}
	m.await(t)
	return nil
}

// leaveAndFetch ends a call, and goes to the next one of the thread; false if there is none.
func (m *matcher) leaveAndFetch(t *Thread) (bool, error) {
	m.leaveCalls(t)
	if m.done++; !t.call.Proc.Annotates() && !t.nodes[t.call.Node].nested {
		m.summary.Calls++
	}
	more, err := m.fetch(t)
	if !more {
		m.queue.remove(t)
	}
	return more, err
}

// await puts a thread in the queue that is about to enter a call.
func (m *matcher) await(t *Thread) {
	t.key = t.call.Enter
	m.queue.put(t)
}

// foundNothing reports whether the call is a poll that was unsuccessful.
func (t *Thread) foundNothing(n *node) bool { return n.poll != 0 && t.Word(int(n.poll)) == 0 }

// enterCall posts what a call does.
func (m *matcher) enterCall(t *Thread, n *node) {
	t.call.Proc, t.call.Failed = n.proc, n.failed
	if t.polling && !n.nested && !n.proc.Annotates() {
		t.poll(n)
	}
	if n.action != noAction {
		m.enter(t)
	}
	m.show(t, Visitor.Enter)
}

// A program that does something else between two polls takes longer than maxPollGap. One that has
// polled spinning times without doing so does nothing else: if it then takes longer, it has lost
// its processor.
const (
	maxPollGap = 10_000 // ns
	spinning   = 16
)

// poll decides whether a call belongs to the loop of the polls before it.
func (t *Thread) poll(n *node) {
	long := t.call.Enter-t.polled > maxPollGap
	if n.poll == 0 || long && t.tight < spinning {
		t.polling = false
		return
	}
	if !long {
		t.tight++
	}
	t.call.Began = t.polls
}

// decide finds out which operations the call completes.
func (m *matcher) decide(t *Thread) {
	n := &t.nodes[t.call.Node]
	switch {
	case n.failed:
		return
	case n.action == makesPersistent:
		m.make(t, n)
	case n.action == accesses:
		m.accessed(t)
	case n.action == locks:
		m.lock(t, n)
	case n.cancels:
		m.cancel(t, n)
	case n.frees:
		m.abandon(t, n)
	case n.completes:
		open := &t.Process.requests
		for _, place := range t.requests() {
			for o := open.take(place); o != nil; o = o.sibling {
				t.call.Done = append(t.call.Done, o)
			}
		}
	}
}

// cancel: the operations of a request may never find a counterpart.
func (m *matcher) cancel(t *Thread, n *node) {
	p := t.Process
	for o := p.requests.get(p.placeOf(t.Word(n.roles.Requests))); o != nil; o = o.sibling {
		o.cancelled = true
	}
}

// abandon: a request was freed; its operations complete unseen.
func (m *matcher) abandon(t *Thread, n *node) {
	word := t.Word(n.roles.Requests)
	for o := t.Process.requests.take(t.Process.placeOf(word)); o != nil; o = o.sibling {
		o.done = true
	}
	if by, slot := t.Process.issuer(word); by != nil {
		if x := by.prepared[slot]; x != nil {
			m.freeParts(x)
		}
		delete(by.prepared, slot)
	}
}

// ready reports whether all that a call depends on has happened. If not, the thread waits for
// the first that has not, or for the time of the last.
func (m *matcher) ready(t *Thread) bool {
	if t.forced {
		return true
	}
	latest, optional := t.key, t.key
	for _, o := range t.call.Done {
		switch o.Kind {
		case TakePart:
			c := o.Collective
			switch {
			case c.scope.broken:
			case c.Proc.Sync == signature.SyncSome:
				optional = max(optional, c.Last.Enter)
			case !c.complete(o):
				c.waiters = append(c.waiters, t)
				m.hold(t)
				return false
			default:
				if w := o.WaitsFor(); w != nil {
					latest = max(latest, w.Enter)
				}
			}
		case ReceiveMessage, ProbeMessage, StartAccess, WaitExposure:
			switch {
			case o.Partner == nil:
				if o.channel == nil || o.cancelled {
					continue
				}
				o.waiter = t
				m.hold(t)
				return false
			case o.cancelled:
				optional = max(optional, o.Partner.Enter)
			default:
				latest = max(latest, o.Partner.Enter)
			}
		default:
			if o.Partner != nil {
				optional = max(optional, o.Partner.Enter)
			}
		}
	}
	if latest > t.key {
		t.key = latest
		m.queue.put(t)
		return false
	}
	t.hides = optional > t.key
	return true
}

// hold takes a thread out of the queue until it is released.
func (m *matcher) hold(t *Thread) {
	m.queue.remove(t)
	m.held.set(t.Index, min(t.call.Exit, last))
}

// release lets a thread go on that is held back, if it still is.
func (m *matcher) release(t *Thread) {
	if m.held.has(t) {
		m.held.remove(t)
		m.queue.put(t)
	}
}

func (m *matcher) releaseAll(list *[]*Thread) {
	for _, t := range *list {
		m.release(t)
	}
	*list = (*list)[:0]
}

// force lets the earliest of the threads that are held back go on: what it depends on is not in
// the recording. It returns false if there is none; if true, threads may be in the queue, or more have to be forced. Just before the end of the walk, what it depends on may by its
// recorded time, which is not exact, begin after that: then the walk ends in the call.
func (m *matcher) force() bool {
	if m.held.empty() {
		return false
	}
	t := m.trace.Threads[m.held.first()]
	if t.call.Exit > m.trace.End-m.trace.endError() {
		t.cut = true
		m.held.remove(t)
		return true
	}
	t.forced = true
	for _, o := range t.call.Done {
		o.waiter = nil
	}
	m.summary.Unmatched++
	m.release(t)
	return true
}

// leaveCalls ends a call.
func (m *matcher) leaveCalls(t *Thread) {
	n := &t.nodes[t.call.Node]
	t.call.FoundNothing = t.foundNothing(n)
	if t.hides {
		t.hideLater()
	}
	m.show(t, Visitor.Exit)
	if t.hides {
		t.showLater()
	}
	for _, o := range t.call.Done {
		m.complete(o, &t.call)
	}
	if n.action == exposes {
		for _, o := range t.call.Posted {
			o.done = true
		}
	}
	if n.freed != 0 && !n.failed {
		m.leave(t.Process, t.Word(int(n.freed)))
	}
	if n.nested || n.proc.Annotates() {
		return // also between polls
	}
	t.exit = t.call.Exit
	if t.call.FoundNothing && !t.polling {
		t.polls, t.tight = t.call.Enter, 0
	}
	t.polling, t.polled = t.call.FoundNothing, t.call.Exit
}

// hideLater hides what was posted after a call was left, and for which it therefore did not wait: threads
// enter calls ahead of time.
func (t *Thread) hideLater() {
	for _, o := range t.call.Done {
		switch c := o.Collective; {
		case c != nil:
			o.before = c.Proc.Sync == signature.SyncSome && c.Last.Enter > t.key
		case o.Partner != nil && o.Partner.Enter > t.key:
			o.later, o.Partner = o.Partner, nil
		}
	}
}

// showLater undoes hideLater.
func (t *Thread) showLater() {
	t.hides = false
	for _, o := range t.call.Done {
		if o.later != nil {
			o.Partner, o.later = o.later, nil
		}
	}
}

// complete ends an operation.
func (m *matcher) complete(o *Operation, by *Call) {
	switch {
	case o.Collective != nil:
		m.leaveCall(o, by)
		return
	case o.Kind == LockWindow:
		m.recycle(o)
		return
	case o.Kind == ProbeMessage:
		if o.Partner == nil || o.Partner.Partner != o {
			m.drop(o)
		}
		return
	case o.Kind == ReceiveMessage && o.Partner != nil:
		by.Thread.Process.flights.arrive(o.Partner)
	}
	if c := o.channel; o.Kind == ReceiveMessage && c != nil && c.key.kind == partitioned {
		m.finishParts(c, o.round)
	}
	o.done = true
	if p := o.Partner; p != nil && p.done {
		o.channel.to.flights.arrive(o)
		o.channel.to.flights.arrive(p)
		m.recycle(p)
		m.recycle(o)
	} else if p == nil && o.cancelled {
		m.drop(o)
	}
}

// drop ends an operation that has no counterpart.
func (m *matcher) drop(o *Operation) {
	if c := o.channel; c != nil {
		c.sends.remove(o)
		c.receives.remove(o)
		for i, p := range c.probes {
			if p == o {
				c.probes = append(c.probes[:i], c.probes[i+1:]...)
				break
			}
		}
		c.to.flights.arrive(o)
		m.tidy(c)
	}
	m.recycle(o)
}

// fewFree is how many operations a thread keeps for itself: they are near each other in memory.
const fewFree = 64

// recycle ends the turn of an operation.
func (m *matcher) recycle(o *Operation) {
	m.trace.turns[o.ID]++
	if t := o.Thread; len(t.free) < fewFree {
		t.free = append(t.free, o)
	} else {
		m.free = append(m.free, o)
	}
}

// fetch goes to the next call of a thread; false if there is none before the end of the walk.
func (m *matcher) fetch(t *Thread) (bool, error) {
	c, end := &t.call, m.trace.End
	t.left, t.decided, t.forced = false, false, false
	c.Posted, c.Done = c.Posted[:0], c.Done[:0]
	for {
		more, err := m.next(t)
		if err != nil {
			return false, err
		}
		if !more {
			return t.Trace.Untimed == 0 && t.fetchPending() && c.Enter < end, nil
		}
		c.Node, c.Event = int(t.event.node), t.events
		t.events++
		c.Enter, c.Exit = t.event.enter, t.event.exit
		if c.Exit <= end || !t.nodes[c.Node].nested { // the call around it is the last one
			break
		}
	}
	c.Began, t.key = c.Enter, c.Enter
	t.cut = c.Exit > end
	t.GoesOn = c.Enter >= end
	return !t.GoesOn, nil
}

// next goes to the next event of the window; false if there is none.
func (m *matcher) next(t *Thread) (bool, error) {
	w := &t.window
	if w.next == len(w.events) {
		if err := m.nextWindow(t); err != nil {
			return false, err
		}
	}
	if t.ahead != nil && t.ahead.Err != nil {
		return false, t.ahead.Err
	}
	if len(w.events) == 0 {
		return false, nil
	}
	t.event = w.events[w.next]
	w.next++
	return true, nil
}

// fetchPending goes to the call that the thread was in when its recording ended, if there is
// one. Its node is the one after those of the stream.
func (t *Thread) fetchPending() bool {
	p := t.Pending
	if p == nil || len(t.nodes) > len(t.Nodes) {
		return false
	}
	t.nodes = append(t.nodes, node{})
	n := &t.nodes[len(t.Nodes)]
	n.prepareWords(p.Words)
	if n.action == issuesMessage || n.action == issuesPart || n.action == makesPersistent || n.action == startsPersistent {
		n.action = noAction
	}
	t.never, t.event = true, event{}
	c := &t.call
	c.Node, c.Event = len(t.Nodes), t.Events
	c.Enter = max(t.exit, t.enteredAt(p))
	c.Began, t.key = c.Enter, c.Enter
	return true
}

// enteredAt is when a call in progress was entered, in ns since the run began; 0: not known.
func (t *Thread) enteredAt(c *efg.Pending) int64 {
	p := t.Process.Facts.Data
	at := c.At(p)
	if at == 0 {
		return 0
	}
	at += p.Clock - p.Mono
	if x := t.Trace.Correction; x != nil {
		at = x.Time(at, 2*int64(t.Events))
	}
	return at
}

// Signature returns the words that the calls of a node have in common, also of the call that
// never returned.
func (t *Thread) Signature(node int) []uint64 {
	if node == len(t.Nodes) {
		return t.Pending.Words
	}
	return t.Nodes[node].Words
}
