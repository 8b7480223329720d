package efg

import "fmt"

// memorySource is a process in memory that is to be packed.
type memorySource struct {
	proc    *Process
	rank    int
	thread0 bool // keep times
	defs    *defIndex
	ready   []*unit
}

func (s *memorySource) info() *ProcInfo {
	p := s.proc
	info := &ProcInfo{
		Rank: p.worldRank(), Size: p.Size, World: p.World, PID: p.PID, Host: p.Host, Command: p.Command, MPI: p.MPI, Start: p.Start,
		Streams: make([]StreamInfo, len(p.Streams)),
	}
	for i := range p.Streams {
		st := &p.Streams[i]
		info.Streams[i] = StreamInfo{
			Thread: st.Thread, End: st.End, Events: st.Events, Dropped: st.Dropped, hash: st.Hash, Words: wordsOf(st.Nodes),
		}
	}
	return info
}

// worldRank is the rank in the process's MPI_COMM_WORLD.
func (p *Process) worldRank() int {
	if p.Rank < 0 {
		return p.Rank
	}
	return p.Rank - p.base
}

// wordsOf is the number of words of all events.
func wordsOf(nodes []Node) uint64 {
	total := uint64(0)
	if len(nodes) > 0 {
		total = uint64(len(nodes[0].Words)) // the first event; edges lead to the others
	}
	for i := range nodes {
		for _, e := range nodes[i].Edges {
			if int(e.To) < len(nodes) {
				total += e.Weight * uint64(len(nodes[e.To].Words))
			}
		}
	}
	return total
}

func (s *memorySource) open(rank int) {
	s.rank = rank
	s.defs = newDefIndex(s.proc.Defs)
}

func (s *memorySource) keys() ([]shapeKey, error) {
	units, err := s.flatten()
	if err != nil {
		return nil, err
	}
	s.ready = units
	var keys []shapeKey
	for _, u := range units {
		keys = append(keys, u.key)
	}
	return keys, nil
}

func (s *memorySource) flatten() ([]*unit, error) {
	r := ranksOf(s.rank, s.proc.Size, s.proc.Defs)
	r.findPeerVecs(s.proc.Streams)
	u, err := flattenDefs(s.defs, r)
	if err != nil {
		return nil, err
	}
	units := []*unit{u}
	for i := range s.proc.Streams {
		if u, err = flattenGraph(&s.proc.Streams[i], s.defs, r); err != nil {
			return nil, fmt.Errorf("thread %d: %w", s.proc.Streams[i].Thread, err)
		}
		units = append(units, u)
	}
	return units, nil
}

func (s *memorySource) units() ([]*unit, error) {
	units := s.ready
	s.ready = nil
	return units, nil
}

func (s *memorySource) times() ([][]Node, error) {
	var nodes [][]Node
	for i := range s.proc.Streams {
		nodes = append(nodes, s.proc.Streams[i].Nodes)
	}
	return nodes, nil
}

func (s *memorySource) site(word uint64) (siteRef, bool) { return siteOf(s.defs, word) }
