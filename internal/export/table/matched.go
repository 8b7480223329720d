package table

import (
	"context"
	"errors"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/waits"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// side is a call of a thread: one side of a message or wait.
type side struct {
	rank     int
	thread   uint32
	event    uint64
	op, site string
}

// messageRow is a message that was received.
type messageRow struct {
	from, to               side
	done                   uint64 // event that completes the receive
	sent, posted, received int64
	bytes                  uint64
}

var messages = define(
	Schema{Name: "messages", Matched: true, Doc: "the messages that were received, with both sides, in the order of their completion; of runs with the times of each call. The tag is in events: join it by send_rank, send_thread and send_seq"},
	column[messageRow]{Column{"send_rank", Integer, false, "", "rank of the sender"}, func(m *messageRow) Value { return integer(m.from.rank) }},
	column[messageRow]{Column{"send_thread", Integer, false, "", "its thread"}, func(m *messageRow) Value { return integer(m.from.thread) }},
	column[messageRow]{Column{"send_seq", Integer, false, "", "number of the call that sends or issues"}, func(m *messageRow) Value { return integer(m.from.event) }},
	column[messageRow]{Column{"send_op", Text, true, "", "its procedure"}, func(m *messageRow) Value { return text(m.from.op) }},
	column[messageRow]{Column{"send_site", Text, true, "", "its source location"}, func(m *messageRow) Value { return text(m.from.site) }},
	column[messageRow]{Column{"sent", Integer, false, "ns", "when it was entered, since the run began"}, func(m *messageRow) Value { return integer(m.sent) }},
	column[messageRow]{Column{"recv_rank", Integer, false, "", "rank of the receiver"}, func(m *messageRow) Value { return integer(m.to.rank) }},
	column[messageRow]{Column{"recv_thread", Integer, false, "", "its thread"}, func(m *messageRow) Value { return integer(m.to.thread) }},
	column[messageRow]{Column{"recv_seq", Integer, false, "", "number of the call that posts the receive"}, func(m *messageRow) Value { return integer(m.to.event) }},
	column[messageRow]{Column{"recv_op", Text, true, "", "its procedure"}, func(m *messageRow) Value { return text(m.to.op) }},
	column[messageRow]{Column{"recv_site", Text, true, "", "its source location"}, func(m *messageRow) Value { return text(m.to.site) }},
	column[messageRow]{Column{"posted", Integer, false, "ns", "when it was entered, since the run began"}, func(m *messageRow) Value { return integer(m.posted) }},
	column[messageRow]{Column{"done_seq", Integer, false, "", "number of the receiver's call that completes the receive"}, func(m *messageRow) Value { return integer(m.done) }},
	column[messageRow]{Column{"received", Integer, false, "ns", "when that was left, since the run began"}, func(m *messageRow) Value { return integer(m.received) }},
	column[messageRow]{Column{"bytes", Integer, false, "bytes", "size of the message, 0 if unknown"}, func(m *messageRow) Value { return integer(m.bytes) }},
)

// waitRow is a wait of a call.
type waitRow struct {
	of, culprit side
	someone     bool // was waited for
	state       waits.State
	begin, end  int64
}

var waitStates = define(
	Schema{Name: "waits", Matched: true, Doc: "the waits of calls, and what they wait for; of runs with the times of each call"},
	column[waitRow]{Column{"rank", Integer, false, "", "rank that waits"}, func(w *waitRow) Value { return integer(w.of.rank) }},
	column[waitRow]{Column{"thread", Integer, false, "", "its thread"}, func(w *waitRow) Value { return integer(w.of.thread) }},
	column[waitRow]{Column{"seq", Integer, false, "", "number of the call that waits"}, func(w *waitRow) Value { return integer(w.of.event) }},
	column[waitRow]{Column{"op", Text, true, "", "its procedure"}, func(w *waitRow) Value { return text(w.of.op) }},
	column[waitRow]{Column{"site", Text, true, "", "its source location"}, func(w *waitRow) Value { return text(w.of.site) }},
	column[waitRow]{Column{"state", Text, false, "", "kind of wait, as in efg waits --json"}, func(w *waitRow) Value { return text(w.state.Key()) }},
	column[waitRow]{Column{"setup", Boolean, false, "", "in MPI_Init or MPI_Finalize, which efg waits shows apart"}, func(w *waitRow) Value { return boolean(w.state.Apart()) }},
	column[waitRow]{Column{"begin", Integer, false, "ns", "when the wait began, since the run began"}, func(w *waitRow) Value { return integer(w.begin) }},
	column[waitRow]{Column{"end", Integer, false, "ns", "when it was over"}, func(w *waitRow) Value { return integer(w.end) }},
	column[waitRow]{Column{"for_rank", Integer, true, "", "rank that is waited for; none where a collective completes"}, func(w *waitRow) Value { return known(w.someone, integer(w.culprit.rank)) }},
	column[waitRow]{Column{"for_thread", Integer, true, "", "its thread"}, func(w *waitRow) Value { return known(w.someone, integer(w.culprit.thread)) }},
	column[waitRow]{Column{"for_seq", Integer, true, "", "number of its call that was late"}, func(w *waitRow) Value { return known(w.someone, integer(w.culprit.event)) }},
	column[waitRow]{Column{"for_op", Text, true, "", "procedure of that"}, func(w *waitRow) Value { return text(w.culprit.op) }},
	column[waitRow]{Column{"for_site", Text, true, "", "source location of that"}, func(w *waitRow) Value { return text(w.culprit.site) }},
)

// Matched makes the rows of the tables messages and waits, and counts them; a nil sink takes
// nothing. Of messages and waits one side is in the selection. ok is false if the run does not
// have the times of each call: then there are no rows.
func Matched(job *export.Job, messageSink, waitSink Sink) (sums Sums, ok bool, err error) {
	trace, err := match.OpenPart(job.Run, job.Matched())
	if errors.Is(err, match.ErrNoTimes) {
		return sums, false, nil
	}
	if err != nil {
		return sums, false, err
	}
	sites, err := job.Run.Sites()
	if err != nil {
		return sums, false, err
	}
	v := &visitor{
		job: job, classifier: waits.NewClassifier(trace), selected: make([]bool, len(job.Run.Procs)),
		messages: newBuilder(messages, messageSink), waits: newBuilder(waitStates, waitSink),
		places: places{sites: sites, texts: map[uint64]string{}, names: map[*match.Process]*reconstruct.Names{}},
	}
	for _, p := range job.Procs {
		v.selected[p] = true
	}
	ctx := job.Context
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, v.stop = context.WithCancelCause(ctx)
	defer v.stop(nil)
	if _, err := trace.Walk(ctx, v, nil); err != nil {
		return sums, false, errors.Join(v.err, err)
	}
	return v.sums, true, errors.Join(v.err, v.messages.flush(), v.waits.flush())
}

// Sums are what the rows of Matched add up to.
type Sums struct {
	Messages uint64
	Waiting  uint64 // ns, without MPI_Init and MPI_Finalize
}

// visitor makes rows of what a walk matches.
type visitor struct {
	job        *export.Job
	classifier *waits.Classifier
	selected   []bool // processes
	messages   *builder[messageRow]
	waits      *builder[waitRow]
	places     places
	sums       Sums
	seen       uint64
	err        error
	stop       context.CancelCauseFunc
}

// Enter implements match.Visitor.
func (v *visitor) Enter(c *match.Call) { v.classifier.Enter(c) }

// Exit implements match.Visitor.
func (v *visitor) Exit(c *match.Call) {
	found := v.classifier.Exit(c)
	if v.err != nil {
		return
	}
	for i := range found {
		v.wait(c, &found[i])
	}
	for _, o := range c.Done {
		if o.Kind == match.ReceiveMessage && o.Partner != nil {
			v.message(c, o)
		}
	}
	if v.seen++; v.seen%showEvery == 0 {
		v.fail(v.job.Done(0))
	}
}

// showEvery is the number of calls after which progress is shown.
const showEvery = 4096

// fail ends the walk if there is an error.
func (v *visitor) fail(err error) {
	if err != nil && v.err == nil {
		v.err = err
		v.stop(err)
	}
}

// takes reports whether something with two sides is selected.
func (v *visitor) takes(a, b *match.Thread, begin, end int64) bool {
	s := &v.job.Selection
	of := func(t *match.Thread) bool {
		return t != nil && v.selected[t.Process.Number] && (s.Thread < 0 || uint32(s.Thread) == t.Stream.Thread)
	}
	return (of(a) || of(b)) && s.Time.Has(begin, end)
}

func (v *visitor) message(c *match.Call, o *match.Operation) {
	sent := o.Partner
	if !v.takes(sent.Thread, c.Thread, sent.Enter, c.Exit) || !v.numbered(sent.Event, o.Event) {
		return
	}
	v.sums.Messages++
	v.fail(v.messages.add(&messageRow{
		from: v.side(&sent.Origin), to: v.side(&o.Origin), done: c.Event,
		sent: sent.Enter, posted: o.Enter, received: c.Exit, bytes: sent.Bytes,
	}))
}

// numbered reports whether one of two events is among those selected by number.
func (v *visitor) numbered(a, b uint64) bool {
	s := &v.job.Selection
	in := func(n uint64) bool { return n >= s.From && (s.To == 0 || n < s.To) }
	return in(a) || in(b)
}

// wait adds a wait. That for the completion of a collective is at the end of the call, others are
// at its beginning.
func (v *visitor) wait(c *match.Call, w *waits.Instance) {
	row := waitRow{state: w.State, begin: c.Began, end: c.Began + w.Time, someone: w.Culprit != nil}
	if !row.someone {
		row.begin, row.end = c.Exit-w.Time, c.Exit
	}
	if !v.takes(c.Thread, nil, row.begin, row.end) || !v.numbered(c.Event, c.Event) {
		return
	}
	if !w.State.Apart() {
		v.sums.Waiting += uint64(w.Time)
	}
	row.of = v.side(&match.Origin{Thread: c.Thread, Node: c.Node, Event: c.Event})
	if row.someone {
		row.culprit = v.side(&w.Culprit.Origin)
	}
	v.fail(v.waits.add(&row))
}

func (v *visitor) side(o *match.Origin) side {
	words := o.Thread.Signature(o.Node)
	s := side{rank: o.Thread.Process.Rank, thread: o.Thread.Stream.Thread, event: o.Event}
	if p := signature.ProcByID(signature.Header(words[0]).Proc()); p != nil {
		s.op = p.Name
	}
	s.site = v.places.of(o.Thread.Process, words[1])
	return s
}

// places are the source locations of callsites, by their words.
type places struct {
	sites []runfile.Site
	texts map[uint64]string
	names map[*match.Process]*reconstruct.Names
}

// of returns the place of a callsite at which a process calls.
func (p *places) of(by *match.Process, site uint64) string {
	place, ok := p.texts[site]
	if ok {
		return place
	}
	if p.names[by] == nil {
		p.names[by] = reconstruct.NewNames(by.Facts.Data.Defs, p.sites)
	}
	place = strings.TrimSpace(p.names[by].Place(site))
	p.texts[site] = place
	return place
}
