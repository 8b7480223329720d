package phases

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
)

// Numbering numbers the kinds of phases of a run, as the rows of its report are numbered.
type Numbering struct {
	// Rows are the kinds, of which only From, Until and the numbers of phases are known.
	Rows    []Row
	numbers map[kind]int
}

// Number numbers the kinds of phases of a run, in time that grows with its graphs.
func Number(run *runfile.Run, progress ...analysis.Progress) (*Numbering, error) {
	sites, err := run.Sites()
	if err != nil {
		return nil, err
	}
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	b := newBuilder(run, sites)
	err = analysis.EachUntimed(run, procs, func(p *analysis.Process) error {
		way, err := b.phaseTrace(p)
		if err != nil {
			return err
		}
		own := map[kind]*share{}
		for k, part := range way.kinds {
			own[k] = &share{times: part.times, order: part.order}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.add(p, own, &share{})
		return nil
	}, progress...)
	if err != nil {
		return nil, err
	}
	n := &Numbering{Rows: b.finish().Rows, numbers: map[kind]int{}}
	for i := range n.Rows {
		n.numbers[n.Rows[i].kind] = i
	}
	return n, nil
}

// Follower goes through the phases of a process in order, in memory that does not grow with them.
type Follower struct {
	of    *Numbering
	s     *efg.Stream
	cuts  *cuts
	walk  *efg.Walker
	from  boundary
	row   int
	until uint64
	ended bool
}

// Follow returns the thread of a process in which phases end, and its follower. The process must
// be one of the numbered run.
func (n *Numbering) Follow(p *analysis.Process) (thread int, f *Follower) {
	thread, c := mainStream(p)
	if thread >= len(p.Data.Streams) {
		return thread, nil
	}
	s := &p.Data.Streams[thread]
	return thread, &Follower{of: n, s: s, cuts: c, walk: s.WalkWords(p.Data.Defs, c.masks())}
}

// Row returns the number of the row, from 0, that the phase of an event belongs to; -1 if it is
// unknown. The numbers of the events must not descend.
func (f *Follower) Row(event uint64) int {
	for event >= f.until && !f.ended {
		f.next()
	}
	if event >= f.until {
		return -1
	}
	return f.row
}

// next goes to the next phase.
func (f *Follower) next() {
	until := boundary{}
	begin := f.until
	for f.walk.Next() {
		f.until++
		if k := f.walk.Node(); f.cuts.end(k, f.walk.Words) {
			until = f.cuts.boundary(&f.s.Nodes[k])
			break
		}
	}
	f.ended = f.until == begin
	f.row = -1
	if row, ok := f.of.numbers[kind{f.from, until}]; ok {
		f.row = row
	}
	f.from = until
}
