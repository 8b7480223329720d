// Package reconstruct turns event flow graphs back into ordered events with their arguments,
// and writes them as JSON Lines, as text and in the terms of the MPI Trace Format (MTF).
//
// Events are produced one at a time while the graph is walked: nothing is expanded in memory,
// and only what is requested is decoded.
package reconstruct

import (
	"iter"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// Run reconstructs the processes of a run file.
type Run struct {
	run   *runfile.Run
	sites map[uint64]runfile.Site
}

// NewRun prepares the reconstruction of a run.
func NewRun(r *runfile.Run) (*Run, error) {
	sites, err := r.Sites()
	if err != nil {
		return nil, err
	}
	return &Run{r, siteTable(sites)}, nil
}

// Process reads Procs[i] of the run file.
func (r *Run) Process(i int) (*Process, error) {
	p, err := r.run.Process(i)
	if err != nil {
		return nil, err
	}
	return NewProcess(p, namesOf(p, r.sites)), nil
}

// Process is a process whose events can be iterated. Each of its streams must be
// iterated by one goroutine at a time.
type Process struct {
	proc    *efg.Process
	names   *Names
	streams []*stream
	// threads finds the stream of a request that another thread issued.
	threads map[uint32]*stream
	// persistent says that the process has persistent requests: whether one is
	// active must be tracked.
	persistent bool
	vecs       map[uint64][]uint64 // content of vec words
}

// stream is a thread's graph with what is known about its nodes.
type stream struct {
	*efg.Stream
	process *Process
	nodes   []node
}

// NewProcess prepares the reconstruction of a process.
func NewProcess(p *efg.Process, names *Names) *Process {
	r := &Process{proc: p, names: names, threads: map[uint32]*stream{}, vecs: map[uint64][]uint64{}}
	for _, d := range p.Defs {
		if d.Kind == efg.DefVec {
			r.vecs[d.Word] = d.Words
		}
	}
	for i := range p.Streams {
		s := &stream{Stream: &p.Streams[i], process: r, nodes: make([]node, len(p.Streams[i].Nodes))}
		for k := range s.nodes {
			n := &s.nodes[k]
			n.prepare(&s.Nodes[k], r.vecs)
			r.persistent = r.persistent || n.persistent()
		}
		r.streams = append(r.streams, s)
		r.threads[s.Thread] = s
	}
	if r.persistent {
		r.trackActive()
	}
	return r
}

// trackActive marks the nodes where persistent requests are made, start or
// complete.
func (p *Process) trackActive() {
	for _, s := range p.streams {
		for i := range s.nodes {
			if n := &s.nodes[i]; n.requests != 0 || n.persistent() {
				n.tracked |= trackActive
			}
		}
	}
}

// Names returns the names of the process's identities.
func (p *Process) Names() *Names { return p.names }

// Data returns the process's recorded data.
func (p *Process) Data() *efg.Process { return p.proc }

// Options select events of a stream.
type Options struct {
	// From and To are event numbers, To exclusive; 0 stands for all.
	From, To uint64
	// Issues asks for the numbers of the events that issued requests; see
	// Event.Issuer.
	Issues bool
}

// Streams returns the number of threads of the process.
func (p *Process) Streams() int { return len(p.streams) }

// Events iterates over the events of Streams[i] in order. An error ends the iteration. An event
// is valid until the next one.
//
// With From, reading starts at a checkpoint of the stream. If an event turns out to depend on
// something before it, such as a request issued there, reading restarts earlier, each time by a
// larger step.
func (p *Process) Events(i int, opt Options) iter.Seq2[*Event, error] {
	s := p.streams[i]
	to := opt.To
	if to == 0 {
		to = s.Events
	}
	return func(yield func(*Event, error) bool) {
		next, back := opt.From, uint64(0)
		for next < to {
			e := s.eventsFrom(p, next-min(next, back), opt)
			more := e.window(&next, to, yield)
			if !more {
				return
			}
			back = max(2*back, firstStepBack) // something was unknown
		}
	}
}

// firstStepBack is the number of events by which reading goes back if it began too late. Tests
// change it.
var firstStepBack uint64 = 1 << 20

// eventsFrom prepares an iteration that begins at most at event from.
func (s *stream) eventsFrom(p *Process, from uint64, opt Options) *Event {
	e := &Event{stream: s, walk: s.WalkFrom(p.proc.Defs, from)}
	e.track = newTracker(s, opt.Issues)
	if s.Trace != nil {
		e.clock, e.clockErr = s.ClockFrom(from)
		e.timedEvents = s.TimedEvents()
		e.begin = int64(s.Trace.BeginMono()) + p.proc.Clock
	}
	return e
}

// window yields the events from *next to to and advances *next. It returns false at the end,
// and true if event *next needs something that was not read.
func (e *Event) window(next *uint64, to uint64, yield func(*Event, error) bool) (again bool) {
	follow := e.track.issues != nil
	first := true
	for *next < to && e.walk.Next() {
		seq := e.walk.Seq()
		if first {
			e.track.partial = seq > 0
			first = false
		}
		e.Seq, e.number = seq, e.walk.Node()
		if err := e.tick(); err != nil {
			yield(nil, err)
			return false
		}
		e.node = &e.stream.nodes[e.number]
		if e.node.tracked == 0 && !follow {
			if seq == *next {
				if e.track.partial && !e.known() {
					return true
				}
				*next++
				if !yield(e, nil) {
					return false
				}
			}
			continue
		}
		e.track.before(e)
		if seq == *next {
			if e.track.partial && !e.known() {
				return true
			}
			*next++
			if !yield(e, nil) {
				return false
			}
		}
		e.track.after(e)
	}
	if err := e.walk.Err(); err != nil {
		yield(nil, err)
	}
	return false
}

// tick reads the times of the event.
func (e *Event) tick() error {
	if e.timed = e.clock != nil && e.Seq < e.timedEvents; !e.timed {
		return e.clockErr
	}
	start, end, err := e.clock.Next(uint32(e.number))
	e.start, e.end = e.begin+int64(start), e.begin+int64(end)
	return err
}

// Times returns the start and end of the call, in nanoseconds since the run began; ok is false
// if they were not recorded, of this call or of any. FORMAT.md of package efg, "Times", states their accuracy.
// Processes on one machine share a clock; those of different machines agree as well as their
// wall clocks do, unless runfile.Run.Correct was called.
func (e *Event) Times() (start, end int64, ok bool) { return e.start, e.end, e.timed }

// Counters are what each of the process's counters counted in the call and before it, in their order; nil if that was not
// recorded, of this call or of any. They are valid until the next event.
func (e *Event) Counters() []efg.CounterValue {
	if !e.timed {
		return nil
	}
	return e.clock.Values()
}

// known reports whether the event can be described completely: whether its array of requests,
// and the arguments with which its requests were posted, have been read.
func (e *Event) known() bool {
	t, n := e.track, e.node
	if n.tracked&trackArray != 0 && t.constant == signature.Same && !t.valid {
		return false
	}
	if n.requests == 0 {
		return true
	}
	if !n.requestsVec {
		return t.knows(e.Word(n.requests))
	}
	for _, w := range t.array {
		if !t.knows(w) {
			return false
		}
	}
	return true
}

// Event is one call of an MPI procedure.
type Event struct {
	// Seq is the number of the event in its stream, from 0.
	Seq uint64

	stream *stream
	walk   *efg.Walker
	node   *node
	number int // of node
	track  *tracker

	clock       *efg.Clock
	clockErr    error
	timedEvents uint64 // of the stream
	begin       int64  // of its clock, ns since the run began
	timed       bool
	start, end  int64
}

// Rank is the rank of the process.
func (e *Event) Rank() int { return e.stream.process.proc.Rank }

// Thread is the ordinal of the thread.
func (e *Event) Thread() uint32 { return e.stream.Thread }

// Node is the number of the event's node.
func (e *Event) Node() int { return e.number }

// Proc is the procedure, nil if it is not in this version's table.
func (e *Event) Proc() *signature.Proc { return e.node.proc }

// Op is the procedure's C name, without _c.
func (e *Event) Op() string { return e.node.op() }

// Header returns language, variant and error class.
func (e *Event) Header() signature.Header { return e.node.header }

// Depth is the number of calls that the call was made inside of; see signature.Header.
func (e *Event) Depth() int { return e.node.header.Depth() }

// Failed reports whether the call returned an error.
func (e *Event) Failed() bool { return e.node.header.ErrorClass() != 0 }

// Site returns the call's source location.
func (e *Event) Site() string { return e.names().Place(e.node.words[1]) }

// Func returns the function that contains the call, "" if unknown.
func (e *Event) Func() string { return e.names().Func(e.node.words[1]) }

// Path returns the call path, the outermost call first, as Names.Path does; nil if it was not recorded.
func (e *Event) Path() []string { return e.names().Path(e.node.words[1]) }

func (e *Event) names() *Names { return e.stream.process.names }

// Words returns the event's words, nil if the graph is broken.
func (e *Event) Words() []uint64 { return e.walk.Words() }

// Word returns word i of the event; of vec words only constants. Words that the
// procedure does not have are absent.
func (e *Event) Word(i int) uint64 {
	switch {
	case i < 0 || i >= len(e.node.words):
		return signature.Absent
	case e.node.mask>>i&1 == 0:
		return e.node.words[i]
	}
	_, w := e.walk.Attr(e.node.attrOf(i))
	return w
}

// Vec returns the content of vec word i and, if it is nil, the constant in its place. For an
// array of requests it is what the program passed, even if the recorder only noted that it is
// the same as before.
func (e *Event) Vec(i int) (elems []uint64, constant uint64) {
	if i == e.node.requests && e.node.requestsVec {
		return e.track.array, e.track.constant
	}
	return e.vec(i)
}

func (e *Event) vec(i int) ([]uint64, uint64) {
	n := e.node
	if i < len(n.words) && !n.demoted(i) {
		if signature.IsConst(n.words[i]) {
			return nil, n.words[i]
		}
		return n.vecs[i], 0
	}
	if v := e.walk.Vec(i); v != nil {
		return v, 0
	}
	if w := e.Word(i); signature.IsConst(w) {
		return nil, w
	}
	return []uint64{}, 0
}

// Completed returns the positions in the event's array of requests of those
// that the call completed. For calls on one request the position is 0. The
// result is valid until the next event.
func (e *Event) Completed() []int { return e.track.completed(e) }

// Request returns the word of the request at a position, as given by Completed.
func (e *Event) Request(position int) uint64 {
	switch {
	case e.node.requests == 0:
		return signature.Absent
	case !e.node.requestsVec:
		return e.Word(e.node.requests)
	case position >= 0 && position < len(e.track.array):
		return e.track.array[position]
	}
	return signature.Absent
}

// Received returns the words of the sender and tag reported by the completion of the request at
// a position, as given by Completed; signature.Absent if there are none.
func (e *Event) Received(position int) (source, tag uint64) {
	p := e.node.proc
	for i := signature.FirstWord; p != nil && i < len(p.Words); i++ {
		w := &p.Words[i]
		switch {
		case w.Part == signature.Source:
			s := e.receivedStatus(e.Word(i), e.Word(i+1), signature.Absent)
			return s.source, s.tag
		case w.Param >= 0 && p.Params[w.Param].Kind == signature.Statuses:
			for _, s := range e.track.statuses(nil, e, i) {
				if s.position == position {
					return s.source, s.tag
				}
			}
		}
	}
	return signature.Absent, signature.Absent
}

// RequestText returns the name of the request at a position, as in JSON Lines.
func (e *Event) RequestText(position int) string {
	w := e.Request(position)
	if k, ok := signature.ConstNumber(w); ok {
		return constantName(k)
	}
	return string(e.stream.process.names.appendHandle(nil, signature.Req, w, e.Thread()))
}

// Issuer returns the number of the event that issued a request or, if it is
// persistent, last started it; Options.Issues must be set. It is unknown for
// requests that another thread issued.
func (e *Event) Issuer(request uint64) (seq uint64, ok bool) {
	seq, ok = e.track.issues[request]
	return seq, ok
}
