package waits

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/sections"
	"github.com/efg-tools/efg/internal/analysis/unfinished"
)

// Place is a call in the program. Op is "" if there is none.
type Place = match.Place

// RankTime is the time of a rank, ns.
type RankTime struct {
	Rank int
	Time int64
}

// Row sums the waits of a state at a place for calls at another. Times are in ns.
type Row struct {
	State    State
	Waiting  Place
	Culprit  Place // "" for the completion of a collective
	Count    uint64
	Time     int64
	Longest  Longest
	Ranks    []RankTime // that wait, the longest time first
	Culprits []RankTime // that are waited for, the same
}

// Longest is the longest of some waits.
type Longest struct {
	Time, At      int64 // At is when the waiting began, ns since the run began
	Rank, Culprit int   // Culprit is -1 if there is none
}

// StateRow sums the waits of a state.
type StateRow struct {
	State State
	Count uint64
	Time  int64
}

// RankRow has the times, in ns, for which a rank's threads were recorded, in MPI, and waiting. Initialisation
// and finalisation are not included.
type RankRow struct {
	Rank               int
	Time, MPI, Waiting int64
	Caused             int64 // waiting of others for it
}

// Report has the wait states of a run. Times are sums over threads, in ns.
type Report struct {
	Ranks int
	// Time is from the first call of each thread to its last, MPI the time in calls, Waiting that of
	// all states, all without MPI_Init and MPI_Finalize; these take Setup, of which SetupWaiting is
	// waiting.
	Time, MPI, Waiting  int64
	Setup, SetupWaiting int64
	// Bound is how far a time may be off, ns.
	Bound int64
	// States and Rows are those that occur, the longest time first; those of initialisation and
	// finalisation follow.
	States []StateRow
	Rows   []Row
	ByRank []RankRow
	Pairs  Pairs
	// Causes add up to Waiting; the most expensive come first.
	Causes []Cause
	Path   Path
	// Loops, Phases and Regions say how much of the caused waiting and of the critical path each of
	// them has: by cost, and in the order of the program. All add up to all. There are no Regions if
	// the program names none.
	Loops   []LoopRow
	Phases  []PhaseRow
	Regions []RegionRow
	Matched match.Summary
	// Unfinished are the calls that had not returned when the recording ended. They are not included
	// elsewhere.
	Unfinished []unfinished.Row
	// Untimed are threads without times, Ended processes whose recording ends early.
	Untimed, Ended int
	// End is where the analysis ends because later calls have no times, ns since the run began;
	// nil: all have some. See match.Trace.End.
	End *int64
}

// New finds the waits of some processes of a run; for what they wait is looked for in all.
func New(run *runfile.Run, procs []int, progress ...analysis.Progress) (*Report, error) {
	trace, err := match.Open(run)
	if err != nil {
		return nil, err
	}
	b, err := newBuilder(run, trace, procs)
	if err != nil {
		return nil, err
	}
	summary, err := trace.Walk(context.Background(), b, func(done uint64) {
		for _, p := range progress {
			p(done * uint64(len(procs)) / max(trace.Events, 1))
		}
	})
	if err != nil {
		return nil, err
	}
	places, err := b.sites.Places(run)
	if err != nil {
		return nil, err
	}
	b.report.Matched = *summary
	if b.report.Unfinished, err = unfinished.New(run, procs); err != nil {
		return nil, err
	}
	return b.finish(places), nil
}

// rowKey names a row; culprit is -1 if there is none.
type rowKey struct {
	state            State
	waiting, culprit int32
}

func (x rowKey) compare(y rowKey) int {
	return cmp.Or(cmp.Compare(x.state, y.state), cmp.Compare(x.waiting, y.waiting), cmp.Compare(x.culprit, y.culprit))
}

// sum adds up the waits of a row.
type sum struct {
	count           uint64
	time            int64
	longest         Longest
	ranks, culprits processTimes
}

// recentSums is how many sums are found without a look into the table of all.
const recentSums = 1 << 6

type recentSum struct {
	key rowKey
	sum *sum // nil: none
}

// threadTimes are those of a thread.
type threadTimes struct {
	first, last, mpi, setup int64
	began                   bool
}

type builder struct {
	*Classifier
	trace    *match.Trace
	report   Report
	selected []bool // processes
	threads  []threadTimes
	sites    *match.Sites
	sums     map[rowKey]*sum
	recent   [recentSums]recentSum
	sections *sections.Sections
	delays   *delays
	waiting  []int64 // by process
	in       []int64 // by section
	pairs    pairTimes
	caused   []int64
}

func newBuilder(run *runfile.Run, t *match.Trace, procs []int) (b *builder, err error) {
	b = &builder{
		Classifier: NewClassifier(t), trace: t, selected: make([]bool, len(t.Processes)), threads: make([]threadTimes, len(t.Threads)),
		sites: match.NewSites(t), sums: map[rowKey]*sum{}, waiting: make([]int64, len(t.Processes)), caused: make([]int64, len(t.Processes)),
	}
	for _, p := range procs {
		b.selected[p] = true
	}
	for _, th := range t.Threads {
		b.report.Bound = max(b.report.Bound, th.Bound)
	}
	b.report.Untimed, b.report.Ended, b.report.End = t.Untimed, t.Ended, t.Until()
	b.delays, b.pairs = newDelays(b), newPairs(t)
	b.sections, err = sections.New(run, t)
	return b, err
}

// site is the number of a node's callsite.
func (b *builder) site(t *match.Thread, node int) int32 { return b.sites.Number(t, node) }

// Enter implements match.Visitor.
func (b *builder) Enter(c *match.Call) {
	b.Classifier.Enter(c)
	b.delays.enter(c)
}

// Exit implements match.Visitor.
func (b *builder) Exit(c *match.Call) {
	found := b.Classifier.Exit(c)
	if c.Proc.Annotates() {
		return
	}
	p := c.Thread.Process
	t := &b.threads[c.Thread.Index]
	if !t.began {
		t.began, t.first = true, c.Enter
	}
	t.last = max(t.last, c.Exit)
	if c.Proc != nil && c.Proc.Setup() {
		t.setup += c.Exit - c.Enter
	} else {
		t.mpi += c.Exit - c.Enter
	}
	for i := range found {
		b.add(c, &found[i], b.selected[p.Number])
	}
	b.delays.exit(c, found, b.selected[p.Number])
}

func (b *builder) add(c *match.Call, i *Instance, selected bool) {
	p := c.Thread.Process
	culprit, rank := int32(-1), -1
	if i.Culprit != nil {
		q := i.Culprit.Thread.Process
		culprit, rank = b.site(i.Culprit.Thread, i.Culprit.Node), q.Rank
		if !i.State.Apart() {
			b.caused[q.Number] += i.Time
		}
	}
	if !selected {
		return
	}
	if !i.State.Apart() {
		b.waiting[p.Number] += i.Time
		section := b.sections.Now(c.Thread)
		for int(section) >= len(b.in) {
			b.in = append(b.in, 0)
		}
		b.in[section] += i.Time
		if i.Culprit != nil {
			b.pairs.add(p.Rank, rank, i.Time)
		}
	}
	s := b.sum(rowKey{i.State, b.site(c.Thread, c.Node), culprit})
	s.count++
	s.time += i.Time
	s.ranks.add(p.Number, i.Time)
	if i.Culprit != nil {
		s.culprits.add(i.Culprit.Thread.Process.Number, i.Time)
	}
	if i.Time > s.longest.Time {
		s.longest = Longest{i.Time, c.Began, p.Rank, rank}
	}
}

// sum is the sum of a row.
func (b *builder) sum(key rowKey) *sum {
	recent := &b.recent[(uint32(key.waiting)*31+uint32(key.culprit)*7+uint32(key.state))%recentSums]
	if recent.sum != nil && recent.key == key {
		return recent.sum
	}
	s := b.sums[key]
	if s == nil {
		s = &sum{}
		b.sums[key] = s
	}
	*recent = recentSum{key, s}
	return s
}

// finish makes the report.
func (b *builder) finish(texts []Place) *Report {
	r := &b.report
	b.ranks()
	r.Pairs = b.pairs.finish()
	regions := b.delays.regionTexts(texts)
	r.Causes, r.Path = b.delays.causes(regions), b.delays.path(regions)
	r.Loops, r.Phases, r.Regions = b.delays.bySection(b.in)
	var states [States]StateRow
	for _, key := range slices.SortedFunc(maps.Keys(b.sums), rowKey.compare) { // rows may be equal in all that they are sorted by
		s := b.sums[key]
		row := Row{
			State: key.state, Waiting: texts[key.waiting], Count: s.count, Time: s.time, Longest: s.longest,
			Ranks: s.ranks.byRank(b.trace), Culprits: s.culprits.byRank(b.trace),
		}
		if key.culprit >= 0 {
			row.Culprit = texts[key.culprit]
		}
		r.Rows = append(r.Rows, row)
		states[key.state].Count += s.count
		states[key.state].Time += s.time
		if key.state.Apart() {
			r.SetupWaiting += s.time
		} else {
			r.Waiting += s.time
		}
	}
	slices.SortStableFunc(r.Rows, func(x, y Row) int {
		return cmp.Or(compareApart(x.State, y.State), cmp.Compare(y.Time, x.Time), cmp.Compare(x.State, y.State), comparePlaces(x.Waiting, y.Waiting), comparePlaces(x.Culprit, y.Culprit))
	})
	for i := range states {
		if states[i].Count > 0 {
			states[i].State = State(i)
			r.States = append(r.States, states[i])
		}
	}
	slices.SortStableFunc(r.States, func(x, y StateRow) int {
		return cmp.Or(compareApart(x.State, y.State), cmp.Compare(y.Time, x.Time))
	})
	return r
}

// compareApart sorts the states of MPI's initialization and finalization behind all others.
func compareApart(x, y State) int {
	switch {
	case x.Apart() == y.Apart():
		return 0
	case x.Apart():
		return 1
	}
	return -1
}

func comparePlaces(x, y Place) int {
	return cmp.Or(cmp.Compare(x.Op, y.Op), cmp.Compare(x.Site, y.Site))
}

func sortedTimes(m map[int]int64) []RankTime {
	list := make([]RankTime, 0, len(m))
	for rank, t := range m {
		list = append(list, RankTime{rank, t})
	}
	slices.SortFunc(list, func(x, y RankTime) int { return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Rank, y.Rank)) })
	return list
}

// ranks adds up the times of the selected processes.
func (b *builder) ranks() {
	r := &b.report
	for _, p := range b.trace.Processes {
		if !b.selected[p.Number] {
			continue
		}
		r.Ranks++
		row := RankRow{Rank: p.Rank, Waiting: b.waiting[p.Number], Caused: b.caused[p.Number]}
		for _, th := range p.Threads {
			t := &b.threads[th.Index]
			row.Time += t.last - t.first - t.setup
			row.MPI += t.mpi
			r.Setup += t.setup
		}
		r.Time += row.Time
		r.MPI += row.MPI
		r.ByRank = append(r.ByRank, row)
	}
}
