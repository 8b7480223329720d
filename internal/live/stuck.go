package live

import "slices"

// verdict is what follows from who needs whom.
type verdict struct {
	stuck   []bool  // by position in Job.Ranks: can never go on
	cycles  [][]int // ranks that need each other
	waits   [][]waiting
	inVain  []int // stuck ranks that need a process which has ended
	because []int // stuck ranks that need only ranks that are stuck
}

// judge finds out who can never go on.
func judge(j *Job) *verdict {
	n := newNeeds(j)
	v := &verdict{waits: make([][]waiting, len(j.Ranks))}
	for i, r := range j.Ranks {
		v.waits[i] = make([]waiting, len(r.Activities))
		for t := range r.Activities {
			v.waits[i][t] = n.of(r, t)
		}
	}
	v.stuck = v.release(j)
	if slices.Contains(v.stuck, true) {
		// Some of what these wait for may have happened.
		for i, r := range j.Ranks {
			for t := range v.waits[i] {
				if v.stuck[i] {
					w := &v.waits[i][t]
					w.needs = slices.DeleteFunc(w.needs, func(x need) bool { return n.matched(r, &x) })
				}
			}
		}
		v.stuck = v.release(j)
	}
	v.explain(j)
	return v
}

// hasEnded tells whether a rank will do nothing any more: it is past MPI_Finalize, or
// it is gone while others of the job are still there. (If all are gone, they may
// have been killed together.)
func (j *Job) hasEnded(r *Rank) bool {
	return r.Header.State != 0 || j.Running && !r.Running
}

// solver finds the ranks that can go on.
type solver struct {
	job     *Job
	at      map[int]int // positions in Job.Ranks, by rank
	free    []bool
	open    [][]int // by rank and thread: needs that are not met
	waiters map[*set]*waiters
	sets    map[int][]*set // that a rank is in
	queue   []int
}

// waiters are the threads that wait for a set.
type waiters struct {
	any, all [][2]int // position, thread
	left     int      // members that cannot go on
	hit      bool
}

// release finds the ranks that can go on, and returns the others of those that have
// not ended.
func (v *verdict) release(j *Job) []bool {
	s := &solver{job: j, at: map[int]int{}, free: make([]bool, len(j.Ranks)), open: make([][]int, len(j.Ranks)),
		waiters: map[*set]*waiters{}, sets: map[int][]*set{}}
	for i, r := range j.Ranks {
		if r.Number >= 0 {
			s.at[r.Number] = i
		}
	}
	for i, r := range j.Ranks {
		s.enter(i, r, v.waits[i])
	}
	s.outside()
	for len(s.queue) > 0 {
		i := s.queue[0]
		s.queue = s.queue[1:]
		s.released(j.Ranks[i].Number)
	}
	stuck := make([]bool, len(j.Ranks))
	for i, r := range j.Ranks {
		stuck[i] = !s.free[i] && !j.hasEnded(r)
	}
	return stuck
}

// enter takes over what the threads of a rank wait for. A rank with a thread that
// needs nothing is free.
func (s *solver) enter(i int, r *Rank, threads []waiting) {
	s.open[i] = make([]int, len(threads))
	if s.job.hasEnded(r) {
		return
	}
	free := len(threads) == 0
	for t := range threads {
		w := &threads[t]
		if r.Process.Streams[t].End == endThread {
			s.open[i][t] = 1 // for ever
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

// let says that a rank can go on.
func (s *solver) let(i int) {
	if !s.free[i] {
		s.free[i] = true
		s.queue = append(s.queue, i)
	}
}

// outside releases those that need ranks which are not here: nobody knows what they
// do.
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

// released takes note that a rank can go on.
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

// meet says that what these threads wait for can come.
func (s *solver) meet(list *[][2]int) {
	for _, x := range *list {
		i, t := x[0], x[1]
		if s.open[i][t]--; s.open[i][t] == 0 {
			s.let(i)
		}
	}
	*list = nil
}
