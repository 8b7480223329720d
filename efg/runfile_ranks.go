package efg

import (
	"slices"
	"sort"
)

// inOrder sorts processes by rank; those that never knew theirs come last. If
// ranks repeat, processes are renumbered: copies are returned, with the ranks of
// a world after those of the worlds that began before it.
func inOrder(procs []*Process) []*Process {
	sorted := slices.Clone(procs)
	if repeats(procs) {
		sorted = renumber(procs)
	}
	sort.SliceStable(sorted, func(i, j int) bool { return uint(sorted[i].Rank) < uint(sorted[j].Rank) })
	return sorted
}

func repeats(procs []*Process) bool {
	seen := map[int]bool{}
	for _, p := range procs {
		if p.Rank >= 0 && seen[p.Rank] {
			return true
		}
		seen[p.Rank] = true
	}
	return false
}

// renumber returns the processes with ranks that are their own.
func renumber(procs []*Process) []*Process {
	var out []*Process
	first := 0
	for _, world := range worlds(procs) {
		size := 0
		for _, p := range world {
			size = max(size, p.Size, p.Rank+1)
			if p.Rank >= 0 {
				q := *p
				q.Rank += first
				p = &q
			}
			out = append(out, p)
		}
		first += size
	}
	return out
}

// worlds groups processes by MPI_COMM_WORLD, in the order in which the worlds
// began. Worlds that could not be told apart when they were recorded are told
// apart by ranks that repeat.
func worlds(procs []*Process) [][]*Process {
	started := slices.Clone(procs)
	sort.SliceStable(started, func(i, j int) bool { return started[i].Start < started[j].Start })
	type place struct {
		world uint64
		rank  int
	}
	var list [][]*Process
	var ids []uint64
	taken := make(map[place][]int) // numbers of the worlds in list that have this rank
	for _, p := range started {
		at := place{p.World, p.Rank}
		k := -1
		for i := range list {
			if ids[i] == p.World && !(p.Rank >= 0 && slices.Contains(taken[at], i)) {
				k = i
				break
			}
		}
		if k < 0 {
			k = len(list)
			list, ids = append(list, nil), append(ids, p.World)
		}
		list[k] = append(list[k], p)
		taken[at] = append(taken[at], k)
	}
	return list
}
