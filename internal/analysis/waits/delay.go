package waits

import (
	"cmp"
	"slices"

	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/sections"
	"github.com/efg-tools/efg/signature"
)

// cause is what made a process late: a region in which it took longer than the one that waited,
// and the section of the program where that was.
type cause struct{ process, region, section int32 }

// Causes that are no region: the late process took no longer since both last met, as far as that
// is known; and what is left of many small ones.
const (
	unexplained = 0
	nobody      = -1
)

// share is the part of a wait that is due to a cause.
type share struct {
	cause
	part float64
}

// explanation says what caused a wait, directly or by other waits; the parts add up to 1. There is
// none of waits that are not explained.
type explanation struct {
	count  int
	shares [mostShares]share
}

func (e *explanation) list() []share { return e.shares[:e.count] }

// mostShares is how many causes of a wait are kept for those that it causes in turn.
const mostShares = 8

// posting is a thread's position when it posted an operation.
type posting struct {
	next uint64
	path pathEnd
	node *pathNode // of the path up to there, if it is known
}

// delays attributes waits to their causes, and follows the critical path.
type delays struct {
	b         *builder
	histories []history
	contacts  contacts
	onSpans   regionSums
	regions   map[regionKey]int32
	list      []regionKey // by number
	inCalls   []int32     // regions of calls, by site
	totals    totals
	postings  []posting // by operation
	calls     []uint64  // numbers of collective calls
	number    uint64    // of collective calls
	everybody int       // members of a collective call of all threads; 0: there is no such call
	over      uint64    // the last such call that all have left
	known     [knownRegions]knownRegion
	costs     costTable
	compared  []comparison // by region
	turn      uint64       // of comparisons
	touched   []int32
	waits     []*span
	parts     tally[float64]
	free      []*explanation
	onPath    map[int32]int64 // time of the critical path, by section
}

// knownRegions is how many regions are found without a look into the table of all.
const knownRegions = 1 << 8

type knownRegion struct {
	key    regionKey
	region int32
}

func newDelays(b *builder) *delays {
	d := &delays{
		b: b, histories: make([]history, len(b.trace.Threads)), regions: map[regionKey]int32{},
		list: []regionKey{{}}, totals: totals{regions: []int64{0}}, compared: make([]comparison, 1),
	}
	if !slices.ContainsFunc(b.trace.Processes, func(p *match.Process) bool { return len(p.Threads) != 1 }) {
		d.everybody = len(d.histories)
	}
	d.costs.byProcess = make([]tally[numberedCost], len(b.trace.Processes)+1)
	size := spansOf(len(d.histories))
	for i, t := range b.trace.Threads {
		d.histories[i] = history{process: int32(t.Process.Number), limit: size, delays: d}
	}
	return d
}

func (d *delays) region(from, at int32) int32 {
	key := regionKey{from, at}
	recent := &d.known[uint32(from*31+at)%knownRegions]
	if recent.key == key && recent.region != unexplained {
		return recent.region
	}
	r, ok := d.regions[key]
	if !ok {
		r = int32(len(d.list))
		d.regions[key] = r
		d.list = append(d.list, key)
		d.totals.regions, d.compared = append(d.totals.regions, 0), append(d.compared, comparison{})
	}
	*recent = knownRegion{key, r}
	return r
}

// callRegion is the region of the calls at a site.
func (d *delays) callRegion(site int32) int32 {
	for int(site) >= len(d.inCalls) {
		d.inCalls = append(d.inCalls, unexplained)
	}
	if d.inCalls[site] == unexplained {
		d.inCalls[site] = d.region(inCall, site)
	}
	return d.inCalls[site]
}

// enter notes the computation before a call, and where its operations are posted.
func (d *delays) enter(c *match.Call) {
	h := &d.histories[c.Thread.Index]
	before, section := d.b.sections.Enter(c)
	if c.Proc.Annotates() {
		h.compute(before, c.Enter)
		return
	}
	if h.polling && c.Began == c.Enter {
		d.endPolls(h)
	}
	h.section = section
	site := d.b.site(c.Thread, c.Node)
	h.entered = site
	if h.site == 0 {
		h.last = c.Enter
	}
	if !h.polling {
		d.endGap(h, site, before, c.Enter)
	}
	if c.Proc != nil && c.Proc.Epoch == signature.Unlock {
		h.unlocked = posting{next: h.next, path: h.path}
	}
	for _, o := range c.Posted {
		for o.ID >= len(d.postings) {
			d.postings = append(d.postings, posting{})
		}
		d.postings[o.ID] = posting{next: h.next, path: h.path}
		h.post(o)
	}
}

// endGap adds the computation before a call.
func (d *delays) endGap(h *history, site, before int32, until int64) {
	if h.gap.from != h.site || h.gap.at != site {
		h.gap, h.gapRegion = regionKey{h.site, site}, d.region(h.site, site)
	}
	for _, p := range h.computed {
		h.add(h.gapRegion, p.section, p.time, nil)
	}
	h.computed = h.computed[:0]
	h.add(h.gapRegion, before, until-h.last, nil)
	h.last = until
}

// endPolls: polls found nothing, and the program went on.
func (d *delays) endPolls(h *history) {
	h.add(h.poll, h.section, h.polled-h.last, nil)
	h.polling, h.last = false, max(h.last, h.polled)
}

// exit notes the time in a call, and its waits.
func (d *delays) exit(c *match.Call, found []Instance, selected bool) {
	if c.Proc.Annotates() {
		return
	}
	h := &d.histories[c.Thread.Index]
	site := h.entered
	region := d.callRegion(site)
	if c.FoundNothing {
		h.polling, h.polled, h.poll, h.site = true, c.Exit, region, site
		return
	}
	total := c.Exit - h.last
	var waited int64
	var culprit *match.Operation
	apart := false
	for i := range found {
		switch f := &found[i]; {
		case f.Culprit != nil:
			waited, culprit, apart = waited+f.Time, f.Culprit, f.State.Apart()
		case selected && !f.State.Apart():
			d.costs.at(cause{h.process, region, h.section}).short += float64(f.Time)
		}
	}
	if culprit != nil {
		d.wait(h, c.Thread, culprit, region, waited, selected && !apart, apart)
		total -= waited
	}
	h.add(region, h.section, total, nil)
	if c.Proc != nil && c.Proc.Setup() {
		d.totals.apart(h.section, total)
	}
	h.polling, h.last, h.site = false, max(h.last, c.Exit), site
	for _, o := range c.Done {
		d.meet(h, c, o)
	}
}

// meet notes that threads have met.
func (d *delays) meet(h *history, c *match.Call, o *match.Operation) {
	switch {
	case o.Collective != nil:
		call := d.callOf(o.Collective)
		h.met(call, c.Exit, d.callRegion(h.site))
		if o.Collective.Members == d.everybody {
			if h.leaveAll(h.lastMet()); o.Collective.Left == o.Collective.Members-1 {
				d.over = max(d.over, call)
			}
		}
	case o.Kind == match.ReceiveMessage && o.Partner != nil && o.Partner.Thread != c.Thread:
		p, swapped := pairOf(c.Thread, o.Partner.Thread)
		x := contact{h.next, d.postings[o.Partner.ID].next}
		if swapped {
			x = contact{x.high, x.low}
		}
		d.contacts.put(p, x)
	}
}

// callOf is the number of a collective call that a thread leaves.
func (d *delays) callOf(c *match.Collective) uint64 {
	for c.ID >= len(d.calls) {
		d.calls = append(d.calls, 0)
	}
	if c.Left == 0 {
		d.number++
		d.calls[c.ID] = d.number
	}
	return d.calls[c.ID]
}

// wait attributes a wait to its causes, and continues the critical path at the culprit.
func (d *delays) wait(h *history, t *match.Thread, culprit *match.Operation, region int32, time int64, counts, apart bool) {
	late := &d.histories[culprit.Thread.Index]
	p := &late.unlocked
	if culprit.Kind != match.LockWindow {
		p = &d.postings[culprit.ID]
	}
	var e *explanation
	if !apart {
		e = d.explain(h, late, t, culprit, p.next, float64(time), counts)
	} else {
		e = d.newExplanation()
	}
	h.add(region, h.section, time, e)
	if p.node == nil {
		p.node = late.pathTo(p.path, p.next)
	}
	h.path = pathEnd{p.node, h.next}
}

// since returns from which spans on two threads have not met, of those that are kept. If they met
// in a collective call, it returns that as the cause of what was before, and by how much b left it later,
// if they have not met since.
func (d *delays) since(a, b *history, ta, tb *match.Thread) (fromA, fromB uint64, lag int64, in cause) {
	in.process = b.process
	if x, y := lastMeeting(a, b); x != nil {
		fromA, fromB, lag, in.region, in.section = x.next, y.next, y.exit-x.exit, y.region, y.in
	}
	p, swapped := pairOf(ta, tb)
	if x, ok := d.contacts.of(p); ok {
		if swapped {
			x = contact{x.high, x.low}
		}
		if x.low > fromA {
			fromA, fromB, lag = x.low, x.high, 0
		}
	}
	return max(fromA, a.oldest()), max(fromB, b.oldest()), lag, in
}

// explain compares what both threads did since they last met: where the late one took longer, and
// where it waited itself.
func (d *delays) explain(a, b *history, ta *match.Thread, culprit *match.Operation, until uint64, time float64, counts bool) *explanation {
	fromA, fromB, lag, in := d.since(a, b, ta, culprit.Thread)
	d.touched, d.waits = d.touched[:0], d.waits[:0]
	d.turn++
	sum := int64(0)
	for i := fromB; i < until; i++ {
		s := b.at(i)
		switch {
		case s.wait == nil:
			d.touch(s.region, s.time).late.add(s)
		case s.wait.count > 0:
			d.waits = append(d.waits, s)
			sum += s.time
		}
	}
	for i := fromA; i < a.next; i++ {
		if s := a.at(i); s.wait == nil {
			d.touch(s.region, -s.time)
		}
	}
	for _, r := range d.touched {
		sum += max(d.compared[r].excess, 0)
	}
	scale := min(time/max(float64(sum), 1), 1)
	d.parts.clear()
	rest := time
	for _, r := range d.touched {
		if x := scale * float64(d.compared[r].excess); x > 0 {
			d.blameRegion(b, r, fromB, until, x, counts)
			rest -= x
		}
	}
	for _, s := range d.waits {
		for _, x := range s.wait.list() {
			d.blame(x.cause, scale*float64(s.time)*x.part, counts, true)
		}
		rest -= scale * float64(s.time)
	}
	if x := min(rest, float64(lag)); x > 0 {
		d.blame(in, x, counts, false)
		rest -= x
	}
	if rest = d.blameBefore(b, min(fromB, until), rest, counts); rest > 0 {
		d.blame(in, rest, counts, false)
	}
	return d.explanation()
}

// blameBefore blames what a late thread did before both last met: it was late there already, by what is
// not explained by what it did since. That is so after a message that had come before the late thread
// received it, because that one did not wait then. It returns what is left when no more spans are kept.
func (d *delays) blameBefore(b *history, from uint64, rest float64, counts bool) float64 {
	for i := from; i > b.oldest() && rest > 0; i-- {
		s := b.at(i - 1)
		part := min(float64(s.time), rest)
		if s.wait == nil || s.wait.count == 0 { // MPI_Init is not divided
			d.blame(cause{b.process, s.region, s.section}, part, counts, false)
		} else {
			for _, x := range s.wait.list() {
				d.blame(x.cause, part*x.part, counts, true)
			}
		}
		rest -= part
	}
	return rest
}

// touch adds to the time by which the late process took longer in a region.
func (d *delays) touch(region int32, time int64) *comparison {
	x := &d.compared[region]
	if x.turn != d.turn {
		*x = comparison{turn: d.turn}
		d.touched = append(d.touched, region)
	}
	x.excess += time
	return x
}

// comparison is what a late process did in a region since it met the one that waits, and by how much longer it took.
type comparison struct {
	turn   uint64
	excess int64
	late   late
}

// late is what a late process did in a region since it met the one that waits: the time, and the
// section, if that was one only.
type late struct {
	time    int64
	section int32
	several bool
}

func (l *late) add(s *span) {
	l.several = l.several || l.time > 0 && l.section != s.section
	l.time, l.section = l.time+s.time, s.section
}

// blameRegion blames a region for a time: in proportion to the late process's time in each of the
// sections where it was in this region.
func (d *delays) blameRegion(b *history, region int32, from, until uint64, time float64, counts bool) {
	l := &d.compared[region].late
	if !l.several {
		d.blame(cause{b.process, region, l.section}, time, counts, false)
		return
	}
	for i := from; i < until; i++ {
		if s := b.at(i); s.wait == nil && s.region == region {
			d.blame(cause{b.process, region, s.section}, time*float64(s.time)/float64(l.time), counts, false)
		}
	}
}

func (d *delays) blame(c cause, time float64, counts, indirect bool) {
	*d.parts.at(c) += time
	if !counts {
		return
	}
	if x := d.costs.at(c); indirect {
		x.long += time
	} else {
		x.short += time
	}
}

// newExplanation returns an explanation without causes.
func (d *delays) newExplanation() *explanation {
	if last := len(d.free) - 1; last >= 0 {
		e := d.free[last]
		d.free = d.free[:last]
		e.count = 0
		return e
	}
	return &explanation{}
}

// sortParts sorts parts, the largest first. Most often there are few.
func sortParts(list []tallied[float64]) {
	if len(list) > 2*fewTallied {
		slices.SortFunc(list, func(x, y tallied[float64]) int {
			return cmp.Or(cmp.Compare(y.value, x.value), x.compare(y.cause))
		})
		return
	}
	for i := 1; i < len(list); i++ {
		x, k := list[i], i
		for ; k > 0 && (list[k-1].value < x.value || list[k-1].value == x.value && x.compare(list[k-1].cause) < 0); k-- {
			list[k] = list[k-1]
		}
		list[k] = x
	}
}

func (c cause) compare(o cause) int {
	return cmp.Or(cmp.Compare(c.process, o.process), cmp.Compare(c.region, o.region), cmp.Compare(c.section, o.section))
}

// explanation keeps the largest parts of a wait.
func (d *delays) explanation() *explanation {
	list, e := d.parts.list, d.newExplanation()
	sum := 0.0
	for i := range list {
		sum += list[i].value
	}
	if sum <= 0 {
		e.count, e.shares[0] = 1, share{cause{nobody, unexplained, sections.None}, 1}
		return e
	}
	sortParts(list)
	e.count = min(len(list), mostShares)
	for i, x := range list[:e.count] {
		e.shares[i] = share{x.cause, x.value}
	}
	if len(list) > mostShares {
		rest := share{cause: cause{nobody, unexplained, sections.None}}
		for _, x := range list[mostShares-1:] {
			rest.part += x.value
		}
		e.shares[mostShares-1] = rest
	}
	for i := range e.list() {
		e.shares[i].part /= sum
	}
	return e
}
