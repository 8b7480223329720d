package otf2

import (
	"math"
	"slices"

	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/signature"
)

// place identifies an operation of a stream: the number of the call that posts it, and its ordinal
// among the messages, or the parts in collective calls, that this call posts.
type place uint64

const (
	ordinalBits = 15
	collectives = 1 << ordinalBits
)

func messagePlace(event uint64, ordinal int) place {
	return place(event<<(ordinalBits+1) | uint64(min(ordinal, collectives-1)))
}

func collectivePlace(event uint64, ordinal int) place {
	return messagePlace(event, ordinal) | collectives
}

// part is the part of a stream that is written.
type part struct {
	from, to uint64 // events
	// alone are operations without counterpart in what is written, in order.
	alone []place
}

// counterparts finds out which operations have no counterpart in what is written: readers of
// OTF2 replay messages and collective calls, and wait forever for what does not come. It visits
// the calls of a walk; memory is for what is open.
type counterparts struct {
	sel   *export.Selection
	procs map[int]bool // numbers of selected processes
	parts []part       // by match.Thread.Index

	open  []posted // by match.Operation.ID
	calls map[*match.Collective]*meeting
}

// posted is an operation that waits for its counterpart.
type posted struct {
	thread int
	place  place
	set    bool
	inside bool // its call is written
	inner  bool // its call was made inside another one, and is perhaps written with that
}

// meeting is a collective call that not all selected members have completed.
type meeting struct {
	left, needed int // of the selected members
	members      []posted
}

func newCounterparts(t *match.Trace, sel *export.Selection) *counterparts {
	x := &counterparts{sel: sel, procs: map[int]bool{}, parts: make([]part, len(t.Threads)),
		calls: map[*match.Collective]*meeting{}}
	for _, i := range sel.Procs {
		x.procs[i] = true
	}
	return x
}

// inside reports whether a call is written.
func (x *counterparts) inside(c *match.Call) bool {
	t := c.Thread
	switch {
	case !x.procs[t.Process.Number] || x.sel.Thread >= 0 && uint32(x.sel.Thread) != t.Stream.Thread:
		return false
	case c.Event >= t.TimedEvents(): // it has not returned
		return false
	case x.sel.Time != nil:
		return x.sel.Time.Has(c.Enter, c.Exit)
	}
	return c.Event >= x.sel.From && (x.sel.To == 0 || c.Event < x.sel.To)
}

// SeesInner implements match.InnerVisitor.
func (x *counterparts) SeesInner() {}

// Enter implements match.Visitor.
func (x *counterparts) Enter(c *match.Call) {
	inside := x.inside(c)
	if p := &x.parts[c.Thread.Index]; inside {
		if p.to == 0 {
			p.from = c.Event
		}
		p.to = c.Event + 1
	}
	messages, joined := 0, 0
	member := posted{thread: c.Thread.Index, set: true, inside: inside, inner: c.Inner()}
	for _, o := range c.Posted {
		switch o.Kind {
		case match.SendMessage, match.ReceiveMessage:
			member.place = messagePlace(c.Event, messages)
			x.post(o.ID, member)
			messages++
		case match.TakePart:
			member.place = collectivePlace(c.Event, joined)
			x.join(o, member)
			joined++
		}
	}
	if _, ok := collectiveOf(c.Proc); (ok || joinsWindow(c.Proc)) && joined == 0 && inside && !alone(c) { // members disagree, or are unknown
		member.place = collectivePlace(c.Event, 0)
		x.drop(member)
	}
}

// alone reports whether the caller of a collective is its only member: nobody can disagree.
func alone(c *match.Call) bool {
	own, other := c.Thread.Process.Facts.Members(c.Thread.Signature(c.Node)[signature.ObjectWord])
	return own != nil && own.Size() == 1 && other == nil
}

// post notes an operation. The previous one with its number, if it is still noted, never found a
// counterpart.
func (x *counterparts) post(id int, o posted) {
	for id >= len(x.open) {
		x.open = append(x.open, posted{})
	}
	if x.open[id].set {
		x.drop(x.open[id])
	}
	x.open[id] = o
}

// join notes a member of a collective call.
func (x *counterparts) join(o *match.Operation, member posted) {
	m := x.calls[o.Collective]
	if m == nil {
		m = &meeting{}
		x.calls[o.Collective] = m
	}
	m.members = append(m.members, member)
	if x.procs[o.Thread.Process.Number] {
		m.needed++
	}
}

// Exit implements match.Visitor.
func (x *counterparts) Exit(c *match.Call) {
	inside := x.inside(c)
	for _, o := range c.Done {
		switch {
		case o.Kind == match.ReceiveMessage && o.Partner != nil:
			x.received(o.ID, o.Partner.ID, inside)
		case o.Kind == match.TakePart && o.Collective != nil:
			x.left(o, inside)
		}
	}
}

// received notes that a message was received.
func (x *counterparts) received(receive, send int, inside bool) {
	if receive >= len(x.open) || send >= len(x.open) {
		return
	}
	r, s := &x.open[receive], &x.open[send]
	if inside && r.set && r.inside && s.set && s.inside {
		r.set, s.set = false, false
	}
}

// left notes that a member has completed its part.
func (x *counterparts) left(o *match.Operation, inside bool) {
	m := x.calls[o.Collective]
	if m == nil {
		return
	}
	if inside {
		m.left++
	}
	if o.Collective.Left+1 < o.Collective.Members {
		return
	}
	x.adjourn(m)
	delete(x.calls, o.Collective)
}

// adjourn ends a collective call; its members are written if all that are selected completed it.
func (x *counterparts) adjourn(m *meeting) {
	if m.left == m.needed {
		return
	}
	for _, member := range m.members {
		x.drop(member)
	}
}

// drop notes that an operation has no counterpart.
func (x *counterparts) drop(o posted) {
	if o.inside || o.inner {
		p := &x.parts[o.thread]
		p.alone = append(p.alone, o.place)
	}
}

// finish ends the walk.
func (x *counterparts) finish() {
	for i := range x.open {
		if x.open[i].set {
			x.drop(x.open[i])
		}
	}
	for _, m := range x.calls {
		m.left = math.MinInt
		x.adjourn(m)
	}
	for i := range x.parts {
		slices.Sort(x.parts[i].alone)
	}
}
