// Package flows finds what connects ranks in a part of the time: the messages, and the waits with
// what was waited for, for a picture of that time.
package flows

import (
	"container/heap"
	"context"
	"errors"
	"slices"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/waits"
)

// MostEvents bounds the runs whose calls are followed: all of them are, whatever the part of the time.
const MostEvents = 4_000_000

// ErrTooLarge is returned for runs of more events.
var ErrTooLarge = errors.New("messages and waits are found in runs of up to 4,000,000 calls")

// Query selects flows.
type Query struct {
	From, To int64 // ns since the run began; both 0: all of the run
	Procs    []int // numbers of processes of which one side is to be; nil: any
	Most     int   // of messages, and of waits: those that last longest
}

// Side is one side of a flow: a call of a thread.
type Side struct {
	Rank, Thread int
	Place        match.Place
}

// Message is a message that was received. It lasts from when the call that sends it was entered to
// when the one that completes its receipt was left, ns since the run began.
type Message struct {
	From, To       Side
	Sent, Received int64
	Bytes          uint64
}

// Wait is a wait of a call, ns since the run began. For has the rank -1 if nobody was waited for, as
// where a collective completes.
type Wait struct {
	State      waits.State
	Of, For    Side
	Begin, End int64
}

// Flows are those of a part of the time, in the order in which they begin, and how many there are
// in all.
type Flows struct {
	From, To     int64
	Messages     []Message
	Waits        []Wait
	MessageCount int
	WaitCount    int
}

// New finds the flows of a part of the time. The error is match.ErrNoTimes or ErrTooLarge if they
// cannot be found.
func New(ctx context.Context, run *runfile.Run, q Query) (*Flows, error) {
	trace, err := match.Open(run)
	if err != nil {
		return nil, err
	}
	if trace.Events > MostEvents {
		return nil, ErrTooLarge
	}
	f := &finder{query: q, classifier: waits.NewClassifier(trace), sites: match.NewSites(trace), wanted: make([]bool, len(trace.Processes))}
	for i := range f.wanted {
		f.wanted[i] = q.Procs == nil
	}
	for _, p := range q.Procs {
		f.wanted[p] = true
	}
	if _, err := trace.Walk(ctx, f, nil); err != nil {
		return nil, err
	}
	places, err := f.sites.Places(run)
	if err != nil {
		return nil, err
	}
	return f.finish(places), nil
}

// side is a side whose place is a number.
type side struct {
	rank, thread int
	site         int32
}

// flow is a message, or a wait.
type flow struct {
	from, to   side // of a wait: what was waited for, and the call that waits
	begin, end int64
	bytes      uint64
	state      waits.State
	order      int // of finding it, to tell equal ones apart
}

func (a *flow) length() int64 { return a.end - a.begin }

// longest keeps the longest flows: the shortest of them first, as a heap.
type longest []flow

func (l longest) Len() int { return len(l) }
func (l longest) Less(i, k int) bool {
	a, b := l[i].length(), l[k].length()
	return a < b || a == b && l[i].order > l[k].order
}
func (l longest) Swap(i, k int) { l[i], l[k] = l[k], l[i] }
func (l *longest) Push(x any)   { *l = append(*l, x.(flow)) }
func (l *longest) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

func (l *longest) add(f flow, most int) {
	if len(*l) < most {
		heap.Push(l, f)
		return
	}
	if most > 0 && (*l)[0].length() < f.length() {
		(*l)[0] = f
		heap.Fix(l, 0)
	}
}

func (l longest) sorted() []flow {
	slices.SortFunc(l, func(a, b flow) int {
		switch {
		case a.begin != b.begin:
			return int(min(1, max(-1, a.begin-b.begin)))
		default:
			return a.order - b.order
		}
	})
	return l
}

type finder struct {
	query                   Query
	classifier              *waits.Classifier
	sites                   *match.Sites
	wanted                  []bool // processes
	messages, waits         longest
	messageCount, waitCount int
}

// Enter implements match.Visitor.
func (f *finder) Enter(c *match.Call) { f.classifier.Enter(c) }

// Exit implements match.Visitor.
func (f *finder) Exit(c *match.Call) {
	for _, w := range f.classifier.Exit(c) {
		f.wait(c, &w)
	}
	for _, o := range c.Done {
		if o.Kind == match.ReceiveMessage && o.Partner != nil {
			f.message(c, o.Partner)
		}
	}
}

func (f *finder) message(c *match.Call, sent *match.Operation) {
	if !f.shows(sent.Enter, c.Exit) || !f.wanted[c.Thread.Process.Number] && !f.wanted[sent.Thread.Process.Number] {
		return
	}
	f.messages.add(flow{from: f.side(sent.Thread, sent.Node), to: f.side(c.Thread, c.Node), begin: sent.Enter, end: c.Exit, bytes: sent.Bytes, order: f.messageCount}, f.query.Most)
	f.messageCount++
}

// wait adds a wait. That for the completion of a collective call is at the end of the call, others
// are at its beginning.
func (f *finder) wait(c *match.Call, w *waits.Instance) {
	begin, end := c.Began, c.Began+w.Time
	from := side{rank: -1}
	number := c.Thread.Process.Number
	if w.Culprit != nil {
		from = f.side(w.Culprit.Thread, w.Culprit.Node)
		number = w.Culprit.Thread.Process.Number
	} else {
		begin, end = c.Exit-w.Time, c.Exit
	}
	if !f.shows(begin, end) || !f.wanted[c.Thread.Process.Number] && !f.wanted[number] {
		return
	}
	f.waits.add(flow{from: from, to: f.side(c.Thread, c.Node), begin: begin, end: end, state: w.State, order: f.waitCount}, f.query.Most)
	f.waitCount++
}

func (f *finder) shows(begin, end int64) bool {
	return f.query.From == 0 && f.query.To == 0 || begin <= f.query.To && end >= f.query.From
}

func (f *finder) side(t *match.Thread, node int) side {
	return side{t.Process.Rank, int(t.Stream.Thread), f.sites.Number(t, node)}
}

func (f *finder) finish(places []match.Place) *Flows {
	text := func(s side) Side {
		out := Side{Rank: s.rank, Thread: s.thread}
		if s.site > 0 {
			out.Place = places[s.site]
		}
		return out
	}
	out := &Flows{From: f.query.From, To: f.query.To, MessageCount: f.messageCount, WaitCount: f.waitCount}
	for _, m := range f.messages.sorted() {
		out.Messages = append(out.Messages, Message{text(m.from), text(m.to), m.begin, m.end, m.bytes})
	}
	for _, w := range f.waits.sorted() {
		out.Waits = append(out.Waits, Wait{w.state, text(w.to), text(w.from), w.begin, w.end})
	}
	return out
}
