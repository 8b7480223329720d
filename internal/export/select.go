package export

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Selection selects a part of a run to write.
type Selection struct {
	Procs []int // numbers of processes in the run, in order
	// Thread is the ordinal of the only thread to write, -1 for all.
	Thread int
	// From and To are event numbers of each stream, To exclusive; To 0 stands for the
	// end.
	From, To uint64
	// Time, if not nil, selects the calls that are in progress at some time of it, instead of
	// From and To.
	Time *TimeWindow
}

// TimeWindow is a part of a run's time, in ns since the run began, To exclusive.
type TimeWindow struct{ From, To int64 }

// Has reports whether a call is in progress at some time of the window; w may be nil.
func (w *TimeWindow) Has(start, end int64) bool {
	return w == nil || start < w.To && end >= w.From
}

// Window reports whether events are left out of streams that are written.
func (s *Selection) Window() bool { return s.From > 0 || s.To > 0 }

// Meta returns the metadata of the part of the run. Time statistics describe whole streams: a
// window has none.
func (s *Selection) Meta(m runfile.Meta) runfile.Meta {
	if s.Window() && m.Time == "stats" {
		m.Time = "off"
	}
	return m
}

// Process returns the selected part of a process, with its definitions. A window becomes a
// process whose recording began and ended with it: objects that were created before it have
// numbers that no node has.
func (s *Selection) Process(p *reconstruct.Process) (*efg.Process, error) {
	q := *p.Data()
	q.Streams = nil
	if s.Window() {
		q.Sum = nil
	}
	cut := newCutter(p)
	for i := range p.Data().Streams {
		from := &p.Data().Streams[i]
		if s.Thread >= 0 && uint32(s.Thread) != from.Thread {
			continue
		}
		if !s.Window() {
			q.Streams = append(q.Streams, *from)
			continue
		}
		if err := from.LoadTimes(); err != nil {
			return nil, err
		}
		stream, err := cut.stream(i, s)
		if err != nil {
			return nil, err
		}
		q.Streams = append(q.Streams, *stream)
	}
	if s.Window() {
		q.Defs = cut.defs.List
	}
	return &q, nil
}

// cutter makes streams from windows of a process.
type cutter struct {
	proc *reconstruct.Process
	defs *efg.Definitions
	// ids are the live objects that were created in windows: their new names, by the old ones.
	ids map[uint64]object

	// Of the current stream:
	build *efg.Builder
	known bool // an array of requests was written, to which EFG_SAME can refer
	times []efg.Times
	left  []timesLeft // of the source's nodes
	timed uint64      // events of the source that have times and were not read
}

type object struct {
	id      uint64
	endures bool // completing it does not free it
}

type timesLeft struct{ gap, dur efg.TimeIter }

func newCutter(p *reconstruct.Process) *cutter {
	return &cutter{proc: p, ids: map[uint64]object{}, defs: efg.NewDefinitions(append([]efg.Def(nil), p.Data().Defs...))}
}

// stream returns the window of a stream. Its times, where each event has some, continue from
// the end of the event before it.
func (c *cutter) stream(i int, sel *Selection) (*efg.Stream, error) {
	from := &c.proc.Data().Streams[i]
	c.build, c.known, c.times, c.left = efg.NewBuilder(from.Thread, efg.DefaultDemote, c.defs), false, nil, nil
	opt := reconstruct.Options{From: sel.From, To: sel.To}
	if from.Trace != nil {
		opt.From = 0 // times are read from the first ones on
		c.openTimes(from)
	}
	var trace *efg.Trace
	if from.Trace != nil {
		trace = &efg.Trace{Error: from.Trace.Error, Bound: from.Trace.Bound, Begin: from.Trace.Begin, Clock: from.Trace.Clock}
	}
	for e, err := range c.proc.Events(i, opt) {
		if err != nil {
			return nil, err
		}
		gap, dur, timed := c.nextTimes(e.Node())
		if e.Seq < sel.From {
			if trace != nil {
				trace.Begin += gap + dur
			}
			continue
		}
		node, err := c.event(e)
		if err != nil {
			return nil, err
		}
		if c.addTimes(node, gap, dur, timed); trace != nil && !timed {
			trace.Untimed++
		}
	}
	return c.finish(from, sel, trace)
}

func (c *cutter) finish(from *efg.Stream, sel *Selection, trace *efg.Trace) (*efg.Stream, error) {
	s, err := c.build.Stream()
	if err != nil {
		return nil, err
	}
	if s.Trace = trace; trace != nil {
		for i := range s.Nodes {
			s.Nodes[i].Times = &c.times[i]
		}
	}
	if sel.To == 0 || sel.To >= from.Events {
		s.End, s.Dropped = from.End, from.Dropped
		s.Pending = c.pending(from.Pending)
	}
	return s, nil
}

// pending is the call in progress after the window, with the names that objects have there. An
// array that is recorded when the call returns is left out: it is known only as a hash of the
// old names, or from the call before.
func (c *cutter) pending(from *efg.Pending) *efg.Pending {
	if from == nil {
		return nil
	}
	p := &efg.Pending{Words: slices.Clone(from.Words), Since: from.Since, Inner: c.pending(from.Inner)}
	proc := signature.ProcByID(signature.Header(p.Words[0]).Proc())
	for i := signature.FirstWord; proc != nil && i < min(len(p.Words), len(proc.Words)); i++ {
		w := &proc.Words[i]
		if w.Param < 0 || !proc.Params[w.Param].Kind.Local() {
			continue
		}
		if p.Words[i] = c.name(p.Words[i]); w.Form == signature.VecForm {
			p.Words[i] = signature.Absent
		}
	}
	return p
}

func (c *cutter) openTimes(s *efg.Stream) {
	c.left, c.timed = make([]timesLeft, len(s.Nodes)), s.TimedEvents()
	for i := range s.Nodes {
		c.left[i] = timesLeft{s.Nodes[i].Times.Gap.Iter(), s.Nodes[i].Times.Dur.Iter()}
	}
}

// nextTimes are the times of the next event, if it has some.
func (c *cutter) nextTimes(node int) (gap, dur uint64, timed bool) {
	if c.left == nil || c.timed == 0 {
		return 0, 0, false
	}
	c.timed--
	gap, _ = c.left[node].gap.Next()
	dur, _ = c.left[node].dur.Next()
	return gap, dur, true
}

// addTimes adds the times of an event at a node of the window, if it has some.
func (c *cutter) addTimes(node int, gap, dur uint64, timed bool) {
	if c.left == nil {
		return
	}
	for node >= len(c.times) {
		c.times = append(c.times, efg.Times{})
	}
	if timed {
		c.times[node].Gap.Append(gap)
		c.times[node].Dur.Append(dur)
	}
}

// event adds an event to the window and returns its node there.
func (c *cutter) event(e *reconstruct.Event) (node int, err error) {
	if p := signature.ProcByID(e.Header().Proc()); e.Proc() == nil && p != nil {
		return 0, fmt.Errorf("%w: event %d: %d words, those of %s are %d", efg.ErrGraph, e.Seq, len(e.Words()), p.Name, len(p.Words))
	}
	if e.Words() == nil {
		return 0, fmt.Errorf("%w: event %d: a word without its definition", efg.ErrWalk, e.Seq)
	}
	in, slot := c.input(e)
	if slot > 0 && signature.IsPlain(in.Words[slot]) {
		old := signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(in.Words[slot])}.Word()
		c.free(old)
		id, err := c.build.AddNew(in)
		if err != nil {
			return 0, err
		}
		c.ids[old] = object{id, e.Proc().Persistent || e.Proc().Issues == ""}
	} else if err := c.build.Add(in); err != nil {
		return 0, err
	}
	c.release(e)
	return c.build.Node(), nil
}

// input is the event with the names that objects have in the window, and its slot word, 0 if it
// has none.
func (c *cutter) input(e *reconstruct.Event) (in efg.Input, slot int) {
	in.Words = append([]uint64(nil), e.Words()...)
	p := e.Proc()
	if p == nil {
		return in, 0
	}
	for i := signature.ObjectWord; i < len(in.Words); i++ {
		w := &p.Words[i]
		local := w.Param >= 0 && p.Params[w.Param].Kind.Local()
		switch {
		case w.Form == signature.VecForm:
			c.vector(e, &in, i, local)
			continue
		case w.Form == signature.SlotForm:
			slot = i
		}
		if local {
			in.Words[i] = c.name(in.Words[i])
		}
	}
	return in, slot
}

// vector adds the content of array word i.
func (c *cutter) vector(e *reconstruct.Event, in *efg.Input, i int, local bool) {
	elems, _ := e.Vec(i)
	if signature.IsConst(in.Words[i]) && (elems == nil || c.known && !slices.ContainsFunc(elems, c.older)) {
		return // a constant, or the array that the last call left
	}
	elems = append([]uint64{}, elems...)
	for k := range elems {
		if local {
			elems[k] = c.name(elems[k])
		}
	}
	c.known = c.known || local
	in.Words[i] = signature.Ident(signature.Hash(elems...))
	in.Vecs = append(in.Vecs, efg.VecContent{Word: i, Elems: elems})
}

// older reports whether a word names an object that was created before the window. The window
// does not show whether completing it frees it, nor what a call leaves of it.
func (c *cutter) older(w uint64) bool {
	_, made := c.ids[w]
	return signature.IsID(w) && !made
}

// name is the name, in the window, of the object that word w names.
func (c *cutter) name(w uint64) uint64 {
	id, ok := signature.ParseID(w)
	if !ok {
		return w
	}
	if o, ok := c.ids[w]; ok {
		return o.id
	}
	id.Node = 1<<signature.NodeBits - 1 - id.Node // created before the window
	return id.Word()
}

// release frees the names of objects that no longer exist after the event.
func (c *cutter) release(e *reconstruct.Event) {
	p := e.Proc()
	if p == nil || e.Failed() {
		return
	}
	if p.Peeks == "" {
		for _, i := range e.Completed() {
			if w := e.Request(i); !c.ids[w].endures {
				c.free(w)
			}
		}
	}
	for i := range p.Words {
		if w := &p.Words[i]; p.Frees && w.Param >= 0 && !w.Out && p.Params[w.Param].Kind.Local() {
			c.free(e.Word(i))
		}
	}
}

func (c *cutter) free(w uint64) {
	if o, ok := c.ids[w]; ok {
		c.build.Free(o.id)
		delete(c.ids, w)
	}
}
