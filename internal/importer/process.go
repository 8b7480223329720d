package importer

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// Times says which times of calls a run file gets.
type Times struct {
	// Each keeps those of each call, with a relative error of Parts in units of efg.ErrorUnit; 0:
	// as they are. Otherwise only the statistics of each node are kept, or nothing if Off.
	Each  bool
	Off   bool
	Parts uint32
}

// Text is the value of runfile.Meta.Time.
func (t Times) Text() string {
	switch {
	case t.Off:
		return "off"
	case t.Each:
		return runfile.TraceTime(t.Parts, 0)
	}
	return "stats"
}

// Process is a process that is being made.
type Process struct {
	Data    *efg.Process // what is known of it; Defs and Streams are set by Finish
	Names   *Names
	times   Times
	defs    *efg.Definitions
	threads map[uint32]*Thread
	// requests are those that are open, by their words.
	requests map[uint64]*request
	locals   map[string]uint64 // words of local objects, by name
}

// NewProcess begins a process. names are those of its run.
func NewProcess(data *efg.Process, names *Names, times Times) *Process {
	p := &Process{Data: data, Names: names, times: times, defs: &efg.Definitions{}, threads: map[uint32]*Thread{}, requests: map[uint64]*request{}, locals: map[string]uint64{}}
	return p
}

// Thread returns a thread, which begins when it is first asked for.
func (p *Process) Thread(number uint32) *Thread {
	t := p.threads[number]
	if t == nil {
		t = &Thread{process: p, number: number, build: efg.NewBuilder(number, efg.DefaultDemote, p.defs)}
		p.threads[number] = t
	}
	return t
}

// Thread is a stream that is being made.
type Thread struct {
	process *Process
	number  uint32
	build   *efg.Builder
	pending *efg.Pending
	ended   bool // its last call, but for annotations, ended MPI

	events  uint64
	started bool
	begin   uint64 // ns
	last    uint64 // end of the call before, ns
	nesting efg.Nesting[uint64]
	untimed uint64 // calls without times after those that have some
	times   []efg.Times
	stats   []*efg.Stats

	// array are the requests as the last call with an array of requests left them, if valid.
	array []uint64
	valid bool
}

// Call is a call to be added.
type Call struct {
	efg.Input
	Start, End uint64 // ns since the run began
	Timed      bool
	// Slot: the word of a new local object is its slot, unless a request that is open has it: two calls of the
	// source may be one here. Otherwise it gets the lowest free one.
	Slot bool
}

// Events is the number of calls so far.
func (t *Thread) Events() uint64 { return t.events }

// Add adds a call, and returns the word of the request, message or other local object that it
// makes, 0 if it makes none. A status in it is complete: Add leaves out what follows from the call
// that posted the receive.
func (t *Thread) Add(c *Call) (id uint64, err error) {
	p := signature.ProcByID(signature.Header(c.Words[0]).Proc())
	if p == nil || len(p.Words) != len(c.Words) {
		return 0, fmt.Errorf("procedure %d of %d words", signature.Header(c.Words[0]).Proc(), len(c.Words))
	}
	array := t.requestsOf(p, &c.Input)
	done := completed(p, &c.Input, array)
	t.follow(p, &c.Input, array, done)
	t.same(p, &c.Input, array)
	slot := slotOf(p)
	switch makes := slot > 0 && !signature.IsConst(c.Words[slot]); {
	case makes && c.Slot:
		id, err = t.build.AddSlot(c.Input, t.process.open)
	case makes:
		id, err = t.build.AddNew(c.Input)
	default:
		err = t.build.Add(c.Input)
	}
	if err != nil {
		return 0, err
	}
	t.events++
	t.ended = p.Ends || t.ended && p.Class == signature.Annotation
	t.addTimes(t.build.Node(), c)
	t.after(p, &c.Input, array, done, id)
	return id, nil
}

// open reports whether there is a request of a word.
func (p *Process) open(word uint64) bool { return p.requests[word] != nil }

// slotOf is the word of a new local object, 0 if the procedure makes none.
func slotOf(p *signature.Proc) int {
	for i := range p.Words {
		if p.Words[i].Form == signature.SlotForm {
			return i
		}
	}
	return 0
}

// addTimes adds the times of a call at a node.
func (t *Thread) addTimes(node int, c *Call) {
	for node >= len(t.times) {
		t.times = append(t.times, efg.Times{})
		t.stats = append(t.stats, &efg.Stats{})
	}
	if !c.Timed {
		t.untimed++
		return
	}
	if !t.started {
		t.started, t.begin, t.last = true, c.Start, c.Start
	}
	before, _ := t.nesting.Enter(signature.Header(c.Words[0]).Depth(), t.events-1, t.last)
	start := max(c.Start, before)
	end := max(c.End, start)
	gap, dur := start-before, end-start
	t.last = end
	t.stats[node].Add(gap, dur)
	if t.process.times.Each {
		t.times[node].Gap.Append(gap)
		t.times[node].Dur.Append(dur)
	}
}

// Enter says that the thread was in a call when its recording ended, since some ns after the run
// began; 0: it is not known. Of calls inside each other, each is said to be in progress, in any order.
func (t *Thread) Enter(in efg.Input, since uint64) {
	for _, v := range in.Vecs {
		t.process.defs.Add(efg.Def{Kind: efg.DefVec, Word: in.Words[v.Word], Words: v.Elems})
	}
	call := efg.NewPending(in.Words, since)
	depth := func(c *efg.Pending) int { return signature.Header(c.Words[0]).Depth() }
	if t.pending == nil || depth(call) < depth(t.pending) {
		call.Inner, t.pending = t.pending, call
		return
	}
	t.pending.Inside(call)
}

// Finish returns the process, whose threads have the numbers in the order of which their streams
// are.
func (p *Process) Finish() (*efg.Process, error) {
	finalized := false
	for _, t := range p.threads {
		finalized = finalized || t.ended
	}
	for number := uint32(0); len(p.Data.Streams) < len(p.threads); number++ {
		t := p.threads[number]
		if t == nil {
			return nil, fmt.Errorf("%d threads, but none with the number %d", len(p.threads), number)
		}
		s, err := t.finish()
		if err != nil {
			return nil, err
		}
		s.End = t.end(finalized)
		p.Data.Streams = append(p.Data.Streams, *s)
	}
	p.Data.Defs = p.defs.List
	return p.Data, nil
}

// end is how the stream ended, of a process in which MPI was finalized or not.
func (t *Thread) end(finalized bool) efg.End {
	switch {
	case t.pending != nil:
	case t.ended || t.number == 0 && finalized:
		return efg.EndFinalized
	case finalized:
		return efg.EndThread
	}
	return efg.EndOpen
}

func (t *Thread) finish() (*efg.Stream, error) {
	s, err := t.build.Stream()
	if err != nil {
		return nil, err
	}
	s.Pending = t.pending
	times := t.process.times
	if times.Off || !t.started {
		return s, nil
	}
	for i := range s.Nodes {
		s.Nodes[i].Stats = t.stats[i]
		if times.Each {
			s.Nodes[i].Times = &t.times[i]
		}
	}
	if !times.Each {
		return s, nil
	}
	s.Trace = &efg.Trace{Begin: t.begin, Untimed: t.untimed}
	return s, s.Quantize(times.Parts, efg.DefaultBound)
}
