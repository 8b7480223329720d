package efficiency

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/loops"
	"github.com/efg-tools/efg/internal/analysis/phases"
	"github.com/efg-tools/efg/internal/analysis/regions"
)

// Part has the times of a part of the program, in ns: of the Ranks that come there.
type Part struct {
	Ranks int
	// Time is that of the rank that takes longest, Useful the sum of the ranks' useful time, Most
	// the longest, of MostRank.
	Time, Useful, Most int64
	MostRank           int
}

func (p *Part) add(rank int, useful, time int64) {
	if p.Ranks == 0 || useful > p.Most || useful == p.Most && rank < p.MostRank {
		p.Most, p.MostRank = useful, rank
	}
	p.Ranks++
	p.Useful += useful
	p.Time = max(p.Time, time)
}

// Run returns the part as a run, for its factors.
func (p *Part) Run() *Run {
	return &Run{Ranks: p.Ranks, Time: p.Time, Useful: p.Useful, Most: p.Most, MostRank: p.MostRank}
}

// LoopPart is a loop, with the loops in it.
type LoopPart struct {
	Loop loops.Name
	Part
}

// PhasePart is a kind of phases: a row of the report about phases, from 1.
type PhasePart struct {
	Row         int
	From, Until phases.Place
	Part
}

// RegionPart is a region, with the regions in it.
type RegionPart struct {
	Region []string // names, the outermost first; none: outside of all regions
	Part
}

// loopTimes adds up the times in each loop; the time before its first call counts, too. Of a process with several
// threads it is the one that was recorded longest.
type loopTimes struct {
	locator *loops.Locator
	mu      sync.Mutex
	parts   map[loops.Name]*LoopPart
}

func newLoopTimes(run *runfile.Run) (*loopTimes, error) {
	locator, err := loops.NewLocator(run)
	return &loopTimes{locator: locator, parts: map[loops.Name]*LoopPart{}}, err
}

// process adds a process.
func (l *loopTimes) process(p *analysis.Process) error {
	i, nodes, err := longestThread(p)
	if err != nil || i < 0 {
		return err
	}
	at, err := l.locator.Find(p, i)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range at.Forest.Loops {
		var t times
		for _, v := range at.Forest.Loops[k].Nodes {
			t.add(&nodes[v])
		}
		name := at.Names[k]
		if l.parts[name] == nil {
			l.parts[name] = &LoopPart{Loop: name}
		}
		l.parts[name].add(p.Data.Rank, t.useful, t.useful+t.mpi)
	}
	return nil
}

// list returns the loops in the order of the program.
func (l *loopTimes) list() (list []LoopPart) {
	for _, p := range l.parts {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(x, y LoopPart) int {
		return cmp.Or(x.Loop.Compare(y.Loop), cmp.Compare(x.Loop.Op, y.Loop.Op), cmp.Compare(x.Loop.Site, y.Loop.Site))
	})
	return list
}

// longestThread is the thread of a process that was recorded longest, -1 if there is none.
func longestThread(p *analysis.Process) (at int, nodes []analysis.Node, err error) {
	at, longest := -1, int64(-1)
	for i := range p.Data.Streams {
		list, err := p.Nodes(i)
		if err != nil {
			return -1, nil, err
		}
		var t times
		for k := range list {
			t.add(&list[k])
		}
		if t.useful+t.mpi > longest {
			at, nodes, longest = i, list, t.useful+t.mpi
		}
	}
	return at, nodes, nil
}

// Phases computes the times of each kind of phases.
func Phases(run *runfile.Run, progress ...analysis.Progress) ([]PhasePart, error) {
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	rep, err := phases.New(run, procs, progress...)
	if err != nil {
		return nil, err
	}
	var list []PhasePart
	for i := range rep.Rows {
		r := &rep.Rows[i]
		list = append(list, PhasePart{i + 1, r.From, r.Until, Part{
			Ranks: r.Ranks, Time: nearest(r.MostApp), Useful: nearest(r.App - r.MPI), Most: nearest(r.MostUseful), MostRank: r.MostUsefulRank,
		}})
	}
	return list, nil
}

// Regions computes the times of each region, each followed by those in it: all threads together.
func Regions(run *runfile.Run, progress ...analysis.Progress) ([]RegionPart, error) {
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	rep, err := regions.New(run, procs, progress...)
	if err != nil {
		return nil, err
	}
	var list []RegionPart
	for i := range rep.Rows {
		r := &rep.Rows[i]
		list = append(list, RegionPart{r.Names, Part{
			Ranks: r.Ranks, Time: nearest(r.MostTime), Useful: nearest(r.Useful()), Most: nearest(r.MostUseful), MostRank: r.MostRank,
		}})
	}
	return list, nil
}

// nearest rounds a sum of ranks' times, ns. Its last bits depend on the order in which ranks were added: truncated, a whole
// number could become the one below.
func nearest(ns float64) int64 { return int64(math.Round(ns)) }
