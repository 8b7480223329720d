package runfile

import "github.com/efg-tools/efg/internal/worlds"

// placed is a process with its position in the file.
type placed struct {
	source source
	world  int // number of the world
	rank   int // in the world, -1 if unknown
}

// worldInfo is an MPI_COMM_WORLD of a run.
type worldInfo struct {
	id    uint64
	size  int
	start int64 // of its first process
}

// inOrder sorts processes by world and rank; those without a known rank come last. The worlds
// are in the order in which they began.
func inOrder(sources []source) ([]placed, []worldInfo) {
	procs := make([]worlds.Process, len(sources))
	for i, s := range sources {
		p := s.info()
		procs[i] = worlds.Process{World: p.World, Rank: p.Rank, Size: p.Size, Began: s.began(), Host: p.Host, PID: p.PID}
	}
	found, places := worlds.Split(procs)
	list := make([]worldInfo, len(found))
	for k, w := range found {
		list[k] = worldInfo{id: w.ID, size: w.Size, start: w.Began}
	}
	ordered := make([]placed, len(places))
	for i, at := range places {
		ordered[i] = placed{source: sources[at.Process], world: at.World, rank: procs[at.Process].Rank}
	}
	return ordered, list
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
