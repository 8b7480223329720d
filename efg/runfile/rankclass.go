package runfile

import (
	"math/bits"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/efg-tools/efg/internal/token"
)

// Ranks of a rank class have the same definitions, and graphs that differ only in peers, which
// are at the same distance from each. A run file stores the graphs of ranks with one shape
// together, cell by cell, with peers as distances: members of a group with equal cells belong
// to one class, which can be determined without rebuilding graphs.

// ClassKey is equal for processes of one rank class, in one run.
type ClassKey [2]uint64

// RankClass returns the key of the class of Procs[i]. ok is false if the process is compared
// with no other: its rank is unknown, was in a call when the recording ended, or its
// definitions depend on its rank.
func (r *Run) RankClass(i int) (key ClassKey, ok bool, err error) {
	p := &r.Procs[i]
	if p.inIts < 0 {
		return key, false, nil
	}
	defs, err := r.memberKeys(int(p.defs), recordDefs)
	if err != nil || defs.ranks {
		return key, false, err
	}
	key.add(uint64(p.world))
	key.add(uint64(p.Size))
	key.addKey(defs.list[p.ordinal])
	for j := range p.Streams {
		s := &p.Streams[j]
		if s.InCall {
			return key, false, nil
		}
		graph, err := r.memberKeys(s.group, recordGraph)
		if err != nil {
			return key, false, err
		}
		for _, v := range [...]uint64{uint64(s.Thread), uint64(s.End), s.Events, s.Dropped} {
			key.add(v)
		}
		key.addKey(graph.list[s.member])
	}
	return key, true, nil
}

// Unlike reports whether no other process can be of the class of Procs[i]: no other stream has
// a graph of the shape of one of its streams.
func (r *Run) Unlike(i int) bool {
	return slices.ContainsFunc(r.Procs[i].Streams, func(s StreamInfo) bool { return r.shapes[s.Class] == 1 })
}

// Traced reports whether the file has the times of each call of Procs[i].
func (r *Run) Traced(i int) bool {
	p := &r.Procs[i]
	for j := range p.Streams {
		if len(r.traceBlocks(p.first+j)) > 0 {
			return true
		}
	}
	return false
}

// HasTimes reports whether the run may have times: statistics, or those of each event.
func (r *Run) HasTimes() bool { return len(r.stats)+len(r.traces) > 0 }

// add adds a value: two hashes, each of which alone distinguishes most keys.
func (k *ClassKey) add(v uint64) {
	k[0] = (bits.RotateLeft64(k[0], 23) ^ v) * 0x9e3779b185ebca87
	k[0] ^= k[0] >> 32
	k[1] = (bits.RotateLeft64(k[1], 41) + v) * 0xc2b2ae3d27d4eb4f
	k[1] ^= k[1] >> 29
}

func (k *ClassKey) addKey(o ClassKey) {
	k.add(o[0])
	k.add(o[1])
}

// memberKeys are keys of all members of a group; equal ones have equal cells, in
// other groups of the shape, too.
type memberKeys struct {
	list  []ClassKey
	ranks bool // of definitions: some hold ranks relative to the process's own
}

// memberKeys are kept for all groups that were requested: 16 bytes per member.
func (r *Run) memberKeys(n int, kind recordKind) (*memberKeys, error) {
	r.mu.Lock()
	k := r.classKeys[n]
	r.mu.Unlock()
	if k != nil {
		return k, nil
	}
	p, err := r.groupOf(n, kind)
	if err == nil {
		k, err = p.memberKeys()
	}
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.classKeys == nil {
		r.classKeys = map[int]*memberKeys{}
	}
	r.classKeys[n] = k
	return k, nil
}

// The key of a member is a sum over its cells: a cell that varies in one group may be equal in
// all members of another.
func (p *readGroup) memberKeys() (*memberKeys, error) {
	k := &memberKeys{list: make([]ClassKey, p.members)}
	same := ClassKey(p.key)
	bodies := make([]uint64, len(p.bodies))
	for i, b := range p.bodies {
		bodies[i] = xxhash.Sum64String(b.Key)
		k.ranks = k.ranks || p.kind == recordDefs && b.Relative()
	}
	for i := range p.cells {
		if c := &p.cells[i]; c.values == nil {
			same.sum(p.cellKey(i, c.v, bodies))
		}
	}
	for m := range k.list {
		k.list[m] = same
	}
	for i := range p.cells {
		if c := &p.cells[i]; c.values != nil {
			it := c.values.Seq(p.members, nil).Iter()
			for m := range k.list {
				v, ok := it.Next()
				if !ok {
					return nil, it.Err()
				}
				k.list[m].sum(p.cellKey(i, v, bodies))
			}
		}
	}
	return k, nil
}

func (k *ClassKey) sum(o ClassKey) {
	k[0] += o[0]
	k[1] += o[1]
}

// cellKey stands for a value of cell i in any group with this shape.
func (p *readGroup) cellKey(i int, v uint64, bodies []uint64) ClassKey {
	at := uint64(i) << 2
	switch what := p.places[i].what; {
	case what == cellSeq && v < uint64(len(bodies)):
		v, at = bodies[v], at|1
	case what == cellWord && v&7 == token.Wide && v>>3 < uint64(len(p.wide)):
		v, at = p.wide[v>>3], at|2
	}
	return ClassKey{mixed(v ^ mixed(at+1)), mixed(v + mixed(^at))}
}

// mixed is a permutation of 64 bits in which each bit depends on all (SplitMix64).
func mixed(v uint64) uint64 {
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}
