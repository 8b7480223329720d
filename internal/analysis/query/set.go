package query

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
)

// processSet is a set of processes as given in the query.
type processSet struct {
	all   bool
	ranks []rankRange
	comms []commName // members of these
}

type rankRange struct{ low, high, at int }

// rankSet is a set of ranks in the run.
type rankSet struct {
	all  bool
	bits []uint64
}

func (s *rankSet) has(rank int) bool {
	return s.all || rank >= 0 && rank>>6 < len(s.bits) && s.bits[rank>>6]>>(rank&63)&1 != 0
}

func (s *rankSet) add(rank int) {
	for rank>>6 >= len(s.bits) {
		s.bits = append(s.bits, 0)
	}
	s.bits[rank>>6] |= 1 << (rank & 63)
}

// hasAll reports whether all members are in one of some sets.
func hasAll(sets []*rankSet, m *analysis.Members) bool {
	for i := range m.Size() {
		rank := m.At(i)
		if !slices.ContainsFunc(sets, func(s *rankSet) bool { return s.has(rank) }) {
			return false
		}
	}
	return true
}

// bind determines the ranks of a set in a run.
func (s *processSet) bind(q *Query, run *runfile.Run) (*rankSet, error) {
	set := &rankSet{all: s.all}
	if s.comms != nil {
		return set, set.addMembers(q, run, s.comms)
	}
	there := rankSet{}
	for _, p := range run.Procs {
		if p.Rank >= 0 {
			there.add(p.Rank)
		}
	}
	for _, r := range s.ranks {
		for rank := r.low; rank <= r.high; rank++ {
			if !there.has(rank) {
				return nil, &Error{q.text, r.at, fmt.Sprintf("no rank %d was recorded", rank)}
			}
			set.add(rank)
		}
	}
	return set, nil
}

// addMembers adds the members of communicators.
func (s *rankSet) addMembers(q *Query, run *runfile.Run, comms []commName) error {
	for _, c := range comms {
		if c.constant != 0 {
			s.all = true // each process is a member of MPI_COMM_WORLD and of MPI_COMM_SELF
		}
	}
	return eachComm(q, run, comms, func(p *analysis.Process, word uint64) {
		own, other := p.Members(word)
		for _, m := range []*analysis.Members{own, other} {
			for i := 0; m != nil && i < m.Size(); i++ {
				if rank := m.At(i); rank >= 0 {
					s.add(rank)
				}
			}
		}
	})
}

// eachComm calls f for the communicators of all processes that have one of some names. A name
// that no communicator has is an error.
func eachComm(q *Query, run *runfile.Run, comms []commName, f func(p *analysis.Process, word uint64)) error {
	found := make([]bool, len(comms))
	user := slices.ContainsFunc(comms, func(c commName) bool { return c.constant == 0 })
	first := analysis.FirstRanks(run.Procs)
	for i := 0; user && i < len(run.Procs); i++ {
		defs, err := run.Defs(i)
		if err != nil {
			return err
		}
		info := &run.Procs[i]
		var p *analysis.Process
		for _, d := range defs {
			for k := range comms {
				if d.Kind != efg.DefComm || !comms[k].matchFamily(d.Word) {
					continue
				}
				if found[k] = true; f == nil {
					continue
				}
				if p == nil {
					if p, err = analysis.NewProcess(&efg.Process{Rank: info.Rank, Size: info.Size, Defs: defs}, first[i]); err != nil {
						return err
					}
				}
				f(p, d.Word)
			}
		}
	}
	for k, c := range comms {
		if c.constant == 0 && !found[k] {
			return &Error{q.text, c.at, fmt.Sprintf("no process has a communicator %s", c.text)}
		}
	}
	return nil
}
