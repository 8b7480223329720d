// Package slices makes of a run what viewers of timelines show: a track for each thread of each rank,
// on it a slice for each call, flows from slice to slice, and counters. The formats perfetto and
// chrome write them.
//
// Viewers hold a trace in memory. If a run has more calls than the most slices that are wanted, calls
// that are shorter than a resolution are drawn together: see Job.
package slices

import (
	"errors"
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/eventrow"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/reconstruct"
)

// ErrNoTimes: nothing can be drawn.
var ErrNoTimes = match.ErrNoTimes

// Track is a thread of a rank.
type Track struct {
	Number int // from 0, in the order of ranks and threads
	Rank   int
	Thread uint32
	Host   string
}

// Slice is a call, or several.
type Slice struct {
	Start, End int64 // ns since the run began
	// Calls is the number of calls that are drawn together. Only Start, End, Sent, Received and flows
	// are set if there is more than one.
	Calls                              uint64
	Seq                                uint64 // number of the call in its stream
	Name, Class, Site, Func, Error     string
	Path                               string // call path, a JSON array; "" if there is none
	Comm, Datatype                     string
	Peer                               int
	Tag, Count                         int64
	HasPeer, HasTag, HasCount, HasSize bool
	Sent, Received                     uint64
	Args, Out                          []byte // JSON; nil unless wanted
	// Unfinished calls had not returned when the recording ended: they end when the process was gone, or with the run. They have Args.
	Unfinished bool
	// Begin are flows that begin here, Finish those that end here: the flow of a message is from the
	// call that sends to the one that completes the receive, that of a request from the call that
	// issues to the one that completes it.
	Begin, Finish []uint64
}

// Sink takes tracks, each with its slices in order.
type Sink interface {
	Track(t *Track) error
	// Slice takes the next slice of the last track. It is valid during the call.
	Slice(s *Slice) error
	// Enter and Leave take a region that the program names, on a track of its own that belongs to the
	// last one: those of a track nest, and come in the order of time.
	Enter(name string, at int64) error
	Leave(at int64) error
	// Counter takes what a counter of the last track has counted up to a time.
	Counter(at int64, c *Counter, value uint64) error
}

// Write passes what a job selects to the sink. About most slices are made: if there are more calls,
// those that are shorter than a resolution, and the pauses between them, are drawn together up to its
// length; messages that are under way for less are left out. The resolution is returned, 0 if all is
// drawn.
func Write(job *export.Job, most uint64, sink Sink) (resolution int64, err error) {
	w := &writer{job: job, sink: sink}
	if w.resolution, err = chooseResolution(job, most); err != nil {
		return 0, err
	}
	for _, part := range job.What {
		w.arguments = w.arguments || part == Arguments
	}
	if err := w.findFlows(); err != nil {
		return 0, err
	}
	rebuilder, err := reconstruct.NewRun(job.Run)
	if err != nil {
		return 0, err
	}
	first := analysis.FirstRanks(job.Run.Procs)
	for _, i := range job.Procs {
		p, err := rebuilder.Process(i)
		if err != nil {
			return 0, err
		}
		facts, err := analysis.NewProcess(p.Data(), first[i])
		if err != nil {
			return 0, err
		}
		if err := w.process(p, facts); err != nil {
			return 0, fmt.Errorf("rank %d: %w", p.Data().Rank, err)
		}
	}
	return w.resolution, nil
}

// Arguments is the optional part that has the arguments and results of each call.
const Arguments = "args"

// chooseResolution returns the resolution at which the selected calls are at most about most slices:
// the smallest power of two for which calls that are not shorter, and groups of others between them
// and after each such time, are so many. Calls are taken to be spread evenly over the run.
func chooseResolution(job *export.Job, most uint64) (int64, error) {
	d := durations{begin: 1<<63 - 1, end: -1 << 63}
	first := analysis.FirstRanks(job.Run.Procs)
	for _, i := range job.Procs {
		if !job.Run.Traced(i) {
			continue
		}
		if err := d.add(job, i, first[i]); err != nil {
			return 0, err
		}
	}
	if d.begin > d.end {
		return 0, ErrNoTimes
	}
	part := 1.0
	if t := job.Time; t != nil {
		part = float64(min(d.end, t.To)-max(d.begin, t.From)) / float64(max(d.end-d.begin, 1))
	}
	if part *= d.part; part*float64(d.calls) <= float64(most) {
		return 0, nil
	}
	longer := d.calls
	for k, n := range d.bins {
		resolution := float64(uint64(1) << (k + shortestBin))
		spans := d.elapsed / resolution
		if part*2*(min(float64(longer), spans)+spans) <= float64(most) {
			return int64(resolution), nil
		}
		longer -= min(longer, n)
	}
	return 1 << (len(d.bins) + shortestBin), nil
}

// shortestBin is the binary logarithm of where the first bin of efg.Interval begins, ns.
const shortestBin = 3

// durations are those of the calls of the selected processes.
type durations struct {
	begin, end int64 // of the run, ns since it began
	calls      uint64
	part       float64 // of the calls that are selected by number
	bins       [len(efg.Interval{}.Bins)]uint64
	elapsed    float64 // ns, of all threads, without the calls that begin and end MPI
}

func (d *durations) add(job *export.Job, i, first int) error {
	spans, err := job.Run.Spans(i)
	if err != nil {
		return err
	}
	for _, s := range spans {
		d.begin, d.end = min(d.begin, s.Begin), max(d.end, s.End)
	}
	data, err := job.Run.Summed(i)
	if err != nil {
		return err
	}
	facts, err := analysis.NewProcess(data, first)
	if err != nil {
		return err
	}
	chosen := uint64(0)
	for k := range data.Streams {
		chosen += selected(&job.Selection, &job.Run.Procs[i].Streams[k])
		list, err := facts.Nodes(k)
		if err != nil {
			return err
		}
		known := false
		for n := range list {
			if s := list[n].Stats; s != nil && s.Dur.Bins != (efg.Interval{}).Bins {
				known = true
				d.elapsed += float64(list[n].Elapsed())
				for b, count := range s.Dur.Bins {
					d.bins[b] += uint64(count)
				}
			}
		}
		if !known && k < len(spans) {
			d.elapsed += float64(spans[k].End - spans[k].Begin)
		}
	}
	before := float64(d.calls)
	for k := range job.Run.Procs[i].Streams {
		d.calls += job.Run.Procs[i].Streams[k].Events
	}
	d.part = (d.part*before + float64(chosen)) / max(float64(d.calls), 1)
	return nil
}

// selected is at least the number of calls of a stream that are selected.
func selected(sel *export.Selection, s *runfile.StreamInfo) uint64 {
	to := s.Events
	if sel.To > 0 {
		to = min(to, sel.To)
	}
	return to - min(to, sel.From)
}

// callID names a call in the run.
type callID struct {
	rank   int
	thread uint32
	event  uint64
}

type writer struct {
	job        *export.Job
	sink       Sink
	resolution int64
	arguments  bool
	begin      map[callID][]uint64 // flows of messages
	finish     map[callID][]uint64
	tracks     int

	// Of the current stream:
	rebuilt  *reconstruct.Process
	nodes    []eventrow.Node
	follower *analysis.Follower
	track    Track
	sent     uint64
	counts   counts
	group    Slice // calls that are drawn together; Calls is 0 if there are none
	one      Slice
	inner    []innerSlice // calls inside the next outermost one
	regions  *regions.Follower
	frame    int32        // in which the thread is
	open     []openRegion // it and those around it
	last     int64        // the end of the last call
}

// requestFlows are the numbers of flows of requests, above those of messages.
const requestFlows = 1 << 63

// requestFlow is the flow of the request that a call of a track issues.
func requestFlow(track int, event uint64) uint64 {
	return requestFlows | uint64(track)<<40&(requestFlows-1) | event&(1<<40-1)
}

// process writes the streams of a process.
func (w *writer) process(p *reconstruct.Process, facts *analysis.Process) error {
	for i := range p.Data().Streams {
		s := &p.Data().Streams[i]
		if s.Trace == nil || w.job.Thread >= 0 && uint32(w.job.Thread) != s.Thread {
			continue
		}
		w.track = Track{Number: w.tracks, Rank: p.Data().Rank, Thread: s.Thread, Host: p.Data().Host}
		w.tracks++
		w.regions, w.frame, w.open = regions.NewFollower(p.Data(), i), regions.Outside, w.open[:0]
		w.rebuilt, w.nodes, w.follower, w.sent = p, eventrow.Nodes(p, i), facts.Follow(i, eventrow.Fields), 0
		w.counts = newCounts(p.Data(), i)
		if err := w.sink.Track(&w.track); err != nil {
			return err
		}
		walk := export.Walk{Follower: w.follower, Issues: true, Timed: true, Write: w.event}
		if err := w.job.Walk(p, i, walk); err != nil {
			return err
		}
		if err := errors.Join(w.flush(), w.unfinished(p, i)); err != nil {
			return err
		}
		if err := w.leave(0, w.last); err != nil {
			return err
		}
	}
	return nil
}

// event draws a call, alone or with others.
func (w *writer) event(e *reconstruct.Event, start, end int64, _ bool) error {
	call, err := w.follower.Call(e)
	if err != nil {
		return err
	}
	if e.Depth() > 0 {
		return w.inside(e, call, start, end)
	}
	w.last = end
	w.counts.enter(e)
	if err := w.outermost(e, call, start, end); err != nil {
		return err
	}
	w.counts.leave(e)
	if w.group.Calls > 0 {
		return nil
	}
	return w.counts.draw(w.sink, end, w.counts.now)
}

// outermost draws a call that was not made inside another one.
func (w *writer) outermost(e *reconstruct.Event, call *analysis.Call, start, end int64) error {
	if w.regions != nil {
		if err := errors.Join(w.toFrame(w.regions.At(e.Seq), start), w.toFrame(w.regions.After(e.Seq), end)); err != nil {
			return err
		}
		if p := e.Proc(); p.Annotates() && (p.Opens || p.Closes) {
			return nil // the region is drawn
		}
	}
	sent, received, _ := eventrow.Volume(call.Operations)
	w.sent += sent
	if end-start < w.resolution {
		w.inner = w.inner[:0]
		return w.together(e, start, end, sent, received)
	}
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.counts.draw(w.sink, start, w.counts.before); err != nil {
		return err
	}
	w.fill(&w.one, e, call, start, end)
	w.messages(&w.one, e)
	w.requests(&w.one, e)
	if err := w.draw(&w.one); err != nil {
		return err
	}
	return w.drawInner(start, end)
}

// fill makes a slice of a call, without flows.
func (w *writer) fill(s *Slice, e *reconstruct.Event, call *analysis.Call, start, end int64) {
	sent, received, sized := eventrow.Volume(call.Operations)
	n, names := &w.nodes[e.Node()], w.rebuilt.Names()
	*s = Slice{
		Start: start, End: end, Calls: 1, Seq: e.Seq, Name: n.Op, Class: n.Class, Site: n.Site, Func: n.Func, Path: n.Path, Error: n.Error,
		Comm: n.Object(e, names), Datatype: eventrow.Datatype(call.Operations, names), HasSize: sized, Sent: sent, Received: received,
		Args: s.Args[:0], Out: s.Out[:0], Begin: s.Begin[:0], Finish: s.Finish[:0],
	}
	s.Peer, s.HasPeer = eventrow.Peer(call.Operations)
	s.Tag, s.HasTag = eventrow.Tag(call.Operations)
	s.Count, s.HasCount = eventrow.Count(call.Operations)
	if w.arguments {
		s.Args, s.Out = e.AppendJSONArguments(s.Args), e.AppendJSONResults(s.Out)
	}
}

// together adds a call to those that are drawn together.
func (w *writer) together(e *reconstruct.Event, start, end int64, sent, received uint64) error {
	g := &w.group
	if g.Calls > 0 && end-g.Start > w.resolution {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if g.Calls == 0 {
		*g = Slice{Start: start, Begin: g.Begin[:0], Finish: g.Finish[:0]}
	}
	g.Calls++
	g.End = end
	g.Sent, g.Received, g.HasSize = g.Sent+sent, g.Received+received, true
	w.messages(g, e)
	return nil
}

// flush draws the calls that are drawn together.
func (w *writer) flush() error {
	g := &w.group
	if g.Calls == 0 {
		return nil
	}
	g.Name = fmt.Sprintf("%d calls", g.Calls)
	if g.Calls == 1 {
		g.Name = "1 call"
	}
	g.Class = "together"
	err := errors.Join(w.draw(g), w.counts.draw(w.sink, g.End, w.counts.now))
	g.Calls = 0
	return err
}

func (w *writer) draw(s *Slice) error {
	if err := w.sink.Slice(s); err != nil || s.Sent == 0 {
		return err
	}
	return w.sink.Counter(s.End, &BytesSent, w.sent)
}

// messages adds the flows of messages that a call sends, or of which it completes the receive.
func (w *writer) messages(s *Slice, e *reconstruct.Event) {
	at := callID{e.Rank(), e.Thread(), e.Seq}
	s.Begin, s.Finish = append(s.Begin, w.begin[at]...), append(s.Finish, w.finish[at]...)
}

// requests adds the flows of requests that a call issues, starts or completes.
func (w *writer) requests(s *Slice, e *reconstruct.Event) {
	p := e.Proc()
	if p == nil || e.Failed() {
		return
	}
	if p.Starts || p.Issues != "" && !p.Persistent {
		s.Begin = append(s.Begin, requestFlow(w.track.Number, e.Seq))
	}
	if p.Peeks != "" {
		return
	}
	for _, i := range e.Completed() {
		if seq, ok := e.Issuer(e.Request(i)); ok && seq != e.Seq {
			s.Finish = append(s.Finish, requestFlow(w.track.Number, seq))
		}
	}
}
