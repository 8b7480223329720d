package phases

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
)

// Place is where a phase begins or ends: a collective call, or, if Op is "", the
// beginning or the end of the recording.
type Place struct{ Op, Site string }

// Row sums the phases between two places, over ranks.
type Row struct {
	From, Until Place
	// Times is how many phases there are; Least if some rank has fewer.
	Times, Least uint64
	Ranks        int // that have them
	Calls        uint64
	Volume       analysis.Volume
	// MPI, App and Meeting are nanoseconds of all ranks together: in MPI calls, of all, and in
	// the calls that end the phases; without the calls that begin and end MPI. About is set if more than a hundredth of a rank's time is
	// divided by numbers of calls.
	MPI, App, Meeting float64
	About             bool
	// Busy is how long ranks need to come to the end of all phases, without the
	// calls that end them: the mean, the longest, and the rank that needs it.
	Busy, MostBusy float64
	MostRank       int
	// MostUseful is the longest time of a rank outside MPI, of MostUsefulRank, MostApp the longest
	// time in all.
	MostUseful, MostApp float64
	MostUsefulRank      int
	Dilation            *Dilation // if each call's times were recorded

	first [2]int // rank and order there
	kind  kind
}

// Dilation is the time from the first to the last arrival at the calls that end phases, in
// nanoseconds.
type Dilation struct {
	Count    uint64
	Sum, Max int64
	MaxRank  int    // that arrives last where it is longest
	MaxPhase uint64 // number of that phase in the run, from 0
}

// Mean is the mean time from first to last arrival.
func (d *Dilation) Mean() float64 { return float64(d.Sum) / float64(max(d.Count, 1)) }

// Rate is bytes sent by all ranks together in a second of the phases' mean time.
func (r *Row) Rate() float64 {
	if r.App == 0 {
		return 0
	}
	return float64(r.Volume.Sent) / (r.App / float64(max(r.Ranks, 1)) / 1e9)
}

// Imbalance is the excess of the slowest rank over the mean, as a fraction of the mean.
func (r *Row) Imbalance() float64 {
	if r.Busy == 0 {
		return 0
	}
	return r.MostBusy/r.Busy - 1
}

// Report says where calls, bytes and time went, by phases.
type Report struct {
	Rows   []Row // in the order of their first phases
	Phases uint64
	Ranks  int
	// Timed: there are times. Traced: those of each event.
	Timed, Traced bool
	// Others sums the calls of threads other than the one that makes the calls that end phases:
	// their phase is unknown.
	Others Row
	// Setup is the time in the calls that begin and end MPI, of all ranks together, ns.
	Setup      float64
	Incomplete int // ranks whose recording ends early
}

// aboutFrom is the fraction of a time that must be divided for it to be approximate.
const aboutFrom = 0.01

// share is what a rank has in a row.
type share struct {
	times, calls      uint64
	volume            analysis.Volume
	mpi, app, meeting float64
	setup             float64
	divided           float64 // the part of app that is divided by numbers of calls
	order             int
}

type builder struct {
	run *runfile.Run

	mu       sync.Mutex
	rows     map[kind]*Row
	arrivals arrivals
	traces   map[runfile.ClassKey]*phaseTrace
	sites    map[uint64]string
	names    *reconstruct.Names
	report   Report
}

// New makes the report of some processes of a run.
func New(run *runfile.Run, procs []int, progress ...analysis.Progress) (*Report, error) {
	sites, err := run.Sites()
	if err != nil {
		return nil, err
	}
	b := newBuilder(run, sites)
	if err := analysis.EachProcess(run, procs, b.process, progress...); err != nil {
		return nil, err
	}
	for _, i := range procs {
		for k := range run.Procs[i].Streams {
			if !run.Procs[i].Streams[k].Complete() {
				b.report.Incomplete++
				break
			}
		}
	}
	return b.finish(), nil
}

func newBuilder(run *runfile.Run, sites []runfile.Site) *builder {
	return &builder{run: run, rows: map[kind]*Row{}, traces: map[runfile.ClassKey]*phaseTrace{}, sites: map[uint64]string{}, names: reconstruct.NewNames(nil, sites)}
}

func (b *builder) process(p *analysis.Process) error {
	way, err := b.phaseTrace(p)
	if err != nil {
		return err
	}
	own := map[kind]*share{}
	other := share{}
	var came []arrival
	traced := false
	for i := range p.Data.Streams {
		s := &p.Data.Streams[i]
		nodes, err := p.Nodes(i)
		if err != nil {
			return err
		}
		if i != way.main {
			other.all(nodes)
			continue
		}
		for k, part := range way.kinds {
			own[k] = part.share(nodes)
		}
		if s.Trace != nil && s.Trace.Untimed == 0 {
			traced = true
			if came, err = follow(p.Data, s, nodes, way.cuts, own); err != nil {
				return err
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(p, own, &other)
	if traced {
		b.report.Traced = true
		b.arrivals.add(p.Data.Rank, came)
	}
	return nil
}

// phaseTrace says how the events of a process lie in phases.
type phaseTrace struct {
	main  int // thread in which phases end
	cuts  *cuts
	kinds map[kind]*part
}

// maxTraces bounds the traces that are kept for other ranks of a class.
const maxTraces = 1 << 12

// phaseTrace finds the trace of a process, once for all that are alike.
func (b *builder) phaseTrace(p *analysis.Process) (*phaseTrace, error) {
	key, alike := p.Alike()
	if alike {
		b.mu.Lock()
		w := b.traces[key]
		b.mu.Unlock()
		if w != nil {
			return w, nil
		}
	}
	w := &phaseTrace{}
	w.main, w.cuts = mainStream(p)
	if w.main < len(p.Data.Streams) {
		x, err := parts(p, w.main, w.cuts)
		if err != nil {
			return nil, err
		}
		w.kinds = x.kinds
	}
	if alike {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.traces) < maxTraces {
			// A process of a class has no times of each event: the cuts, and the process that
			// they refer to, are not needed again.
			b.traces[key] = &phaseTrace{main: w.main, kinds: w.kinds}
		}
	}
	return w, nil
}

// mainStream is the thread in which phases end: the one that makes most of the calls that end
// them, or the first.
func mainStream(p *analysis.Process) (main int, found *cuts) {
	most := uint64(0)
	for i := range p.Data.Streams {
		c, events := cutsOf(p, i)
		if i == 0 || events > most {
			main, found, most = i, c, events
		}
	}
	return main, found
}

// parts divides a stream. If nodes in several kinds of phases have varying arguments that
// determine how much is moved, a second pass looks at these values.
func parts(p *analysis.Process, i int, c *cuts) (*split, error) {
	s := &p.Data.Streams[i]
	masks, varied := c.masks(), make([]bool, len(s.Nodes))
	x, err := divide(p, i, c, masks, nil)
	if err != nil {
		return nil, err
	}
	again := false
	for k := range s.Nodes {
		if w := p.VolumeWords(i, k); w != 0 && !x.alone(k) && p.VolumeByWords(i, k) {
			masks[k] |= w
			varied[k], again = true, true
		}
	}
	if !again {
		return x, nil
	}
	return divide(p, i, c, masks, varied)
}

// divide divides a stream. For the nodes in varied it sums what each event moves.
func divide(p *analysis.Process, i int, c *cuts, masks []uint64, varied []bool) (*split, error) {
	s := &p.Data.Streams[i]
	f := efg.NewFoldedWalk(s, p.Data.Defs, masks)
	x := newSplit(s, c, f)
	if varied != nil {
		x.byStep, x.volume = varied, p.StepVolumes(i, f, varied)
	}
	err := f.Each(func(steps []efg.Step) error {
		clear(x.hasCut)
		x.run(steps, 1)
		return nil
	})
	if len(x.dirty) > 0 {
		x.close(-1, 1)
	}
	x.finish()
	return x, err
}

// alone reports whether all events of a node are in one kind of phase.
func (x *split) alone(node int) bool {
	return x.within[node] <= 1
}

// share adds the totals of the nodes in a part.
func (p *part) share(nodes []analysis.Node) *share {
	s := &share{times: p.times, order: p.order, volume: p.volume}
	for i := range p.nodes {
		k, visits := p.nodes[i].node, p.nodes[i].all
		n := &nodes[k]
		if !n.Annotates() {
			s.calls += visits
		}
		if !p.counted(k) {
			s.volume.Add(n.Volume.Portion(visits, n.Visits), 1)
		}
		if n.Stats == nil || n.Stats.Count == 0 {
			continue
		}
		part := float64(visits) / float64(n.Stats.Count)
		dur, elapsed := float64(n.Stats.Dur.Sum)*part, float64(n.Elapsed())*part
		s.app += elapsed
		if visits != n.Visits {
			s.divided += elapsed
		}
		if n.Setup() {
			s.setup += dur
			continue
		}
		s.mpi += dur
		s.meeting += dur * float64(p.nodes[i].ends) / float64(visits)
	}
	return s
}

// all adds all events of a stream.
func (s *share) all(nodes []analysis.Node) {
	for k := range nodes {
		n := &nodes[k]
		s.calls += n.Calls()
		s.volume.Add(&n.Volume, 1)
		s.app += float64(n.Elapsed())
		switch {
		case n.Stats == nil:
		case n.Setup():
			s.setup += float64(n.Stats.Dur.Sum)
		default:
			s.mpi += float64(n.Stats.Dur.Sum)
		}
	}
}

// add adds the shares of a rank.
func (b *builder) add(p *analysis.Process, own map[kind]*share, other *share) {
	b.report.Ranks++
	b.nameSites(p, own)
	for k, s := range own {
		r := b.rows[k]
		if r == nil {
			r = &Row{Least: math.MaxUint64, first: [2]int{math.MaxInt, 0}}
			b.rows[k] = r
		}
		r.Times, r.Least = max(r.Times, s.times), min(r.Least, s.times)
		r.add(s)
		if busy := s.app - s.meeting; r.Ranks == 1 || busy > r.MostBusy || busy == r.MostBusy && p.Data.Rank < r.MostRank {
			r.MostBusy, r.MostRank = busy, p.Data.Rank
		}
		if useful := s.app - s.mpi; r.Ranks == 1 || useful > r.MostUseful || useful == r.MostUseful && p.Data.Rank < r.MostUsefulRank {
			r.MostUseful, r.MostUsefulRank = useful, p.Data.Rank
		}
		r.MostApp = max(r.MostApp, s.app)
		if at := [2]int{p.Data.Rank, s.order}; at[0] < r.first[0] {
			r.first = at
		}
		b.report.Timed = b.report.Timed || s.app+s.setup > 0
		b.report.Setup += s.setup
	}
	if other.calls > 0 {
		b.report.Others.add(other)
		b.report.Setup += other.setup
	}
}

func (r *Row) add(s *share) {
	r.Ranks++
	r.Calls += s.calls
	r.Volume.Add(&s.volume, 1)
	r.MPI += s.mpi
	r.App += s.app
	r.Meeting += s.meeting
	r.About = r.About || s.divided > aboutFrom*s.app
	r.Busy += s.app - s.meeting
}

// nameSites finds the texts of callsites.
func (b *builder) nameSites(p *analysis.Process, own map[kind]*share) {
	var names *reconstruct.Names
	for k := range own {
		for _, s := range []boundary{k.from, k.until} {
			if _, ok := b.sites[s.site]; ok || s.op == "" {
				continue
			}
			text := b.names.Place(s.site)
			from := b.names
			if text == "unknown" {
				if names == nil {
					names = reconstruct.NewNames(p.SitePlaces(), nil)
				}
				from = names
			}
			b.sites[s.site] = from.Site(s.site)
		}
	}
}

func (b *builder) finish() *Report {
	r := &b.report
	b.dilate()
	for k, row := range b.rows {
		row.kind = k
		row.From, row.Until = Place{k.from.op, b.sites[k.from.site]}, Place{k.until.op, b.sites[k.until.site]}
		row.Busy /= float64(row.Ranks)
		if row.Ranks < r.Ranks {
			row.Least = 0
		}
		r.Phases += row.Times
		r.Rows = append(r.Rows, *row)
	}
	slices.SortFunc(r.Rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(x.first[0], y.first[0]), cmp.Compare(x.first[1], y.first[1]),
			cmp.Compare(x.From.Site, y.From.Site), cmp.Compare(x.Until.Site, y.Until.Site))
	})
	return r
}
