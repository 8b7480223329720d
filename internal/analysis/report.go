package analysis

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Times are durations in nanoseconds. Bins[i] counts those in [2^(i+3), 2^(i+4)); the first and
// last bin include what lies outside.
type Times struct {
	Count, Sum, Min, Max uint64
	Bins                 [32]uint64
}

// Add adds the durations of an interval of that many calls.
func (t *Times) Add(count uint64, v *efg.Interval) {
	if count == 0 {
		return
	}
	if t.Count == 0 || v.Min < t.Min {
		t.Min = v.Min
	}
	t.Max = max(t.Max, v.Max)
	t.Count += count
	t.Sum += v.Sum
	for i, n := range v.Bins {
		t.Bins[i] += uint64(n)
	}
}

// Merge adds the durations of o.
func (t *Times) Merge(o *Times) {
	if o.Count == 0 {
		return
	}
	if t.Count == 0 || o.Min < t.Min {
		t.Min = o.Min
	}
	t.Max = max(t.Max, o.Max)
	t.Count += o.Count
	t.Sum += o.Sum
	for i, n := range o.Bins {
		t.Bins[i] += n
	}
}

// Mean is the mean duration.
func (t *Times) Mean() float64 {
	if t.Count == 0 {
		return 0
	}
	return float64(t.Sum) / float64(t.Count)
}

// Counts are a number of calls and what they moved.
type Counts struct {
	Calls, Errors uint64
	Volume
}

// Row sums calls: of a procedure, at a callsite, or of a rank.
type Row struct {
	Counts
	Time Times
	// Inclusive is the sum of the calls' times with those of the calls inside them, which Time does not
	// have, ns.
	Inclusive uint64
	Sizes     Sizes
}

func (r *Row) add(o *Row) {
	r.Inclusive += o.Inclusive
	r.addCounts(o)
	r.Time.Merge(&o.Time)
}

func (r *Row) addCounts(o *Row) {
	r.Calls += o.Calls
	r.Errors += o.Errors
	r.Volume.Add(&o.Volume, 1)
	r.Sizes.Merge(&o.Sizes)
}

// OpRow sums the calls of a procedure, or those at one callsite, over ranks.
type OpRow struct {
	Op   string
	Site string // "function file:line"; "" in the table of procedures
	// Path are the calls that lead to the callsite, the outermost first, as far as these tell callsites
	// apart; see reconstruct.Names.Path. Without a call path it is the callsite alone.
	Path []string
	Row
	// Ranks is the number of ranks that make the call. Least and Most are the
	// smallest and the largest total time of one of them, MostRank is that one.
	Ranks, MostRank int
	Least, Most     uint64
	// Apart is set for calls that begin or end MPI if their times are not in the totals.
	Apart bool
}

// Mean returns the mean of the ranks' total times.
func (r *OpRow) Mean() float64 { return float64(r.Time.Sum) / float64(max(r.Ranks, 1)) }

// Imbalance returns the excess of the slowest rank over the mean, as a fraction of the mean.
func (r *OpRow) Imbalance() float64 {
	if r.Time.Sum == 0 {
		return 0
	}
	return float64(r.Most)/r.Mean() - 1
}

// Cost returns by how many nanoseconds the slowest rank exceeds the mean.
func (r *OpRow) Cost() float64 { return float64(r.Most) - r.Mean() }

func (r *OpRow) addRank(rank int, o *Row) {
	t := o.Time.Sum
	if r.Ranks == 0 || t < r.Least {
		r.Least = t
	}
	if r.Ranks == 0 || t > r.Most || t == r.Most && rank < r.MostRank {
		r.Most, r.MostRank = t, rank
	}
	r.Ranks++
	r.add(o)
}

// RankRow sums the calls of a process. There may be millions: ranks with equal counts share
// them.
type RankRow struct {
	Rank, PID int
	Threads   int
	// App is the time from MPI_Init to MPI_Finalize, without both, in the thread where it is longest;
	// Setup that in both. If these are included, App is from the start of the first call, or of the
	// recording, to the end of the last one.
	App, Setup uint64
	*Counts
	times *rankTimes // nil if there are none
}

// rankTimes are the Times of a rank, without the empty bins after the last one.
type rankTimes struct {
	count, sum, min, max uint64
	bins                 []uint64
}

// Time returns the durations of the rank's calls.
func (r *RankRow) Time() (t Times) {
	if x := r.times; x != nil {
		t.Count, t.Sum, t.Min, t.Max = x.count, x.sum, x.min, x.max
		copy(t.Bins[:], x.bins)
	}
	return t
}

// TimeSum returns the sum of the durations.
func (r *RankRow) TimeSum() uint64 {
	if r.times == nil {
		return 0
	}
	return r.times.sum
}

// Row returns the row with its own counts and times.
func (r *RankRow) Row() Row { return Row{Counts: *r.Counts, Time: r.Time()} }

// setTime keeps the durations.
func (r *RankRow) setTime(t *Times) {
	if t.Count == 0 {
		return
	}
	r.times = &rankTimes{t.Count, t.Sum, t.Min, t.Max, slices.Clone(t.Bins[:t.Used()])}
}

// Used returns the number of bins without the empty ones after the last one that is not.
func (t *Times) Used() int {
	n := len(t.Bins)
	for n > 0 && t.Bins[n-1] == 0 {
		n--
	}
	return n
}

// Wait is the longest call of a rank at one callsite.
type Wait struct {
	Rank     int
	Op, Site string
	Time     uint64 // of the longest call
	Calls    uint64
}

// InProgress are calls that had not returned when the recording ended. They are not included
// elsewhere.
type InProgress struct {
	Calls uint64
	Time  uint64 // until the process was gone or the recording ended, of those whose start is known
}

func (x *InProgress) add(p *efg.Process, ended int64) {
	ended = p.LatestEnd(ended)
	for i := range p.Streams {
		c := p.Streams[i].Pending
		if c == nil {
			continue
		}
		x.Calls++
		if at := c.At(p); at != 0 && at < ended {
			x.Time += uint64(ended - at)
		}
	}
}

// Report attributes the calls, bytes and time of a run.
type Report struct {
	Timed bool // times were recorded
	// WithSetup: the times of Total, App and Ranks include the calls that begin and end MPI. If not,
	// only the calls and bytes of these are included.
	WithSetup  bool
	Total      Row
	App        uint64 // sum over ranks
	Setup      Times  // of calls that begin and end MPI
	Untimed    uint64 // calls without times in a run that has times
	Dropped    uint64
	Incomplete int // streams that were cut off
	// Annotated: some processes say what they do, with regions or attributes.
	Annotated  bool
	InProgress InProgress
	Procedures []OpRow
	Callsites  []OpRow
	Ranks      []RankRow
	Waits      []Wait // longest first
}

// maxWaits is how many waits a report keeps.
const maxWaits = 1000

// NewReport makes the report of some processes of a run. The tables are ordered by time, or
// by calls where there are no times; ranks by number. The times of calls that begin and end MPI
// are apart; their rows are the last.
func NewReport(run *runfile.Run, procs []int, progress ...Progress) (*Report, error) {
	return newReport(run, procs, false, progress)
}

// NewReportWithSetup is NewReport, but with the times of calls that begin and end MPI included.
func NewReportWithSetup(run *runfile.Run, procs []int, progress ...Progress) (*Report, error) {
	return newReport(run, procs, true, progress)
}

func newReport(run *runfile.Run, procs []int, withSetup bool, progress []Progress) (*Report, error) {
	sites, err := run.Sites()
	if err != nil {
		return nil, err
	}
	b := &reportBuilder{
		ended: run.Meta.Ended, names: reconstruct.NewNames(nil, sites), known: map[uint64]bool{}, siteTexts: map[uint64]string{}, sitePaths: map[uint64][]string{},
		ops: map[callKey]*OpRow{}, calls: map[callKey]*OpRow{}, tables: map[runfile.ClassKey]*callTable{}, place: make([]int, len(run.Procs)), counts: map[Counts]*Counts{},
	}
	b.report.WithSetup, b.report.Ranks = withSetup, make([]RankRow, len(procs))
	for k, i := range procs {
		b.place[i] = k
	}
	for _, s := range sites {
		b.known[s.Word] = true
	}
	if err := EachSummed(run, procs, b.process, progress...); err != nil {
		return nil, err
	}
	for _, i := range procs {
		for _, s := range run.Procs[i].Streams {
			if !s.Complete() {
				b.report.Incomplete++
			}
		}
	}
	return b.finish(), nil
}

// callKey is what calls are summed up by. In the table of procedures site is 0.
type callKey struct {
	op   string
	site uint64
}

type reportBuilder struct {
	ended int64              // when the run was over
	names *reconstruct.Names // places in the source
	known map[uint64]bool    // callsites that names knows
	place []int              // of each process of the run in the table of ranks

	mu        sync.Mutex
	siteTexts map[uint64]string
	sitePaths map[uint64][]string
	ops       map[callKey]*OpRow
	calls     map[callKey]*OpRow
	tables    map[runfile.ClassKey]*callTable
	counts    map[Counts]*Counts // of ranks
	leastWait uint64             // shorter ones are not among those that are kept
	report    Report
}

// process adds a process. What needs no lock comes first.
func (b *reportBuilder) process(p *Process) error {
	nodes := make([][]Node, len(p.streams))
	for i := range nodes {
		var err error
		if nodes[i], err = p.Nodes(i); err != nil {
			return err
		}
	}
	t := b.table(p, nodes)
	rank := RankRow{Rank: p.Data.Rank, PID: p.Data.PID, Threads: len(p.streams)}
	var all Row
	rows := make([]Row, len(t.keys)+len(t.ops))
	rows, ops := rows[:len(t.keys)], rows[len(t.keys):]
	var untimed, dropped uint64
	for i, s := range p.streams {
		app := uint64(0)
		for k := range nodes[i] {
			n := &nodes[i][k]
			if row := t.rows[i][k]; row >= 0 {
				n.addTo(&rows[row])
			}
			switch {
			case n.Stats == nil:
				untimed += n.Visits
			case b.report.WithSetup:
				app += n.Stats.Dur.Sum + n.Stats.Gap.Sum
			default:
				app += n.Elapsed()
			}
		}
		rank.App = max(rank.App, app)
		dropped += s.Dropped
	}
	for i := range rows {
		ops[t.op[i]].add(&rows[i])
	}
	var setup Times
	for i := range ops {
		if t.setup[i] {
			setup.Merge(&ops[i].Time)
		}
		if t.setup[i] && !b.report.WithSetup {
			all.addCounts(&ops[i])
		} else {
			all.add(&ops[i])
		}
	}
	rank.Setup = setup.Sum
	rank.setTime(&all.Time)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range rows {
		t.calls[i].addRank(rank.Rank, &rows[i])
		b.wait(rank.Rank, t, i, &rows[i])
	}
	for i := range ops {
		t.ops[i].addRank(rank.Rank, &ops[i])
	}
	rank.Counts = b.sharedCounts(&all.Counts)
	b.report.Annotated = b.report.Annotated || t.annotated
	b.report.Total.add(&all)
	b.report.App += rank.App
	b.report.Setup.Merge(&setup)
	b.report.Untimed += untimed
	b.report.Dropped += dropped
	b.report.InProgress.add(p.Data, b.ended)
	b.report.Ranks[b.place[p.number]] = rank
	return nil
}

// maxCounts bounds the different counts that are compared with those of further ranks.
const maxCounts = 1 << 12

// sharedCounts returns counts that are equal, of a rank with equal ones if there is one.
func (b *reportBuilder) sharedCounts(c *Counts) *Counts {
	known := b.counts[*c]
	if known == nil {
		known = &Counts{}
		*known = *c
		if len(b.counts) < maxCounts {
			b.counts[*c] = known
		}
	}
	return known
}

// addTo adds the node's events to a row.
func (n *Node) addTo(r *Row) {
	r.Calls += n.Visits
	r.Volume.Add(&n.Volume, 1)
	for _, s := range n.Sizes {
		r.Sizes[s.Bin] += s.Count
	}
	if n.Error != 0 {
		r.Errors += n.Visits
	}
	if n.Stats != nil {
		r.Time.Add(n.Stats.Count, &n.Stats.Dur)
		r.Inclusive += n.Inclusive
	}
}

// wait adds the calls of a rank to those whose longest one is among the longest.
func (b *reportBuilder) wait(rank int, t *callTable, row int, r *Row) {
	if r.Time.Count == 0 || !t.waiter[row] || r.Time.Max < b.leastWait {
		return
	}
	key := t.keys[row]
	b.report.Waits = append(b.report.Waits, Wait{rank, key.op, b.siteTexts[key.site], r.Time.Max, r.Calls})
	if len(b.report.Waits) > 4*maxWaits {
		b.cutWaits()
		b.leastWait = b.report.Waits[maxWaits-1].Time
	}
}

// places are the definitions that tell where callsites are.
func places(defs []efg.Def) []efg.Def {
	var list []efg.Def
	for _, d := range defs {
		if d.Kind == efg.DefSite || d.Kind == efg.DefModule {
			list = append(list, d)
		}
	}
	return list
}

// waits reports whether a call may wait for other processes.
func waits(op string) bool {
	p := signature.ProcByName(op)
	return Running(op) && (p == nil || !p.OnFiles())
}

// Running reports whether a call is neither MPI_Init nor MPI_Finalize, in any form.
func Running(op string) bool {
	p := signature.ProcByName(op)
	return p == nil || !p.Setup()
}

func (b *reportBuilder) cutWaits() {
	slices.SortFunc(b.report.Waits, func(x, y Wait) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Op, y.Op), cmp.Compare(x.Site, y.Site))
	})
	b.report.Waits = b.report.Waits[:min(len(b.report.Waits), maxWaits)]
}

func (b *reportBuilder) finish() *Report {
	r := &b.report
	b.cutWaits()
	r.Timed = r.Total.Time.Count > 0 || r.Setup.Count > 0
	if !r.Timed {
		r.Untimed = 0
	}
	for _, key := range sortedKeys(b.ops) {
		op := b.ops[key]
		op.Apart = !r.WithSetup && !Running(key.op)
		r.Procedures = append(r.Procedures, *op)
	}
	for _, key := range sortedKeys(b.calls) {
		call := b.calls[key]
		call.Site, call.Path, call.Apart = b.siteTexts[key.site], b.sitePaths[key.site], !r.WithSetup && !Running(key.op)
		r.Callsites = append(r.Callsites, *call)
	}
	slices.SortStableFunc(r.Procedures, byTime)
	slices.SortStableFunc(r.Callsites, byTime)
	if !slices.IsSortedFunc(r.Ranks, byRank) {
		slices.SortStableFunc(r.Ranks, byRank)
	}
	return r
}

func byRank(x, y RankRow) int {
	return cmp.Or(cmp.Compare(uint(x.Rank), uint(y.Rank)), cmp.Compare(x.PID, y.PID))
}

// sortedKeys makes the order of rows that are alike that of their callsites.
func sortedKeys(rows map[callKey]*OpRow) []callKey {
	return slices.SortedFunc(maps.Keys(rows), func(x, y callKey) int {
		return cmp.Or(cmp.Compare(x.op, y.op), cmp.Compare(x.site, y.site))
	})
}

func byTime(x, y OpRow) int {
	return cmp.Or(truth(x.Apart)-truth(y.Apart), cmp.Compare(y.Time.Sum, x.Time.Sum), cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.Op, y.Op), cmp.Compare(x.Site, y.Site))
}

// Imbalanced returns the n callsites where the imbalance costs most time, without those of a
// single rank and without MPI_Init and MPI_Finalize.
func (r *Report) Imbalanced(n int) []OpRow {
	var list []OpRow
	for _, c := range r.Callsites {
		if c.Ranks > 1 && c.Cost() > 0 && Running(c.Op) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(x, y OpRow) int { return cmp.Compare(y.Cost(), x.Cost()) })
	return list[:min(n, len(list))]
}
