package waits

import (
	"github.com/efg-tools/efg/internal/analysis/match"
)

// regionKey is where time is spent: in a call, or between two calls. The numbers are those of
// builder.site; from is inCall in a call, and 0 before the first one.
type regionKey struct{ from, at int32 }

const inCall = -1

// span is a part of a thread's time: in a region, or waiting.
type span struct {
	region  int32
	section int32 // of the program
	time    int64
	wait    *explanation // of a wait
}

// history has the last spans of a thread, and where it stands on the critical path.
type history struct {
	ring      []span    // of a power of two, which grows up to limit
	next      uint64    // number of the next span
	last      int64     // when the last one ended
	site      int32     // of the last call; 0: there was none
	entered   int32     // of the call at hand
	gap       regionKey // of the last computation
	gapRegion int32
	section   int32 // of the call at hand
	process   int32
	limit     int
	path      pathEnd
	delays    *delays
	polling   bool  // calls since last are unsuccessful polls
	poll      int32 // the region of the last of them
	polled    int64 // and its end
	meets     []meeting
}

// meeting is a collective call: when and where it was left, and the next span after it.
type meeting struct {
	call   uint64
	next   uint64
	exit   int64
	region int32
	in     int32 // section
}

// fewMeetings is the number of collective calls of a thread that are kept to find the last one
// that it shared with another thread.
const fewMeetings = 8

// mostSpans and leastSpans bound the spans kept of a thread, allSpans those of all threads.
const (
	mostSpans, leastSpans = 1 << 12, 1 << 8
	allSpans              = 1 << 22
)

func spansOf(threads int) int {
	n := mostSpans
	for n > leastSpans && n*threads > allSpans {
		n /= 2
	}
	return n
}

func (h *history) at(i uint64) *span { return &h.ring[i&uint64(len(h.ring)-1)] }

// oldest is the number of the first span that is kept.
func (h *history) oldest() uint64 {
	if h.next > uint64(len(h.ring)) {
		return h.next - uint64(len(h.ring))
	}
	return 0
}

// add appends a span that ends the thread's time at a moment.
func (h *history) add(region, section int32, time int64, wait *explanation) {
	if time <= 0 {
		return
	}
	if h.next == uint64(len(h.ring)) && len(h.ring) < h.limit {
		h.ring = append(h.ring, make([]span, max(len(h.ring), 64))...) // it was never full
	}
	if h.next-h.path.from == uint64(len(h.ring))-1 && len(h.ring) == h.limit {
		h.fold()
	}
	s := h.at(h.next)
	if s.wait != nil {
		h.delays.free = append(h.delays.free, s.wait) // nothing else refers to it
	}
	*s = span{region, section, time, wait}
	h.next++
	if wait == nil {
		h.delays.totals.add(region, section, time)
	}
}

// met notes that a collective call is over.
func (h *history) met(call uint64, exit int64, region int32) {
	if len(h.meets) == fewMeetings {
		copy(h.meets, h.meets[1:])
		h.meets = h.meets[:fewMeetings-1]
	}
	h.meets = append(h.meets, meeting{call, h.next, exit, region, h.section})
}

// lastMeeting returns the last collective call of two threads, as each of them left it; nil if
// there is none.
func lastMeeting(a, b *history) (byA, byB *meeting) {
	for i, j := len(a.meets)-1, len(b.meets)-1; i >= 0 && j >= 0; {
		x, y := &a.meets[i], &b.meets[j]
		switch {
		case x.call == y.call:
			return x, y
		case x.call > y.call:
			i--
		default:
			j--
		}
	}
	return nil, nil
}

// apart takes the time of a call that begins or ends MPI out of that of its section.
func (t *totals) apart(section int32, time int64) {
	if time > 0 {
		t.sections[section] -= time
	}
}

// pair names two threads, the one with the lower index first.
type pair struct{ low, high int32 }

// contact is where two threads stood when the last message between them was received.
type contact struct{ low, high uint64 }

func pairOf(a, b *match.Thread) (p pair, swapped bool) {
	if a.Index > b.Index {
		return pair{int32(b.Index), int32(a.Index)}, true
	}
	return pair{int32(a.Index), int32(b.Index)}, false
}

// pathNode is a part of the critical path: the time of a thread in some regions, and what was
// before.
type pathNode struct {
	before  *pathNode
	process int32
	regions []regionTime
}

type regionTime struct {
	region, section int32
	time            int64
}

// totals are times without waits, by region and by section.
type totals struct{ regions, sections []int64 }

func (t *totals) add(region, section int32, time int64) {
	t.regions[region] += time
	for int(section) >= len(t.sections) {
		t.sections = append(t.sections, 0)
	}
	t.sections[section] += time
}

// pathEnd is the critical path up to a span of a thread: what was before, and the spans from one
// number on.
type pathEnd struct {
	before *pathNode
	from   uint64
}

// fold puts the spans of the path into a node, because they are about to be forgotten.
func (h *history) fold() {
	h.path = pathEnd{h.nodeOf(h.path, h.next), h.next}
}

// nodeOf is the path up to a span.
func (h *history) nodeOf(p pathEnd, until uint64) *pathNode {
	from := max(p.from, h.oldest())
	if from >= until {
		return p.before
	}
	n := &pathNode{before: p.before, process: h.process}
	for i := from; i < until; i++ {
		n.add(h.at(i))
	}
	return n
}

func (n *pathNode) add(s *span) {
	for i := range n.regions {
		if n.regions[i].region == s.region && n.regions[i].section == s.section {
			n.regions[i].time += s.time
			return
		}
	}
	n.regions = append(n.regions, regionTime{s.region, s.section, s.time})
}
