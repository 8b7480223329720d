package runfile

import (
	"github.com/cespare/xxhash/v2"

	"github.com/efg-tools/efg/efg/block"
)

// The recorder's hashes prove that nothing is lost. A file of few processes stores that of each
// stream, a file of many stores sums over groups of ranks, which take the same space whatever
// the number of ranks.

// exactHashes is the number of ranks up to which each stream has its hash, and the largest
// number of groups of a world.
const exactHashes = 256

// hashGroup is a group of ranks of a world, numbered by its first rank divided by the size of
// the groups.
type hashGroup struct{ world, group int }

func hashGroupOf(p *ProcInfo, worlds []worldInfo) hashGroup {
	if p.inIts < 0 {
		return hashGroup{int(p.world), -1}
	}
	ranks := 1
	for worlds[p.world].size > ranks*exactHashes {
		ranks *= 2
	}
	return hashGroup{int(p.world), int(p.inIts) / ranks}
}

// hashPart is what a stream adds to its group's sum.
func hashPart(rank int, thread uint32, hash uint64) uint64 {
	var b [24]byte
	out := block.AppendU64(b[:0], uint64(int64(rank)))
	out = block.AppendU64(out, uint64(thread))
	return xxhash.Sum64(block.AppendU64(out, hash))
}

func (rw *runWriter) hashColumns(cols *block.Columns) {
	done := map[hashGroup]bool{}
	for i := range rw.procs {
		p := &rw.procs[i]
		if rw.exact {
			for j := range p.Streams {
				cols.Put(indexHash, p.Streams[j].hash)
			}
			continue
		}
		g := hashGroupOf(p, rw.worlds)
		if !done[g] {
			done[g] = true
			cols.Put(indexHash, rw.hashes[g])
		}
	}
}

// hashOfFirst is the sum of the group of process i if that is the group's first process,
// otherwise 0.
func (r *Run) hashOfFirst(i int) uint64 {
	r.hashSums.Do(func() {
		sums, procs := r.hashGroups()
		r.firsts = map[int]uint64{}
		for g, members := range procs {
			r.firsts[members[0]] = sums[g]
		}
	})
	return r.firsts[i]
}
