// Package flows finds what connects ranks in a part of the time: the messages, the collective calls,
// and the waits with what was waited for, for a picture of that time.
package flows

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/waits"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// MostEvents bounds the runs whose calls are followed: all of them are, whatever the part of the time.
const MostEvents = 4_000_000

// ErrTooLarge is returned for runs of more events.
var ErrTooLarge = errors.New("messages and waits are found in runs of up to 4,000,000 calls")

// Query selects flows.
type Query struct {
	From, To int64 // ns since the run began; both 0: all of the run
	Procs    []int // numbers of processes of which one side is to be; nil: any
	Most     int   // of messages, of waits, and of collective calls: those that last longest
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
	Tag            int64
	Comm           string
}

// Collective is a collective call that all members have left, or those whose calls are recorded up to
// there. It lasts from when the first member entered it to when the last one left it.
type Collective struct {
	Op, Comm string // Comm is "" if it is not on a communicator
	Parts    []Part // by rank; of the selected processes
}

// Part is a member's part in a collective call: from entering the call that begins it to leaving the one
// that completes it, ns since the run began.
type Part struct {
	Rank       int
	Begin, End int64
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
	From, To        int64
	Messages        []Message
	Waits           []Wait
	Collectives     []Collective
	MessageCount    int
	WaitCount       int
	CollectiveCount int
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
	f := &finder{query: q, classifier: waits.NewClassifier(trace), sites: match.NewSites(trace), wanted: make([]bool, len(trace.Processes)), open: map[*match.Collective]*collective{}}
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
	f.completeAll()
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
	order      int            // of finding it
	by         *match.Process // that knows the communicator of a message
	tag, comm  uint64         // words, of a message
}

func (a *flow) span() (begin, end int64, order int) { return a.begin, a.end, a.order }

type finder struct {
	query                   Query
	classifier              *waits.Classifier
	sites                   *match.Sites
	wanted                  []bool // processes
	messages, waits         longest[*flow]
	messageCount, waitCount int
	collectives             longest[*collective]
	collectiveCount         int
	parts                   int // of collectives
	order                   int // of the next collective call that is found
	open                    map[*match.Collective]*collective
}

// Enter implements match.Visitor.
func (f *finder) Enter(c *match.Call) { f.classifier.Enter(c) }

// Exit implements match.Visitor.
func (f *finder) Exit(c *match.Call) {
	for _, w := range f.classifier.Exit(c) {
		f.wait(c, &w)
	}
	for _, o := range c.Done {
		switch {
		case o.Collective != nil:
			f.part(c, o)
		case o.Kind == match.ReceiveMessage && o.Partner != nil:
			f.message(c, o)
		}
	}
}

func (f *finder) message(c *match.Call, o *match.Operation) {
	sent := o.Partner
	if !f.shows(sent.Enter, c.Exit) || !f.wanted[c.Thread.Process.Number] && !f.wanted[sent.Thread.Process.Number] {
		return
	}
	f.messages.add(&flow{
		from: f.side(sent.Thread, sent.Node), to: f.side(c.Thread, c.Node), begin: sent.Enter, end: c.Exit,
		bytes: sent.Bytes, tag: o.Tag, comm: o.Comm, by: c.Thread.Process, order: f.messageCount,
	}, f.query.Most)
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
	f.waits.add(&flow{from: from, to: f.side(c.Thread, c.Node), begin: begin, end: end, state: w.State, order: f.waitCount}, f.query.Most)
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
	out := &Flows{
		From: f.query.From, To: f.query.To, MessageCount: f.messageCount, WaitCount: f.waitCount, CollectiveCount: f.collectiveCount,
	}
	names := commNames{}
	for _, m := range f.messages.sorted() {
		out.Messages = append(out.Messages, Message{text(m.from), text(m.to), m.begin, m.end, m.bytes, int64(m.tag), names.of(m.by, m.comm)})
	}
	for _, w := range f.waits.sorted() {
		out.Waits = append(out.Waits, Wait{w.state, text(w.to), text(w.from), w.begin, w.end})
	}
	for _, x := range f.collectives.sorted() {
		slices.SortFunc(x.parts, func(a, b Part) int { return cmp.Compare(a.Rank, b.Rank) })
		c := Collective{Op: x.proc.Name, Parts: x.parts}
		if x.proc.ObjectKind() == signature.Comm {
			c.Comm = names.of(x.by, x.comm)
		}
		out.Collectives = append(out.Collectives, c)
	}
	return out
}

// commNames are the texts of communicators.
type commNames map[*match.Process]*reconstruct.Names

func (n commNames) of(p *match.Process, word uint64) string {
	if n[p] == nil {
		n[p] = reconstruct.NewNames(p.Facts.Data.Defs, nil)
	}
	return n[p].Handle(signature.Comm, word)
}
