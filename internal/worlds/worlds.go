// Package worlds distinguishes the MPI_COMM_WORLDs of a run's processes.
//
// A launcher may name none of them, or give several the same name: a script that starts two
// programs one after another then has every rank twice. The second process of a rank belongs to
// a second world, and so do processes whose world has another size.
package worlds

import (
	"cmp"
	"slices"

	"github.com/efg-tools/efg/signature"
)

// Process is a process's own account of its place. Began, Host and PID order processes.
type Process struct {
	World      uint64
	Rank, Size int // Rank is -1 and Size 0 if they are unknown
	Began      int64
	Host       string
	PID        int
}

// World is an MPI_COMM_WORLD.
type World struct {
	ID    uint64 // according to its processes
	Nth   int    // among the worlds with this ID, in the order in which they began
	Size  int
	Began int64 // of its first process
}

// Name is an ID that no other world of the run has.
func (w *World) Name() uint64 {
	if w.Nth == 0 {
		return w.ID
	}
	return signature.Hash(w.ID, uint64(w.Nth))
}

// Place is a process and its world, as numbers in the lists of Split.
type Place struct{ Process, World int }

// Split returns the worlds in the order in which they began, and the processes in the order of
// their worlds and ranks. Those whose rank is unknown come last, in the order in which they
// began; they are assigned to the first world that they fit into.
func Split(procs []Process) ([]World, []Place) {
	s := splitter{procs: procs, taken: map[rankSlot]int{}, at: map[nth]int{}, firsts: map[uint64]int{}}
	started := s.started()
	of := make([]int, len(procs))
	for n, i := range started {
		if procs[i].Rank >= 0 {
			of[i] = s.world(n, i)
		}
	}
	for n, i := range started {
		if procs[i].Rank < 0 {
			of[i] = s.anyWorld(n, i)
		}
	}
	list, number := s.ordered()
	places := make([]Place, len(procs))
	for n, i := range started {
		places[n] = Place{i, number[of[i]]}
	}
	slices.SortStableFunc(places, func(a, b Place) int {
		x, y := procs[a.Process].Rank, procs[b.Process].Rank
		if x < 0 || y < 0 {
			return cmp.Compare(uint(max(x, -1)), uint(max(y, -1)))
		}
		return cmp.Or(cmp.Compare(a.World, b.World), cmp.Compare(x, y))
	})
	return list, places
}

// splitter finds worlds.
type splitter struct {
	procs  []Process
	worlds []found
	taken  map[rankSlot]int // number of worlds in which a rank is taken
	at     map[nth]int      // in worlds
	firsts map[uint64]int   // in worlds, by ID
}

// found is a world, with the first of its processes in the order in which they began.
type found struct {
	World
	first int
}

// rankSlot is a rank in all worlds that cannot be distinguished otherwise.
type rankSlot struct {
	id         uint64
	rank, size int
}

// nth is one of these worlds.
type nth struct {
	id      uint64
	size, n int
}

// started returns the processes in the order in which they began.
func (s *splitter) started() []int {
	list := make([]int, len(s.procs))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(i, j int) int {
		a, b := &s.procs[i], &s.procs[j]
		return cmp.Or(cmp.Compare(a.Began, b.Began), cmp.Compare(a.World, b.World), cmp.Compare(a.Rank, b.Rank),
			cmp.Compare(a.Host, b.Host), cmp.Compare(a.PID, b.PID))
	})
	return list
}

// world returns the number of the world of process i, the n-th to begin: the first one in which
// its rank is free.
func (s *splitter) world(n, i int) int {
	p := &s.procs[i]
	at := rankSlot{p.World, p.Rank, p.Size}
	k := s.find(nth{p.World, p.Size, s.taken[at]}, n, i)
	s.taken[at]++
	return k
}

// anyWorld returns the number of a world that process i, whose rank is unknown, fits into.
func (s *splitter) anyWorld(n, i int) int {
	p := &s.procs[i]
	if k, ok := s.firsts[p.World]; ok && p.Size <= 0 {
		s.worlds[k].begin(n, p)
		return k
	}
	return s.find(nth{p.World, p.Size, 0}, n, i)
}

func (s *splitter) find(key nth, n, i int) int {
	p := &s.procs[i]
	k, ok := s.at[key]
	if !ok {
		k = len(s.worlds)
		s.at[key] = k
		if _, ok := s.firsts[p.World]; !ok {
			s.firsts[p.World] = k
		}
		s.worlds = append(s.worlds, found{World{ID: p.World, Began: p.Began}, n})
	}
	w := &s.worlds[k]
	w.begin(n, p)
	w.Size = max(w.Size, p.Size, p.Rank+1)
	return k
}

// begin records that the n-th process belongs to the world.
func (w *found) begin(n int, p *Process) {
	if n < w.first {
		w.first, w.Began = n, p.Began
	}
}

// ordered returns the worlds in the order in which they began, and the number of each found one
// in that order.
func (s *splitter) ordered() (list []World, number []int) {
	order := make([]int, len(s.worlds))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.worlds[a].first, s.worlds[b].first) })
	list, number = make([]World, len(order)), make([]int, len(order))
	seen := map[uint64]int{}
	for n, k := range order {
		list[n] = s.worlds[k].World
		list[n].Nth = seen[list[n].ID]
		seen[list[n].ID]++
		number[k] = n
	}
	return list, number
}
