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
	run     *runfile.Run
	classes map[runfile.ClassKey]*chunk // the first one of their phases
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
	n := &Numbering{Rows: b.finish().Rows, numbers: map[kind]int{}, run: run, classes: map[runfile.ClassKey]*chunk{}}
	for i := range n.Rows {
		n.numbers[n.Rows[i].kind] = i
	}
	return n, nil
}

// Follower goes through the phases of a process in order, in memory that does not grow with them.
type Follower struct {
	at    *chunk
	next  int // in the chunk
	row   int
	until uint64
	ended bool
}

// sequence are the phases of the processes of a class, which are the same. Chunks that all followers have left are
// forgotten.
type sequence struct {
	numbers map[kind]int // of rows
	s       *efg.Stream
	cuts    *cuts
	walk    *efg.Walker
	from    boundary
	until   uint64
}

// chunk is a part of a sequence: some phases, each with its row and the number of the event after it. The last one is
// read as far as a follower came.
type chunk struct {
	of     *sequence
	phases []numbered
	after  *chunk
}

type numbered struct {
	row   int
	until uint64
}

const phasesOfChunk = 64

// Follow returns the thread of a process in which phases end, and its follower. The process must
// be number i of the numbered run. Followers are for one goroutine.
func (n *Numbering) Follow(p *analysis.Process, i int) (thread int, f *Follower, err error) {
	thread, c := mainStream(p)
	if thread >= len(p.Data.Streams) {
		return thread, nil, nil
	}
	var key runfile.ClassKey
	alike := false
	if !n.run.Unlike(i) {
		if key, alike, err = n.run.RankClass(i); err != nil {
			return thread, nil, err
		}
	}
	first := n.classes[key]
	if first == nil || !alike {
		s := &p.Data.Streams[thread]
		first = &chunk{of: &sequence{numbers: n.numbers, s: s, cuts: c, walk: s.WalkWords(p.Data.Defs, c.masks())}}
	}
	if alike {
		n.classes[key] = first
	}
	return thread, &Follower{at: first}, nil
}

// Row returns the number of the row, from 0, that the phase of an event belongs to; -1 if it is
// unknown. The numbers of the events must not descend.
func (f *Follower) Row(event uint64) int {
	for event >= f.until && !f.ended {
		f.goOn()
	}
	if event >= f.until {
		return -1
	}
	return f.row
}

// goOn goes to the next phase.
func (f *Follower) goOn() {
	if f.next == phasesOfChunk {
		if f.at.after == nil {
			f.at.after = &chunk{of: f.at.of}
		}
		f.at, f.next = f.at.after, 0
	}
	if f.next == len(f.at.phases) {
		x, more := f.at.of.read()
		if !more {
			f.ended = true
			return
		}
		f.at.phases = append(f.at.phases, x)
	}
	f.row, f.until = f.at.phases[f.next].row, f.at.phases[f.next].until
	f.next++
}

// read reads the next phase; false if there is none.
func (q *sequence) read() (numbered, bool) {
	until := boundary{}
	begin := q.until
	for q.walk.Next() {
		q.until++
		if k := q.walk.Node(); q.cuts.end(k, q.walk.Words) {
			until = q.cuts.boundary(&q.s.Nodes[k])
			break
		}
	}
	row := -1
	if n, ok := q.numbers[kind{q.from, until}]; ok {
		row = n
	}
	q.from = until
	return numbered{row, q.until}, q.until > begin
}
