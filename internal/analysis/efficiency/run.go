package efficiency

import (
	"context"
	"errors"
	"sync"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/whatif"
)

// ErrNoTimes: the run has no times.
var ErrNoTimes = errors.New("no times were recorded (efg run --time stats or trace records them)")

// Reasons why a part of the tree is not known.
const (
	NoTrace    = "the times of each call were not recorded (efg run --time trace records them)"
	NotMatched = "calls of the run could not be matched"
	PartTimed  = "only the first calls have times of their own (efg run --time trace records those of all)"
)

// Run has the times of a run, in ns.
type Run struct {
	Ranks int
	// Time is that of the rank that takes longest, without MPI_Init and MPI_Finalize, which take
	// Setup, the mean of the ranks.
	Time, Setup int64
	// Useful is the sum of the ranks' useful time, Most the longest, of MostRank; Least the
	// shortest, of LeastRank.
	Useful, Most, Least int64
	MostRank, LeastRank int
	// Ideal is the time on an ideal network; 0 if it is not known, for a Reason.
	Ideal  int64
	Reason string
	// Windows divide the run into parts of equal time, if they were asked for.
	Windows []Window
	// Loops, Phases and Regions are parts of the program, if they were asked for.
	Loops   []LoopPart
	Phases  []PhasePart
	Regions []RegionPart
	// Untimed are calls without times in a run that has times.
	Untimed uint64
	// Instructions and Cycles are those of Useful, if the run counted them in all ranks all the time; else 0.
	Instructions, Cycles uint64
	// End is where windows end because later calls have no times of their own, ns since the run
	// began; nil: all have some.
	End *int64
}

// Window is a part of a run. Times are in ns, Begin since the run began.
type Window struct {
	Begin, Time, Useful, Most int64
	MostRank                  int
}

// LoadBalance is the mean useful time divided by the longest.
func (r *Run) LoadBalance() float64 { return ratio(float64(r.Useful)/float64(max(r.Ranks, 1)), r.Most) }

// Communication is the communication efficiency: the longest useful time divided by the time of
// the run.
func (r *Run) Communication() float64 { return ratio(float64(r.Most), r.Time) }

// Parallel is the parallel efficiency: load balance times communication efficiency.
func (r *Run) Parallel() float64 { return r.LoadBalance() * r.Communication() }

// Serialisation is the longest useful time divided by the time on an ideal network; 0 if that is
// not known.
func (r *Run) Serialisation() float64 { return ratio(float64(r.Most), r.Ideal) }

// Transfer is the time on an ideal network divided by the time of the run.
func (r *Run) Transfer() float64 { return ratio(float64(r.Ideal), r.Time) }

func ratio(part float64, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / float64(whole)
}

// Parts are the parts of a run whose times are wanted, too.
type Parts struct {
	Windows                int // into how many parts of equal time to divide it, 0: none
	Loops, Phases, Regions bool
}

// New computes the times of a run.
func New(run *runfile.Run, parts Parts, progress ...analysis.Progress) (*Run, error) {
	times := Times
	if parts.Loops {
		times = TimesWithLoops
	}
	r, err := times(run, progress...)
	if err != nil {
		return nil, err
	}
	if parts.Phases {
		if r.Phases, err = Phases(run, progress...); err != nil {
			return nil, err
		}
	}
	if parts.Regions {
		if r.Regions, err = Regions(run, progress...); err != nil {
			return nil, err
		}
	}
	return r, r.simulate(run, parts.Windows)
}

// Times computes the times of a run that are known without following its calls one by one: all
// but Ideal and Windows.
func Times(run *runfile.Run, progress ...analysis.Progress) (*Run, error) {
	return timesAlso(run, func(*analysis.Process) error { return nil }, progress)
}

// TimesWithLoops is Times with those of loops.
func TimesWithLoops(run *runfile.Run, progress ...analysis.Progress) (*Run, error) {
	inLoops, err := newLoopTimes(run)
	if err != nil {
		return nil, err
	}
	r, err := timesAlso(run, inLoops.process, progress)
	if err != nil {
		return nil, err
	}
	r.Loops = inLoops.list()
	return r, nil
}

// timesAlso computes Times, and calls also for each process, several at a time.
func timesAlso(run *runfile.Run, also func(*analysis.Process) error, progress []analysis.Progress) (*Run, error) {
	if !run.HasTimes() {
		return nil, ErrNoTimes
	}
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	r := &Run{Ranks: len(procs), MostRank: -1, LeastRank: -1}
	var mu sync.Mutex
	timed := false
	setup := int64(0)
	var uncounted [2]bool
	err := analysis.EachSummed(run, procs, func(p *analysis.Process) error {
		t, err := timesOf(p)
		if err == nil {
			err = also(p)
		}
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		timed = timed || t.timed
		setup += t.setup
		r.add(p.Data.Rank, t)
		for k := range uncounted {
			uncounted[k] = uncounted[k] || t.uncounted[k]
		}
		return nil
	}, progress...)
	if err != nil {
		return nil, err
	}
	if !timed {
		return nil, ErrNoTimes
	}
	r.Setup = setup / int64(max(r.Ranks, 1))
	r.dropUncounted(uncounted)
	return r, nil
}

// times are those of a process.
type times struct {
	useful, mpi, setup int64
	untimed            uint64
	timed              bool
	counts             // of useful
	uncounted          [2]bool
}

// timesOf sums the times of the thread that takes longest.
func timesOf(p *analysis.Process) (times, error) {
	var longest times
	at := countersOf(p.Data)
	for i := range p.Data.Streams {
		nodes, err := p.Nodes(i)
		if err != nil {
			return times{}, err
		}
		var t times
		for k := range nodes {
			t.add(&nodes[k])
			t.count(&nodes[k], p.Data.Streams[i].Nodes[k].Counters, at)
		}
		longest.untimed += t.untimed
		longest.timed = longest.timed || t.timed
		if t.useful+t.mpi > longest.useful+longest.mpi {
			longest.useful, longest.mpi, longest.counts = t.useful, t.mpi, t.counts
		}
		longest.setup = max(longest.setup, t.setup)
	}
	for k := range at {
		longest.uncounted[k] = at[k] < 0
	}
	return longest, nil
}

func (t *times) add(n *analysis.Node) {
	if n.Stats == nil {
		t.untimed += n.Visits
		return
	}
	t.timed = true
	gap, took := int64(n.Stats.Gap.Sum), int64(n.Stats.Dur.Sum)
	switch {
	case n.Proc != nil && n.Proc.Begins:
		t.setup += took
	case n.Proc != nil && n.Proc.Ends:
		t.setup += took
		t.useful += gap
	default:
		t.useful += gap
		t.mpi += took
	}
}

func (r *Run) add(rank int, t times) {
	r.Untimed += t.untimed
	r.Useful += t.useful
	r.Instructions += t.instructions
	r.Cycles += t.cycles
	r.Time = max(r.Time, t.useful+t.mpi)
	if r.MostRank < 0 || t.useful > r.Most || t.useful == r.Most && rank < r.MostRank {
		r.Most, r.MostRank = t.useful, rank
	}
	if r.LeastRank < 0 || t.useful < r.Least || t.useful == r.Least && rank < r.LeastRank {
		r.Least, r.LeastRank = t.useful, rank
	}
}

// simulate finds the time on an ideal network, and the windows.
func (r *Run) simulate(run *runfile.Run, windows int) error {
	if !run.Meta.Traced() {
		r.Reason = NoTrace
		return nil
	}
	trace, err := match.Open(run)
	if errors.Is(err, match.ErrNoTimes) {
		r.Reason = NoTrace
		return nil
	}
	if err != nil {
		return err
	}
	r.End = trace.Until()
	x := whatif.NewSimulation(trace, whatif.Network{}, []whatif.Scenario{{Ideal: true}})
	visitor := match.Visitor(x)
	var w *divider
	if windows > 0 {
		begin, end, err := extent(run)
		if err != nil {
			return err
		}
		w = newDivider(trace, begin, end, windows)
		visitor = match.Visitors{x, w}
	}
	summary, err := trace.Walk(context.Background(), visitor, nil)
	if err != nil {
		return err
	}
	if w != nil {
		w.computeOn()
		r.Windows = w.windows()
	}
	if r.End != nil {
		r.Reason = PartTimed
		return nil
	}
	if summary.Unmatched+summary.Disagreeing > 0 {
		r.Reason = NotMatched
		return nil
	}
	// What an ideal network cannot change is the computation of the busiest rank.
	ideal := int64(x.Predictions()[0].Time)
	r.Ideal = min(max(ideal, r.Most), max(r.Time, r.Most))
	return nil
}

// extent is from when to when the run was recorded.
func extent(run *runfile.Run) (begin, end int64, err error) {
	first := true
	for i := range run.Procs {
		spans, err := run.Spans(i)
		if err != nil {
			return 0, 0, err
		}
		for _, s := range spans {
			if first {
				begin, end, first = s.Begin, s.End, false
			}
			begin, end = min(begin, s.Begin), max(end, s.End)
		}
	}
	return begin, max(end, begin+1), nil
}
