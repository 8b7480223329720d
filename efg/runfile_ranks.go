package efg

import (
	"cmp"
	"slices"
)

// placed is a process in its place in the file.
type placed struct {
	source source
	world  int // number of the world
	rank   int // in the world, -1 if it never knew
}

// worldInfo is an MPI_COMM_WORLD of a run.
type worldInfo struct {
	id    uint64
	size  int
	start int64 // of its first process
}

// inOrder sorts processes by world and rank; those that never knew their rank
// come last. The worlds are in the order in which they began. Worlds that could
// not be told apart when they were recorded are told apart by ranks that repeat.
func inOrder(sources []source) ([]placed, []worldInfo) {
	infos := make(map[source]*ProcInfo, len(sources))
	for _, s := range sources {
		infos[s] = s.info()
	}
	started := slices.Clone(sources)
	slices.SortStableFunc(started, func(a, b source) int {
		x, y := infos[a], infos[b]
		return cmp.Or(cmp.Compare(x.began, y.began), cmp.Compare(x.World, y.World), cmp.Compare(x.Rank, y.Rank),
			cmp.Compare(x.Host, y.Host), cmp.Compare(x.PID, y.PID))
	})
	type place struct {
		world uint64
		rank  int
	}
	taken := map[place]int{} // how many worlds with this id have the rank
	ids := map[place]int{}   // number of the n-th world with an id
	var worlds []worldInfo
	out := make([]placed, len(started))
	for i, s := range started {
		p := infos[s]
		at := place{p.World, p.Rank}
		nth := place{p.World, taken[at]}
		if p.Rank >= 0 {
			taken[at]++
		}
		k, ok := ids[nth]
		if !ok {
			k = len(worlds)
			ids[nth] = k
			worlds = append(worlds, worldInfo{id: p.World, start: p.began})
		}
		w := &worlds[k]
		w.size = max(w.size, p.Size, p.Rank+1)
		out[i] = placed{source: s, world: k, rank: p.Rank}
	}
	slices.SortStableFunc(out, func(a, b placed) int {
		if a.rank < 0 || b.rank < 0 {
			return cmp.Compare(uint(a.rank), uint(b.rank))
		}
		return cmp.Or(cmp.Compare(a.world, b.world), cmp.Compare(a.rank, b.rank))
	})
	return out, worlds
}

// worldBases returns for each world the rank, among those of the run, of its
// first process.
func worldBases(worlds []worldInfo) []int {
	bases := make([]int, len(worlds))
	next := 0
	for i, w := range worlds {
		bases[i] = next
		next += w.size
	}
	return bases
}
