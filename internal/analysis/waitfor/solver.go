package waitfor

import (
	"slices"

	"github.com/efg-tools/efg/efg"
)

// Verdict is the result of analysing the wait-for graph. Ranks are ranks in the job.
type Verdict struct {
	Stuck      []bool  // by position in the list of ranks: can never continue
	Cycles     [][]int // sets of ranks that need each other; see Cycle
	InVain     []int   // stuck ranks that need a process which has ended
	Behind     []int   // stuck ranks that need only ranks that are stuck
	Mismatches []Mismatch

	ranks []*Rank
	waits [][]waiting
}

// Judge determines which ranks can never continue.
func Judge(ranks []*Rank) *Verdict {
	v, n := newVerdict(ranks)
	v.Stuck = v.release()
	if slices.Contains(v.Stuck, true) {
		n.dropMatched(v, v.Stuck)
		v.Stuck = v.release()
	}
	v.Mismatches = n.mismatches()
	v.explain()
	return v
}

// JudgeEnd is Judge for ranks whose recording has ended: Awaits gives what their calls still needed
// of other ranks, also where the rank is not stuck.
func JudgeEnd(ranks []*Rank) *Verdict {
	v, n := newVerdict(ranks)
	n.dropMatched(v, nil)
	v.Stuck = v.release()
	v.Mismatches = n.mismatches()
	v.explain()
	return v
}

func newVerdict(ranks []*Rank) (*Verdict, *needs) {
	n := newNeeds(ranks)
	v := &Verdict{ranks: ranks, waits: make([][]waiting, len(ranks))}
	for i, r := range ranks {
		v.waits[i] = make([]waiting, len(r.Threads))
		for t := range r.Threads {
			v.waits[i][t] = n.of(r, t)
		}
	}
	return v, n
}

// dropMatched removes what has already happened from what ranks wait for; of the ranks at the
// positions that are set, or of all (nil), because the answer takes a look at their histories.
func (n *needs) dropMatched(v *Verdict, of []bool) {
	for i, r := range v.ranks {
		if of != nil && !of[i] {
			continue
		}
		for t := range v.waits[i] {
			w := &v.waits[i][t]
			w.needs = slices.DeleteFunc(w.needs, func(x need) bool { return n.matched(r, &x) })
		}
	}
}

// Hangs reports whether any rank can never continue.
func (v *Verdict) Hangs() bool { return slices.Contains(v.Stuck, true) }

// maxAwaited bounds the lists of ranks that a thread waits for.
const maxAwaited = 1 << 16

// Awaits returns the ranks that a thread of the rank at a position waits for: all of them or,
// if anyOf is set, any one of them.
func (v *Verdict) Awaits(position, thread int) (ranks []int, anyOf bool) {
	w := &v.waits[position][thread]
	for _, x := range w.needs {
		ranks = append(ranks, x.ranks[:min(len(x.ranks), maxAwaited)]...)
		anyOf = anyOf || !x.all && len(x.ranks) > 1
	}
	slices.Sort(ranks)
	return slices.Compact(ranks), anyOf
}

// solver finds the ranks that can continue.
type solver struct {
	ranks   []*Rank
	at      map[int]int // positions in ranks, by rank
	free    []bool
	open    [][]int // by rank and thread: number of needs that are not met
	waiters map[*set]*waiters
	sets    map[int][]*set // sets that a rank is in
	queue   []int
}

// waiters are the threads that wait for a set.
type waiters struct {
	any, all [][2]int // position, thread
	left     int      // members that cannot continue
}

// release finds the ranks that can continue, and returns the others that have not ended.
func (v *Verdict) release() []bool {
	s := &solver{ranks: v.ranks, at: map[int]int{}, free: make([]bool, len(v.ranks)), open: make([][]int, len(v.ranks)),
		waiters: map[*set]*waiters{}, sets: map[int][]*set{}}
	for i, r := range v.ranks {
		if r.Number >= 0 {
			s.at[r.Number] = i
		}
	}
	for i, r := range v.ranks {
		s.enter(i, r, v.waits[i])
	}
	s.outside()
	for len(s.queue) > 0 {
		i := s.queue[0]
		s.queue = s.queue[1:]
		s.released(v.ranks[i].Number)
	}
	stuck := make([]bool, len(v.ranks))
	for i, r := range v.ranks {
		stuck[i] = !s.free[i] && !r.Ended
	}
	return stuck
}

// enter registers what the threads of a rank wait for. A rank with a thread that needs nothing
// can continue.
func (s *solver) enter(i int, r *Rank, threads []waiting) {
	s.open[i] = make([]int, len(threads))
	if r.Ended {
		return
	}
	free := len(threads) == 0
	for t := range threads {
		w := &threads[t]
		if r.Process.Streams[t].End == efg.EndThread {
			s.open[i][t] = 1 // forever
			continue
		}
		free = free || w.unclear || len(w.needs) == 0
		s.open[i][t] = len(w.needs)
		for _, x := range w.needs {
			s.wait(x, i, t)
		}
	}
	if free {
		s.let(i)
	}
}

func (s *solver) wait(x need, i, t int) {
	w := s.waiters[x.set]
	if w == nil {
		w = &waiters{left: len(x.ranks)}
		s.waiters[x.set] = w
		for _, m := range x.ranks {
			s.sets[m] = append(s.sets[m], x.set)
		}
	}
	if x.all {
		w.all = append(w.all, [2]int{i, t})
	} else {
		w.any = append(w.any, [2]int{i, t})
	}
}

// let marks a rank as able to continue.
func (s *solver) let(i int) {
	if !s.free[i] {
		s.free[i] = true
		s.queue = append(s.queue, i)
	}
}

// outside releases the threads that need ranks outside the job, about which nothing is known.
func (s *solver) outside() {
	for set, w := range s.waiters {
		if set.unknown {
			s.meet(&w.any)
		}
	}
	for m := range s.sets {
		if _, here := s.at[m]; !here {
			s.released(m)
		}
	}
}

// released records that a rank can continue.
func (s *solver) released(rank int) {
	for _, set := range s.sets[rank] {
		w := s.waiters[set]
		s.meet(&w.any)
		if w.left--; w.left == 0 {
			s.meet(&w.all)
		}
	}
	delete(s.sets, rank)
}

// meet meets the needs of these threads.
func (s *solver) meet(list *[][2]int) {
	for _, x := range *list {
		i, t := x[0], x[1]
		if s.open[i][t]--; s.open[i][t] == 0 {
			s.let(i)
		}
	}
	*list = nil
}
