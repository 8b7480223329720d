package waits

import (
	"slices"

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
	ring      []span     // of a power of two, which grows up to limit
	next      uint64     // number of the next span
	needed    uint64     // the first span after a meeting of all threads that is over
	metAll    [2]meeting // the last meetings of all threads that this one has left, the later one first
	folds     []fold     // the last ones, the latest last
	folded    uint64     // the spans before it are in nodes, as far as they are needed for paths
	posted    []posted   // the operations that were posted since, the latest last
	last      int64      // when the last one ended
	site      int32      // of the last call; 0: there was none
	entered   int32      // of the call at hand
	gap       regionKey  // of the last computation
	gapRegion int32
	computed  []sectionTime // since the last call, up to the last annotation
	section   int32         // of the call at hand
	process   int32
	limit     int
	path      pathEnd
	delays    *delays
	unlocked  posting // its last unlock of a window
	polling   bool    // calls since last are unsuccessful polls
	poll      int32   // the region of the last of them
	polled    int64   // and its end
	meets     []meeting
}

// sectionTime is a time in a section.
type sectionTime struct {
	section int32
	time    int64
}

// compute notes computation that an annotation ends: in which region it is is known when the next call
// is.
func (h *history) compute(section int32, until int64) {
	if h.site == 0 || h.polling || until <= h.last {
		return
	}
	if k := len(h.computed) - 1; k >= 0 && h.computed[k].section == section {
		h.computed[k].time += until - h.last
	} else {
		h.computed = append(h.computed, sectionTime{section, until - h.last})
	}
	h.last = until
}

// forgetComputed forgets computation after the last call.
func (h *history) forgetComputed() {
	for _, c := range h.computed {
		h.last -= c.time
	}
	h.computed = h.computed[:0]
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
	if h.next >= uint64(len(h.ring)) {
		h.makeRoom()
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

// fewSpans is the length of a ring at first.
const fewSpans = 1 << 6

// makeRoom prepares a full ring for another span: it grows if what would be overwritten is needed. What all
// threads did before they last met is not compared any more.
func (h *history) makeRoom() {
	size := uint64(len(h.ring))
	if size == 0 {
		h.ring = make([]span, fewSpans)
		return
	}
	oldest := h.next - size
	if h.metAll[0].call <= h.delays.over {
		h.needed = h.metAll[0].next
	}
	if oldest >= h.needed && len(h.ring) < h.limit {
		ring := make([]span, 2*size)
		for i := oldest; i < h.next; i++ {
			ring[i&(2*size-1)] = *h.at(i)
		}
		h.ring = ring
		return
	}
	if oldest < h.folded {
		return
	}
	until := max(h.next-size/2, h.needed)
	h.settle(until)
	if h.path.from < until {
		h.fold(until)
	}
	h.folded = until
}

// posted is an operation that a thread posted when it stood at a span: by its ID, which others had before and may
// have later.
type posted struct {
	id   int32
	turn uint32
	next uint64
}

// settle finds the paths up to where operations were posted for which others may still wait, because spans on
// them are about to be forgotten: those before a span, and those on a path that the thread has left.
func (h *history) settle(until uint64) {
	var at pathEnd // the path up to the operation before
	var of uint64  // where that path began
	node := func(p *posting) {
		if p.node != nil || p.next > until && p.path == h.path {
			return
		}
		end := p.path
		if at.before != nil && of == p.path.from {
			end = at
		}
		p.node = h.pathTo(end, p.next)
		at, of = pathEnd{p.node, p.next}, p.path.from
	}
	h.posted = slices.DeleteFunc(h.posted, func(x posted) bool {
		if h.over(x) {
			return true
		}
		p := &h.delays.postings[x.id]
		node(p)
		return p.node != nil
	})
	at = pathEnd{}
	node(&h.unlocked)
}

// over reports whether nobody can wait for what was posted.
func (h *history) over(x posted) bool { return h.delays.b.trace.Turn(int(x.id)) != x.turn }

// post notes that an operation was posted.
func (h *history) post(o *match.Operation) {
	if len(h.posted) == cap(h.posted) {
		kept := h.posted[:0]
		for _, x := range h.posted {
			if !h.over(x) {
				kept = append(kept, x)
			}
		}
		h.posted = kept
	}
	h.posted = append(h.posted, posted{int32(o.ID), h.delays.b.trace.Turn(o.ID), h.next})
}

// met notes that a collective call is over.
func (h *history) met(call uint64, exit int64, region int32) {
	if len(h.meets) == fewMeetings {
		copy(h.meets, h.meets[1:])
		h.meets = h.meets[:fewMeetings-1]
	}
	h.meets = append(h.meets, meeting{call, h.next, exit, region, h.section})
}

// lastMet is the last meeting of the thread.
func (h *history) lastMet() meeting { return h.meets[len(h.meets)-1] }

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
	for i := range a.metAll {
		for j := range b.metAll {
			if x, y := &a.metAll[i], &b.metAll[j]; x.call == y.call && x.call != 0 {
				return x, y
			}
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

// fold puts the path up to a span into a node, because its spans are about to be forgotten.
func (h *history) fold(until uint64) {
	end := pathEnd{h.nodeOf(h.path, until), until}
	if len(h.folds) == fewFolds {
		h.folds = append(h.folds[:0], h.folds[1:]...)
	}
	h.folds = append(h.folds, fold{h.path.from, end})
	h.path = end
}

// fold is what was put in place of a path that began with the spans from one number on.
type fold struct {
	from uint64
	end  pathEnd
}

// fewFolds is how many times the path of a thread may be folded while an operation is open.
const fewFolds = 8

// pathTo is the path up to a span that it had reached before; p is what it was then.
func (h *history) pathTo(p pathEnd, until uint64) *pathNode {
	for i := range h.folds {
		if f := &h.folds[i]; f.from == p.from && f.end.from <= until {
			p = f.end
		}
	}
	return h.nodeOf(p, until)
}

// leaveAll notes that the thread has left a meeting of all threads.
func (h *history) leaveAll(m meeting) {
	if h.metAll[0].call <= h.delays.over {
		h.needed = h.metAll[0].next
	}
	h.metAll = [2]meeting{m, h.metAll[0]}
}

// nodeOf is the path up to a span.
func (h *history) nodeOf(p pathEnd, until uint64) *pathNode {
	from := max(p.from, h.oldest())
	if from >= until {
		return p.before
	}
	sums := &h.delays.onSpans
	sums.clear()
	for i := from; i < until; i++ {
		sums.add(h.at(i))
	}
	return &pathNode{before: p.before, process: h.process, regions: slices.Clone(sums.list)}
}

// regionSums adds up spans by region and section.
type regionSums struct {
	list   []regionTime
	turn   uint64
	places []regionPlace // by region
}

// regionPlace is where in the list of a turn the first sum of a region is.
type regionPlace struct {
	turn  uint64
	place int32
}

func (r *regionSums) clear() { r.list, r.turn = r.list[:0], r.turn+1 }

func (r *regionSums) add(s *span) {
	for int(s.region) >= len(r.places) {
		r.places = append(r.places, regionPlace{})
	}
	p := &r.places[s.region]
	if p.turn != r.turn {
		*p = regionPlace{r.turn, int32(len(r.list))}
		r.list = append(r.list, regionTime{s.region, s.section, s.time})
		return
	}
	for i := int(p.place); i < len(r.list); i++ {
		if x := &r.list[i]; x.region == s.region && x.section == s.section {
			x.time += s.time
			return
		}
	}
	r.list = append(r.list, regionTime{s.region, s.section, s.time})
}
