package runfile

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
)

// Verifier proves that the events of streams of a run are those that were recorded. If the file
// has the recorder's hash of each stream, Process reports the result immediately; files of many
// ranks have sums over groups of ranks, which Close checks.
type Verifier struct {
	run    *Run
	sums   map[hashGroup]uint64
	walked map[hashGroup]map[[2]int]bool // streams, as numbers of process and stream
}

// NewVerifier returns a verifier of r.
func NewVerifier(r *Run) *Verifier {
	return &Verifier{run: r, sums: map[hashGroup]uint64{}, walked: map[hashGroup]map[[2]int]bool{}}
}

// Process walks the streams with the given numbers of Procs[i] and returns an error, or nil,
// for each.
func (v *Verifier) Process(i int, streams []int) []error {
	errs := make([]error, len(streams))
	p, err := v.run.Process(i)
	for k, j := range streams {
		if errs[k] = err; err == nil {
			errs[k] = v.stream(i, j, &p.Streams[j], p.Defs)
		}
	}
	return errs
}

func (v *Verifier) stream(i, j int, s *efg.Stream, defs []efg.Def) error {
	if v.run.exact {
		return s.Verify(defs)
	}
	hash, err := s.WalkHash(defs)
	if err != nil {
		return err
	}
	info := &v.run.Procs[i]
	g := hashGroupOf(info, v.run.worlds)
	if v.walked[g] == nil {
		v.walked[g] = map[[2]int]bool{}
	}
	if at := [2]int{i, j}; !v.walked[g][at] {
		v.walked[g][at] = true
		v.sums[g] += hashPart(int(info.inIts), s.Thread, hash)
	}
	return nil
}

// Close compares the sums of all groups of which a stream was walked; it walks their remaining
// streams. The error names the ranks of a group that differs.
func (v *Verifier) Close() error {
	if v.run.exact {
		return nil
	}
	want, ranks := v.run.hashGroups()
	for g, sum := range v.sums {
		members := ranks[g]
		for _, i := range members {
			p := &v.run.Procs[i]
			for j := range p.Streams {
				if v.walked[g][[2]int{i, j}] {
					continue
				}
				s, err := v.run.Stream(i, j)
				if err != nil {
					return err
				}
				defs, err := v.run.Defs(i)
				if err != nil {
					return err
				}
				hash, err := s.WalkHash(defs)
				if err != nil {
					return fmt.Errorf("rank %d: %w", p.Rank, err)
				}
				sum += hashPart(int(p.inIts), s.Thread, hash)
			}
		}
		if sum != want[g] {
			return fmt.Errorf("%w: ranks %d to %d: hash of the events is %016x, recorded %016x", efg.ErrWalk,
				v.run.Procs[members[0]].Rank, v.run.Procs[members[len(members)-1]].Rank, sum, want[g])
		}
	}
	return nil
}

// hashGroups returns the recorded sum of each group, and its processes.
func (r *Run) hashGroups() (sums map[hashGroup]uint64, procs map[hashGroup][]int) {
	sums, procs = map[hashGroup]uint64{}, map[hashGroup][]int{}
	next := 0
	for i := range r.Procs {
		g := hashGroupOf(&r.Procs[i], r.worlds)
		if procs[g] == nil && next < len(r.hashes) {
			sums[g] = r.hashes[next]
			next++
		}
		procs[g] = append(procs[g], i)
	}
	return sums, procs
}
