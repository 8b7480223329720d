package simulate

import (
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// process writes what a process does.
type process struct {
	*exporter
	rank        int
	facts       *analysis.Process
	out         writer
	threads     []*thread
	requests    map[uint64]*request // and messages that were probed, by word
	comms       map[uint64]*comm    // by word
	partitioned map[labelled]int    // requests of partitioned communication
}

// thread is a stream that is read.
type thread struct {
	number   int // among those of its process, from 0
	ordinal  uint32
	plans    []plan
	reader   *reconstruct.Reader
	ahead    *analysis.Outcomes
	next     *reconstruct.Event // nil at the end
	computed int64              // ns since what was written last
	start    int64              // of the call at hand, ns since the run began
	end      int64              // of the same, or of the one before while it is not begun
	timed    bool               // they are known
	last     step               // what the next operation requires
}

// comm is a communicator as a process sees it.
type comm struct {
	known bool
	name  labelled // without a tag
	// own are the members of the process's group, and other those of the remote group of an
	// intercommunicator.
	own, other *analysis.Members
	number     int64  // among all communicators
	joined     uint64 // collective calls so far
}

// streams writes the streams of a process: the next call is the one that ended first, unless it names
// a request that a call of another thread makes later. Without times, that decides alone.
func (p *process) streams(replay *reconstruct.Process, numbers []int) error {
	for k, number := range numbers {
		s := &replay.Data().Streams[number]
		t := &thread{number: k, ordinal: s.Thread, plans: make([]plan, len(s.Nodes)), reader: replay.Reader(number)}
		for i := range s.Nodes {
			t.plans[i] = planOf(&s.Nodes[i])
		}
		t.ahead = analysis.OutcomesOf(replay, number, t.receives)
		p.threads = append(p.threads, t)
		if err := t.advance(); err != nil {
			return err
		}
	}
	const often = 1 << 12
	for n := uint64(1); ; n++ {
		t := p.first()
		if t == nil {
			return p.job.Done((n - 1) % often)
		}
		p.compute(t)
		if err := p.call(t, t.next); err != nil {
			return err
		}
		if err := t.advance(); err != nil {
			return err
		}
		if n%often == 0 {
			if err := p.job.Done(often); err != nil {
				return err
			}
		}
	}
}

func (t *thread) advance() (err error) {
	t.next, err = t.reader.Next()
	return err
}

// first returns the thread whose next call is next, nil if there are no more.
func (p *process) first() *thread {
	var best *thread
	var bestWaits bool
	var bestEnd int64
	for _, t := range p.threads {
		if t.next == nil {
			continue
		}
		if len(p.threads) == 1 {
			return t
		}
		waits := p.waits(t)
		_, end, _ := t.next.Times()
		if best == nil || bestWaits && !waits || waits == bestWaits && end < bestEnd {
			best, bestWaits, bestEnd = t, waits, end
		}
	}
	return best
}

// waits reports whether the next call of a thread names something that another thread has yet to make.
func (p *process) waits(t *thread) bool {
	x := &t.plans[t.next.Node()]
	if x.refers == 0 {
		return false
	}
	list := []uint64{t.next.Word(x.refers)}
	if x.proc.Vector(x.refers) {
		list, _ = t.next.Vec(x.refers)
	}
	for _, w := range list {
		if id, ok := signature.ParseID(w); ok && id.Thread != t.ordinal && p.requests[w] == nil {
			return true
		}
	}
	return false
}

// receives reports whether a request may be of a receive whose outcome the thread looks for.
func (t *thread) receives(request uint64) bool {
	id, ok := signature.ParseID(request)
	return ok && id.Thread == t.ordinal && int(id.Node) < len(t.plans) && t.plans[id.Node].received
}

// compute adds the time between the next call and the one before it. That of a call inside another one
// is in the time of the outer one.
func (p *process) compute(t *thread) {
	if t.next.Depth() > 0 {
		return
	}
	start, end, ok := t.next.Times()
	if ok && t.timed {
		t.computed += max(0, start-t.end)
	}
	if t.start, t.end, t.timed = start, end, ok; ok {
		p.measured = true
	} else {
		p.untimed++
	}
}

// call writes what a call does.
func (p *process) call(t *thread, e *reconstruct.Event) error {
	x := &t.plans[e.Node()]
	switch x.action {
	case leftOut:
		p.leftOut[x.name]++
	case missing:
		p.missing[x.name]++
	case transfers:
		p.transfer(t, e, x)
	case issues:
		p.issue(t, e, x)
	case prepares:
		p.prepare(e, x)
	case starts:
		p.start(t, e, x)
	case readies:
		p.ready(t, e, x)
	case matches:
		p.match(t, e, x)
	case takes:
		p.take(e, x)
	case joins:
		p.join(t, e, x)
	}
	p.other(e, x)
	if x.completes && x.action != missing {
		p.complete(t, e)
	}
	if x.frees && x.action != missing {
		delete(p.requests, e.Word(x.roles.Requests))
	}
	if x.proc != nil && x.proc.FreedKind() == signature.Comm && !e.Failed() {
		delete(p.comms, e.Word(x.roles.Freed))
	}
	return t.ahead.Err
}

// other notes requests of calls that are not simulated: threads that wait for them need not let others
// go first.
func (p *process) other(e *reconstruct.Event, x *plan) {
	if x.proc == nil || x.roles.Request == 0 || len(p.threads) == 1 {
		return
	}
	if w, ok := made(e, x.roles.Request); ok && p.requests[w] == nil {
		p.requests[w] = &request{}
	}
}

// made is the word of the object that an event makes; false if there is none.
func made(e *reconstruct.Event, slot int) (uint64, bool) {
	w := e.Word(slot)
	return signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(w)}.Word(), signature.IsPlain(w)
}

// comm finds a communicator.
func (p *process) comm(word uint64) *comm {
	if c := p.comms[word]; c != nil {
		return c
	}
	c := &comm{}
	p.comms[word] = c
	if c.own, c.other = p.facts.Members(word); c.own == nil || c.own.Index(p.rank) < 0 {
		return c
	}
	c.known, c.name = true, labelled{comm: p.facts.CommonName(word), world: p.facts.FirstRank()}
	if word == signature.CommSelf {
		c.name.world = p.rank
	}
	n, ok := p.numbers[c.name]
	if !ok {
		n = int64(len(p.numbers))
		p.numbers[c.name] = n
	}
	c.number = n
	return c
}
