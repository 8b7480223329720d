package analysis

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// Process provides the facts of one process's graphs. It is not safe for concurrent use.
type Process struct {
	Data *efg.Process

	number   int                 // in the run, if it was read for an analysis of several processes
	first    int                 // rank in the run of rank 0 of its world
	world    int                 // rank in its world
	sizes    map[uint64]uint64   // of datatypes
	vecs     map[uint64][]uint64 // content of vec words
	families map[uint64]*efg.Def // of communicators
	windows  map[uint64]*efg.Def // families of windows
	files    map[uint64]*efg.Def // families of files
	groups   map[uint64]*efg.Def
	paths    map[uint64]uint64 // shortened call paths, see Callsite
	comms    map[uint64]*comm  // created when first needed
	streams  []*stream
	threads  map[uint32]*stream
	layouts  *layouts            // created when first needed
	types    map[uint64]*efg.Def // datatypes, created when first needed
	class    *rankClass          // nil if it is not compared with others
	symbols  *Symbolic           // nil if it stands only for itself
}

// stream is the graph of a thread.
type stream struct {
	*efg.Stream
	process *Process
	visits  []uint64
	arrays  []uint64            // see reaching; created when first needed
	issued  map[int]*issued     // by node of persistent requests
	walked  map[int][]*instance // by starting node; made if the graph is ambiguous
}

// NewProcess prepares the facts of a process. firstRank is the rank in the run
// of rank 0 of its MPI_COMM_WORLD, see FirstRanks.
func NewProcess(data *efg.Process, firstRank int) (*Process, error) {
	p := &Process{
		Data: data, first: firstRank, world: data.Rank - firstRank, sizes: map[uint64]uint64{}, vecs: map[uint64][]uint64{},
		families: map[uint64]*efg.Def{}, windows: map[uint64]*efg.Def{}, files: map[uint64]*efg.Def{}, groups: map[uint64]*efg.Def{},
		comms: map[uint64]*comm{}, threads: map[uint32]*stream{},
	}
	for i := range data.Defs {
		p.define(&data.Defs[i])
	}
	p.paths, _ = efg.FoldPaths(data.Defs, data.SiteDepth)
	for i := range data.Streams {
		s := &stream{Stream: &data.Streams[i], process: p, issued: map[int]*issued{}}
		if err := s.countVisits(); err != nil {
			return nil, fmt.Errorf("rank %d, thread %d: %w", data.Rank, s.Thread, err)
		}
		p.streams = append(p.streams, s)
		p.threads[s.Thread] = s
	}
	return p, nil
}

func (p *Process) define(d *efg.Def) {
	switch d.Kind {
	case efg.DefVec:
		p.vecs[d.Word] = d.Words
	case efg.DefType:
		if len(d.Words) > 1 {
			p.sizes[d.Word] = d.Words[1]
		}
	case efg.DefComm:
		p.families[d.Word] = d
	case efg.DefWin:
		p.windows[d.Word] = d
	case efg.DefFile:
		p.files[d.Word] = d
	case efg.DefGroup:
		p.groups[d.Word] = d
	}
}

// Callsite returns the callsite that a node's word stands for: of a call path, its last calls, as many as
// Data.SiteDepth says. What is summed for each callsite has it as the key, so that it does not depend on
// whether call paths were recorded.
func (p *Process) Callsite(word uint64) uint64 {
	if site, ok := p.paths[word]; ok {
		return site
	}
	return word
}

// countVisits computes how many events each node has: one for each step to it, and one more for
// the first node. Polls that are only counted have nodes of their own.
func (s *stream) countVisits() error {
	s.visits = make([]uint64, len(s.Nodes))
	if i := s.Start(); i >= 0 {
		s.visits[i] = 1
	}
	for i := range s.Nodes {
		s.visits[i] += s.Nodes[i].Counted
		for _, e := range s.Nodes[i].Edges {
			if int(e.To) >= len(s.Nodes) {
				return fmt.Errorf("%w: edge to node %d of %d", efg.ErrGraph, e.To, len(s.Nodes))
			}
			s.visits[e.To] += e.Weight
		}
	}
	return nil
}

// procOf is the procedure of a node; nil if the table does not have it, or not with these
// words.
func procOf(n *efg.Node) *signature.Proc {
	p := signature.ProcByID(signature.Header(n.Words[0]).Proc())
	if p == nil || len(p.Words) != len(n.Words) {
		return nil
	}
	return p
}

// typeSize is the size in bytes of a datatype.
func (p *Process) typeSize(word uint64) (size uint64, ok bool) {
	if k, isConst := signature.ConstNumber(word); isConst {
		c := signature.ConstantByID(k)
		return constSize(c), c != nil && c.Group == "type"
	}
	size, ok = p.sizes[word]
	return size, ok
}

func constSize(c *signature.Constant) uint64 {
	if c == nil {
		return 0
	}
	return uint64(c.Size)
}

// FirstRanks returns, for each process of a run, the rank in the run of rank 0 of
// its MPI_COMM_WORLD. The ranks of a world follow those of the one before.
func FirstRanks(procs []runfile.ProcInfo) []int {
	list := make([]int, len(procs))
	first, end := 0, 0
	for i := range procs {
		p := &procs[i]
		if p.Rank >= end {
			first, end = end, end+p.Size
		}
		if p.Rank >= end { // its size is unknown
			first, end = p.Rank, p.Rank+1
		}
		list[i] = first
		if p.Rank < 0 {
			list[i] = p.Rank
		}
	}
	return list
}
