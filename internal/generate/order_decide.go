package generate

import (
	"fmt"
	"math"
	"slices"

	"github.com/efg-tools/efg/signature"
)

// scheduler goes through the events of all threads in an order in which they can have been.
type scheduler struct {
	*ordering
	next  []int   // by stream
	known [][]int // by stream: how many events of each stream are known to have come before
	// clocks are what was known after events, by stream; nil: there are too many
	clocks [][][]int
	joins  []uint64                       // by stream: the number of the first thread's call before which it is joined
	awaits map[int]map[uint64][]reference // by node and visit
	waited map[int]int64                  // by node: how long its calls waited for others in the run, ns
}

// maxClocks bounds the numbers in all clocks of a process.
const maxClocks = 1 << 24

// started is the number of calls of the first thread that had returned when a thread made its first call.
func (o *ordering) started(stream int) uint64 {
	if !o.timed {
		return 1
	}
	n := uint64(0)
	for _, c := range o.main {
		if c.end > o.first[stream] {
			break
		}
		n++
	}
	return n
}

// endedBefore is the number of calls that the first thread had begun when a thread had made its last call.
func (o *ordering) endedBefore(stream int) uint64 {
	n := uint64(len(o.main))
	for o.timed && n > 0 && o.main[n-1].start >= o.last[stream]+clockError {
		n--
	}
	return n
}

// decide decides which calls wait for which.
func (o *ordering) decide() error {
	s := &scheduler{ordering: o, next: make([]int, len(o.events)), awaits: map[int]map[uint64][]reference{}, waited: map[int]int64{}}
	total := 0
	for i, list := range o.events {
		total += len(list)
		s.joins = append(s.joins, math.MaxUint64)
		s.known = append(s.known, make([]int, len(o.events)))
		if i > 0 {
			before := o.process.callsBefore(o.process.others[i-1].start)
			for s.known[i][0] < len(o.events[0]) && o.events[0][s.known[i][0]].seq < before {
				s.known[i][0]++
			}
			if t := o.process.others[i-1]; !t.stays {
				s.joins[i] = o.process.callsBefore(t.join)
			}
		}
	}
	if total*len(o.events) <= maxClocks {
		s.clocks = make([][][]int, len(o.events))
	}
	for range total {
		stream := s.choose()
		if stream < 0 {
			return s.stuck()
		}
		s.step(stream)
	}
	if s.timed {
		s.joined()
		for number, ns := range s.waited {
			n := o.process.nodes[number]
			n.gap = max(0, n.gap-float64(ns)/float64(n.visits))
		}
	}
	return o.process.setAwaits(s)
}

// choose returns the stream whose next event comes next: of those that are possible, the one that ended first. If none is
// possible, times alone decide; without times it returns -1.
func (s *scheduler) choose() int {
	best, any := -1, -1
	for i, list := range s.events {
		if s.next[i] == len(list) {
			continue
		}
		earlier := func(k int) bool {
			return k < 0 || s.timed && list[s.next[i]].end < s.events[k][s.next[k]].end
		}
		if earlier(any) {
			any = i
		}
		if earlier(best) && s.possible(i) {
			best = i
		}
	}
	if best < 0 && s.timed {
		return any
	}
	return best
}

func (s *scheduler) stuck() error {
	for i, list := range s.events {
		if s.next[i] < len(list) {
			n := s.process.nodes[list[s.next[i]].node]
			return fmt.Errorf("%s: thread %d: without times it is unknown which calls of other threads came before (record with --time trace)", n.proc.Name, i)
		}
	}
	return nil
}

// possible reports whether the next event of a stream can be the next one.
func (s *scheduler) possible(stream int) bool {
	e := &s.events[stream][s.next[stream]]
	for k, join := range s.joins {
		if stream == 0 && join <= e.seq && s.next[k] < len(s.events[k]) {
			return false
		}
	}
	for _, r := range e.after {
		if s.next[r.stream] <= r.at {
			return false
		}
	}
	return !slices.ContainsFunc(e.ops, func(op operation) bool { return !op.possible() || op.use == makes && s.passed(op.variable, stream) })
}

// passed reports whether another thread will now pass what has been an object before.
func (s *scheduler) passed(v *variable, stream int) bool {
	for i, list := range s.events {
		if i != stream && s.next[i] < len(list) && slices.Contains(list[s.next[i]].ops, operation{v, passes}) {
			return true
		}
	}
	return false
}

func (op *operation) possible() bool {
	v := op.variable
	if op.use == passes {
		return v.live == 0
	}
	if op.use == makes {
		return v.block == nil || v.live == 0 && !slices.ContainsFunc(v.block.slots[:v.slot], func(o *variable) bool { return o == nil || o.live == 0 })
	}
	if v.made && v.live == 0 {
		return false
	}
	b := v.block
	switch {
	case op.use == starts:
		return !v.active
	case op.use == ends && v.persistent:
		return v.active
	case (op.use == ends || op.use == removes) && b != nil:
		return b.next == len(b.makes) || b.makes[b.next] <= v.slot
	case op.use == removes && !v.several:
		return v.remaining == 1
	}
	return true
}

// step makes the next event of a stream the next one, and notes what it waits for.
func (s *scheduler) step(stream int) {
	at := s.next[stream]
	e := &s.events[stream][at]
	for k, join := range s.joins {
		if stream == 0 && join <= e.seq {
			s.known[0][k] = len(s.events[k])
		}
	}
	after := e.after
	for i := range e.ops {
		after = e.ops[i].apply(after, reference{stream, at})
	}
	slices.SortFunc(after, func(a, b reference) int { return b.at - a.at }) // the last one of a thread stands for all
	var needed []reference
	for _, r := range after {
		if r.stream == stream || r.stream < 0 || s.known[stream][r.stream] > r.at {
			continue
		}
		needed = append(needed, r)
		s.learn(stream, r)
	}
	if len(needed) > 0 {
		s.waitedFor(e, needed)
		slices.SortFunc(needed, func(a, b reference) int { return a.stream - b.stream })
		if s.awaits[e.node] == nil {
			s.awaits[e.node] = map[uint64][]reference{}
		}
		s.awaits[e.node][e.visit] = needed
	}
	s.next[stream]++
	s.known[stream][stream] = s.next[stream]
	if s.clocks != nil {
		s.clocks[stream] = append(s.clocks[stream], slices.Clone(s.known[stream]))
	}
}

// waitedFor notes how long a call waited in the run, between its thread's call before and itself.
func (s *scheduler) waitedFor(e *orderedEvent, calls []reference) {
	last := e.before
	for _, r := range calls {
		last = max(last, s.events[r.stream][r.at].end)
	}
	s.waited[e.node] += max(0, min(last, e.start)-e.before)
}

// joined notes how long the first thread waited until others ended.
func (s *scheduler) joined() {
	ends := map[uint64]int64{} // by the number of the call after
	for k, join := range s.joins {
		if join < uint64(len(s.main)) {
			ends[join] = max(ends[join], s.last[k])
		}
	}
	for join, end := range ends {
		if c := &s.main[join]; join > 0 {
			s.waited[c.node] += max(0, min(end, c.start)-s.main[join-1].end)
		}
	}
}

// learn notes that a stream knows of an event of another one, and of all that this one knew of.
func (s *scheduler) learn(stream int, r reference) {
	known := s.known[stream]
	known[r.stream] = max(known[r.stream], r.at+1)
	if s.clocks == nil || r.at >= len(s.clocks[r.stream]) {
		return
	}
	for k, n := range s.clocks[r.stream][r.at] {
		known[k] = max(known[k], n)
	}
}

// apply does with the object what a call does, and appends the calls that come before it.
func (op *operation) apply(after []reference, self reference) []reference {
	v := op.variable
	after = append(after, v.last)
	v.remaining--
	if op.use == uses || op.use == passes {
		v.users = append(slices.DeleteFunc(v.users, func(r reference) bool { return r.stream == self.stream }), self)
		return after
	}
	after = append(after, v.users...)
	switch op.use {
	case makes:
		v.live++
		v.above = none
		if b := v.block; b != nil {
			b.next++
			for _, o := range b.slots[:v.slot] {
				if o != nil && o.live > 0 {
					o.above = self
				}
			}
		}
	case starts:
		v.active = true
	case ends, removes:
		after = append(after, v.above)
		v.active = false
		if op.use == removes || !v.persistent {
			v.live = max(v.live-1, 0)
		}
	}
	v.last, v.users = self, nil
	return after
}

// setAwaits gives nodes what their calls wait for.
func (p *process) setAwaits(s *scheduler) error {
	bodies := p.bodies()
	wanted := make([]map[visitOf]uint64, len(bodies)) // by stream: the calls that others wait for
	for i := range wanted {
		wanted[i] = map[visitOf]uint64{}
	}
	for _, visits := range s.awaits {
		for _, list := range visits {
			for _, r := range list {
				e := &s.events[r.stream][r.at]
				wanted[r.stream][visitOf{e.node, e.visit}] = 0
				p.nodes[e.node].awaited = true
			}
		}
	}
	for i, body := range bodies {
		p.countAwaited(body, wanted[i])
	}
	for number, visits := range s.awaits {
		p.nodes[number].late = s.timed
		if err := p.nodes[number].setAwaits(s, visits, wanted); err != nil {
			return err
		}
	}
	return nil
}

// visitOf is a visit of a node.
type visitOf struct {
	node  int
	visit uint64
}

// countAwaited sets how many calls that others wait for a thread has made after those in wanted.
func (p *process) countAwaited(body []stmt, wanted map[visitOf]uint64) {
	total, visits := uint64(0), map[int]uint64{}
	execute(only(body, func(node int) bool { return p.nodes[node].awaited }), func(node int) {
		total++
		v := visitOf{node, visits[node]}
		visits[node]++
		if _, ok := wanted[v]; ok {
			wanted[v] = total
		}
	})
}

// setAwaits sets what calls of the node wait for, by visit. Those that wait for nothing wait for what the call before waited
// for, which is there.
func (n *node) setAwaits(s *scheduler, visits map[uint64][]reference, wanted []map[visitOf]uint64) error {
	most := 0
	for _, list := range visits {
		most = max(most, len(list))
	}
	for slot := range most {
		var a await
		thread, calls := firstThread(visits, slot), uint64(0)
		for visit := range n.visits {
			if list := visits[visit]; slot < len(list) {
				e := &s.events[list[slot].stream][list[slot].at]
				thread, calls = uint64(list[slot].stream), wanted[list[slot].stream][visitOf{e.node, e.visit}]
			}
			a.thread.series, a.calls.series = a.thread.series.add(thread), a.calls.series.add(calls)
			if len(a.calls.series) > maxSeries || len(a.thread.series) > maxSeries {
				return fmt.Errorf("%s: thread %d: waits for other threads without a pattern, more than %d times", n.proc.Name, n.stream, maxSeries)
			}
		}
		a.thread.series, a.calls.series = a.thread.series.fold(), a.calls.series.fold()
		n.awaits = append(n.awaits, a)
	}
	return nil
}

// firstThread is the thread that the first call waits for which waits for so many.
func firstThread(visits map[uint64][]reference, slot int) uint64 {
	first := uint64(signature.Absent)
	stream := 0
	for visit, list := range visits {
		if slot < len(list) && visit < first {
			first, stream = visit, list[slot].stream
		}
	}
	return uint64(stream)
}
