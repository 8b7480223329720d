package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/efg-tools/efg/signature"
)

// granularity is the additional tolerance between the clocks of one machine in ns.
const granularity = 1000

// maxUncompleted bounds the requests of a process that are kept until they are complete.
const maxUncompleted = 1 << 20

// transfer processes the messages of the event.
func (x *clockCheck) transfer(t *streamCursor, r *roles) {
	id, issued := uint64(0), false
	if r.posts {
		if id, issued = idOf(t.e, r.request); issued {
			delete(t.open, id)
		}
	}
	sync := r.proc.Mode == signature.SynchronousMode && !r.proc.Persistent
	for _, move := range t.moves {
		o := &operation{begun: t.time(false), side: move.side, sync: sync}
		switch {
		case !r.posts:
			o.ended = t.time(true)
		case issued && len(t.open) < maxUncompleted:
			t.open[id] = append(t.open[id], o)
		case issued:
			if t.forgotten++; t.forgotten == 1 {
				t.forgot = t.e.Seq
			}
		}
		x.pair(x.queues[move.channel], o)
	}
}

// pair matches an operation with the first one of the other side that has no counterpart.
func (x *clockCheck) pair(l *messageQueue, o *operation) {
	if len(l.waiting) == 0 || l.waiting[0].side == o.side {
		l.waiting = append(l.waiting, o)
		return
	}
	o.other, l.waiting = l.waiting[0], l.waiting[1:]
	o.other.other = o
	x.compare(o)
	x.compare(o.other)
}

// complete ends the operations of the requests that the event completes.
func (x *clockCheck) complete(t *streamCursor, r *roles) {
	if r.frees {
		delete(t.open, t.e.Request(0))
		return
	}
	for _, k := range t.e.Completed() {
		id := t.e.Request(k)
		for _, o := range t.open[id] {
			o.ended = t.time(true)
			x.compare(o)
		}
		delete(t.open, id)
	}
}

// compare checks the end of an operation if it and its counterpart are known. Of sends, only
// synchronous ones need a counterpart.
func (x *clockCheck) compare(o *operation) {
	switch {
	case o.ended.by == nil || o.other == nil:
	case o.side == 1:
		x.requireOrder("got a message", &o.ended, &o.other.begun)
	case o.sync:
		x.requireOrder("is complete for a synchronous send", &o.ended, &o.other.begun)
	}
}

// contradictionKey is the common key of contradictions that form one finding.
type contradictionKey struct {
	what, op string
	site     uint64
}

// contradiction holds the contradictions at one callsite.
type contradiction struct {
	first *candidateFault
	count map[int]uint64 // by rank
}

// requireOrder compares the end of an operation with the beginning of what it needs.
func (x *clockCheck) requireOrder(what string, ended, needs *eventTime) {
	early := needs.at - ended.at
	if early <= ended.by.timeError+needs.by.timeError+granularity {
		return
	}
	t := ended.by
	s := &candidateFault{kind: TimesContradict, rank: t.rank, at: place{t.thread, ended.node}, event: ended.event}
	s.op, s.site = t.tally.caller(s.at)
	key := contradictionKey{what, s.op, s.site}
	c := x.contradictions[key]
	if c == nil {
		c = &contradiction{s, map[int]uint64{}}
		x.contradictions[key] = c
	}
	c.count[t.rank]++
	if c.first == s || before(s, c.first) {
		op, site := needs.by.tally.caller(place{needs.by.thread, needs.node})
		s.text = fmt.Sprintf("%s %v before rank %d begins the %s that it needs (%s)", what, time.Duration(early).Round(time.Microsecond),
			needs.by.rank, op, placeText(needs.by.names, needs.event, site))
		c.first = s
	}
}

// report adds the findings to the groups, each with the text of its first one.
func (x *clockCheck) report() {
	keys := slices.SortedFunc(maps.Keys(x.contradictions), func(a, b contradictionKey) int {
		return cmp.Or(cmp.Compare(a.site, b.site), cmp.Compare(a.op, b.op), cmp.Compare(a.what, b.what))
	})
	for _, k := range keys {
		c := x.contradictions[k]
		c.first.remark = "due to a clock or the recording, not to the program"
		for _, r := range slices.Sorted(maps.Keys(c.count)) {
			s := *c.first
			s.count = c.count[r]
			if r != s.rank {
				s.rank, s.event = r, ^uint64(0) // the first one is shown
			}
			x.b.group(s)
		}
	}
}

// remainder reports what was not compared.
func (x *clockCheck) remainder() {
	for _, t := range x.streams {
		if t.e != nil && t.events > t.e.Seq {
			x.b.report.Uncompared = append(x.b.report.Uncompared, Uncompared{
				t.rank, t.thread, t.e.Seq, t.events - t.e.Seq,
				fmt.Sprintf("some processes are more than %d calls on a communicator or channel ahead of others", x.limit),
			})
		}
		if t.forgotten > 0 {
			x.b.report.Uncompared = append(x.b.report.Uncompared, Uncompared{
				t.rank, t.thread, t.forgot, t.forgotten,
				fmt.Sprintf("more than %d requests were open at a time: the later ones were compared by when they started, not by when they completed", maxUncompleted),
			})
		}
	}
}
