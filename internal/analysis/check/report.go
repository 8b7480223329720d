package check

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
)

// Kind is a kind of fault.
type Kind string

const (
	LostMessage       Kind = "lost message"
	UnsentMessage     Kind = "message without a sender"
	OtherTypes        Kind = "message with different datatypes"
	OpenReceive       Kind = "receive never completed"
	OpenRequest       Kind = "request never completed"
	OpenStart         Kind = "started request never completed"
	UnfreedRequest    Kind = "persistent request never freed"
	UnfreedObject     Kind = "object never freed"
	PersistentMisused Kind = "persistent request misused"
	BeforeInit        Kind = "call before MPI_Init"
	AfterFinalize     Kind = "call after MPI_Finalize"
	NoFinalize        Kind = "no MPI_Finalize"
	NeverReturned     Kind = "call never returned"
	FreedHandle       Kind = "freed handle"
	TimesContradict   Kind = "times contradict each other"
	UnbalancedRegion  Kind = "region not balanced"
)

// Finding is a fault, or equal faults of several ranks at one callsite.
type Finding struct {
	Kind   Kind
	Rank   int // the first rank that has it
	Thread uint32
	Event  uint64 // number of the event on that rank
	Op     string
	Site   string // "function file:line"
	Text   string // what is wrong there
	Count  uint64 // how many on all ranks
	Ranks  []int
	// Remark says why it may follow from an incomplete recording rather than from an error of
	// the program; "" if the recording is complete.
	Remark string
}

// Totals counts what was checked.
type Totals struct {
	Processes                                int
	Calls, Sent, Received, Requests, Objects uint64
	Collectives                              uint64
}

func (t *Totals) add(o *Totals) {
	t.Processes++
	t.Calls += o.Calls
	t.Sent += o.Sent
	t.Received += o.Received
	t.Requests += o.Requests
	t.Objects += o.Objects
	t.Collectives += o.Collectives
}

// Report is the result of a check.
type Report struct {
	Totals
	Findings []Finding // by kind, then callsite; those with a remark come last
	// Incomplete are the ranks whose recording ends early: they were killed, still
	// running, or had no space. Missing are ranks that the file does not have.
	Incomplete, Missing []int
	// Unjudged counts messages to or from ranks that are not in the file.
	Unjudged uint64
	// Uncompared are calls whose times were not compared because that would have
	// needed too much memory.
	Uncompared []Uncompared
}

// Uncompared are calls of a stream whose times were not compared.
type Uncompared struct {
	Rank   int
	Thread uint32
	Event  uint64 // number of the first one
	Calls  uint64
	Text   string // why
}

// Progress is called with how much of a part of a check is done, in "ranks" or "events".
type Progress func(what string, done, total uint64)

// Faults returns the number of findings that are definitely errors of the program.
func (r *Report) Faults() int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Remark == "" {
			n++
		}
	}
	return n
}

// candidateFault is a fault of one rank, found by counting.
type candidateFault struct {
	kind    Kind
	proc    int // number of the process in the file
	rank    int
	at      place
	op      string
	site    uint64
	count   uint64
	channel channel
	before  uint64 // number of preceding sends on the channel
	object  object
	event   uint64 // if known
	call    *efg.Pending
	text    string
	// local is the text of a fault that does not depend on other ranks; equal faults may have
	// different texts.
	local  string
	other  string // what the other side did
	idle   bool   // a persistent request was never started
	remark string
}

type groupKey struct {
	kind         Kind
	op           string
	site         uint64
	text, remark string
}

// group is equal faults of several ranks.
type group struct {
	candidateFault // of the first rank
	ranks          []int
	total          uint64
}

type builder struct {
	run    *runfile.Run
	number map[int]int // number of the process, by rank
	first  []int       // see analysis.FirstRanks
	short  map[int]bool
	// furthest is the maximum number of calls by which processes may be apart for their times
	// to be compared.
	furthest int
	progress []Progress

	// settles: channels are forgotten when both sides agree. Otherwise, times are compared per
	// channel, or several processes have one rank.
	settles bool

	mu      sync.Mutex
	flows   map[channel]*flow // not settled
	waiting map[wildcardSite]uint64
	callers map[channel]caller
	scopes  map[scopeKey]*scopeState
	groups  map[groupKey]*group
	ends    []candidateFault                 // how processes ended that ended before MPI_Finalize
	tallies map[runfile.ClassKey]*classTally // nil after only one process of the class
	classes int                              // number that are not nil
	members []*classTally                    // by process of the run; nil if it was counted alone
	alone   bool                             // no classes are used; for tests
	keepAll bool                             // channels are not settled; for tests
	report  Report
}

// caller is where the last call on a channel was made.
type caller struct {
	at   place
	op   string
	site uint64
}

// New checks a run.
func New(run *runfile.Run, progress ...Progress) (*Report, error) {
	return newBuilder(run, progress).check()
}

func newBuilder(run *runfile.Run, progress []Progress) *builder {
	return &builder{
		run: run, furthest: lastLimit, progress: progress, number: map[int]int{}, short: map[int]bool{}, flows: map[channel]*flow{},
		waiting: map[wildcardSite]uint64{}, callers: map[channel]caller{}, scopes: map[scopeKey]*scopeState{}, groups: map[groupKey]*group{},
		tallies: map[runfile.ClassKey]*classTally{}, members: make([]*classTally, len(run.Procs)),
	}
}

// reportProgress says how much of a part of the work is done.
func (b *builder) reportProgress(what string, done, total uint64) {
	for _, p := range b.progress {
		p(what, done, total)
	}
}

func (b *builder) check() (*Report, error) {
	procs := b.overview()
	ranks := func(done uint64) { b.reportProgress("ranks", done, uint64(len(procs))) }
	if err := analysis.EachUntimed(b.run, procs, b.process, ranks); err != nil {
		return nil, err
	}
	if err := b.hangs(); err != nil {
		return nil, err
	}
	b.endings()
	b.matchClasses()
	b.match()
	if err := b.typeOrders(); err != nil {
		return nil, err
	}
	if err := b.collectives(); err != nil {
		return nil, err
	}
	if err := b.clockChecks(); err != nil {
		return nil, err
	}
	if err := b.counterparts(); err != nil {
		return nil, err
	}
	if err := b.locate(); err != nil {
		return nil, err
	}
	return b.finish(), nil
}

// overview records which ranks exist, and which are complete.
func (b *builder) overview() []int {
	var procs []int
	top := 0
	first := analysis.FirstRanks(b.run.Procs)
	b.first = first
	b.settles = !b.run.Meta.Traced() && !b.keepAll
	for i := range b.run.Procs {
		p := &b.run.Procs[i]
		procs = append(procs, i)
		if _, known := b.number[p.Rank]; known {
			b.settles = false
		}
		b.number[p.Rank] = i
		top = max(top, first[i]+p.Size)
		for k := range p.Streams {
			if !p.Streams[k].Complete() && !b.short[p.Rank] {
				b.short[p.Rank] = true
				b.report.Incomplete = append(b.report.Incomplete, p.Rank)
			}
		}
	}
	for rank := 0; rank < min(top, maxMissing); rank++ {
		if _, ok := b.number[rank]; !ok {
			b.report.Missing = append(b.report.Missing, rank)
		}
	}
	slices.Sort(b.report.Incomplete)
	return procs
}

// maxMissing bounds the ranks that are listed as missing: a small file can claim
// any size.
const maxMissing = 1 << 22

// process checks what concerns one process alone.
func (b *builder) process(p *analysis.Process) error {
	if c := b.classOf(p); c != nil {
		c.once.Do(func() { c.err = c.fill(p) })
		if c.err != nil {
			return c.err
		}
		if c.ok {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.addClass(p, c)
			return nil
		}
	}
	t := newTally(p)
	err := t.count()
	if err == nil && t.doubt {
		_, err = t.walkThrough(wantedEvents{})
	}
	if err != nil {
		return err
	}
	f, err := t.find()
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addFindings(p, f)
	for c, x := range t.flows {
		b.addFlow(t.rank, c, x, t)
	}
	for a, n := range t.waiting {
		b.waiting[a] += n
	}
	return nil
}

// find collects the findings about a single process.
func (t *tally) find() (*findings, error) {
	f := &findings{t: t, suspects: t.suspects(), ends: t.ends()}
	used, uneven, err := t.usages()
	if err != nil {
		return nil, err
	}
	calls, err := outside(t.p)
	if err != nil {
		return nil, err
	}
	freed, err := t.freedHandles()
	if err != nil {
		return nil, err
	}
	unbalanced, err := unbalancedRegions(t.p)
	f.used, f.suspects = used, slices.Concat(f.suspects, uneven, calls, freed, unbalanced)
	return f, err
}

// addFindings adds the findings about a process or its class.
func (b *builder) addFindings(p *analysis.Process, f *findings) {
	for _, s := range f.suspects {
		b.suspect(p, s)
	}
	for _, s := range f.ends {
		s.rank = p.Data.Rank
		b.ends = append(b.ends, s)
	}
	b.report.add(&f.t.total)
	b.use(p, f.used)
}

// addFlow adds the messages of a process on a channel to those of the other side. Both sides
// add theirs once; a channel on which everything sent was certainly received is then settled.
func (b *builder) addFlow(rank int32, c channel, f *flow, t *tally) {
	sum := b.flows[c]
	if b.settles && (sum != nil && f.fits(sum) || sum == nil && c.from == c.to && f.fits(&flow{})) {
		delete(b.flows, c)
		delete(b.callers, c)
		return
	}
	if sum == nil {
		sum = &flow{}
		b.flows[c] = sum
	}
	sum.sent += f.sent
	sum.received += f.received
	sum.pending += f.pending
	sum.cancelled += f.cancelled
	if f.sent > 0 {
		sum.out = f.out
	}
	if f.received > 0 {
		sum.in = f.in
	}
	at := f.sender
	if c.from != rank || f.sent == 0 {
		at = f.receiver
		if f.received == 0 {
			return
		}
	}
	if _, ok := b.callers[c]; !ok || c.from == rank {
		op, site := t.caller(at)
		b.callers[c] = caller{at, op, site}
	}
}

func (t *tally) caller(at place) (op string, site uint64) {
	n, _ := t.nodeAt(at)
	if n == nil {
		return "", 0
	}
	if p := procOf(n); p != nil {
		op = p.Name
	}
	return op, t.p.Callsite(n.Words[1])
}

// suspects lists the suspects among the counts of a process.
func (t *tally) suspects() []candidateFault {
	var list []candidateFault
	add := func(kind Kind, at place, made, freed uint64) *candidateFault {
		if made <= freed {
			return &candidateFault{}
		}
		op, site := t.caller(at)
		list = append(list, candidateFault{kind: kind, at: at, op: op, site: site, count: made - freed})
		return &list[len(list)-1]
	}
	for at, l := range t.requests {
		_, r := t.nodeAt(at)
		kind := OpenRequest
		switch {
		case r.proc.Persistent:
			kind = UnfreedRequest
		case r.receives && !r.sends:
			kind = OpenReceive
		}
		add(kind, at, l.made, l.freed+t.maybe[at])
	}
	for at, l := range t.starts {
		add(OpenStart, at, l.made, l.freed+t.maybe[at])
	}
	list = append(list, t.neverStarted()...)
	for o, l := range t.objects {
		s := add(UnfreedObject, l.at, l.made, l.freed)
		s.object, s.text = o, objects[o.kind]
	}
	for _, m := range t.twice {
		op, site := t.caller(m.place)
		list = append(list, candidateFault{kind: PersistentMisused, at: m.place, op: op, site: site, count: 1, event: m.event, text: m.text})
	}
	return list
}

// neverStarted lists persistent requests that a call waited for and none started. (A request
// may be waited for before it is first started.)
func (t *tally) neverStarted() (list []candidateFault) {
	for at, n := range t.awaited {
		if !t.begun[at] {
			op, site := t.caller(at)
			list = append(list, candidateFault{
				kind: PersistentMisused, at: at, op: op, site: site, count: n, idle: true, text: "created a persistent request that was waited for but never started",
			})
		}
	}
	return list
}

// suspect adds a suspect to its group.
func (b *builder) suspect(p *analysis.Process, s candidateFault) {
	s.rank, s.site = p.Data.Rank, p.Callsite(s.site)
	short := b.short[s.rank]
	switch {
	case short && s.kind == UnfreedObject || short && s.kind == UnfreedRequest:
		return // it follows from the missing part, and is not significant
	case short && s.remark == "" && s.local == "" && s.kind.needsAll():
		s.remark = fmt.Sprintf("the recording of rank %d ends early", s.rank)
	}
	b.group(s)
}

// needsAll reports whether a fault may be explained by calls that are missing at the end.
func (k Kind) needsAll() bool {
	switch k {
	case PersistentMisused, FreedHandle, BeforeInit, AfterFinalize, UnbalancedRegion:
		return false
	}
	return true
}

func (b *builder) group(s candidateFault) {
	s.proc = b.number[s.rank]
	key := groupKey{s.kind, s.op, s.site, s.text, ""}
	if s.remark != "" {
		key.remark = "early"
	}
	g := b.groups[key]
	switch {
	case g == nil:
		g = &group{candidateFault: s}
		b.groups[key] = g
	case before(&s, &g.candidateFault):
		g.candidateFault = s
	}
	g.ranks = append(g.ranks, s.rank)
	g.total += s.count
}

// before orders the suspects of a group: the first one is shown.
func before(x, y *candidateFault) bool {
	return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.at.thread, y.at.thread), cmp.Compare(x.at.node, y.at.node),
		cmp.Compare(x.event, y.event), cmp.Compare(x.channel.to, y.channel.to), cmp.Compare(x.channel.tag, y.channel.tag),
		cmp.Compare(x.object.word, y.object.word)) < 0
}

// kinds is the order in which findings are shown.
var kinds = []Kind{
	Deadlock, WaitInVain, CollectiveMismatch,
	InvalidArgument, FreedHandle, Aborted, EndedEarly, BeforeInit, AfterFinalize, NoFinalize, LostMessage, UnsentMessage, OtherTypes, OpenReceive, OpenRequest, OpenStart,
	PersistentMisused, NeverReturned, CollectiveOrder, CollectiveMissing, CollectiveRoot, CollectiveOp, CollectiveData,
	UnfreedRequest, UnfreedObject, UnbalancedRegion, TimesContradict,
}

func (b *builder) finish() *Report {
	r := &b.report
	slices.SortFunc(r.Findings, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.Remark, y.Remark), cmp.Compare(slices.Index(kinds, x.Kind), slices.Index(kinds, y.Kind)),
			cmp.Compare(x.Site, y.Site), cmp.Compare(x.Op, y.Op), cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Event, y.Event),
			cmp.Compare(x.Text, y.Text))
	})
	return r
}
