package runfile

import (
	"fmt"
	"math/bits"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// A record is a unit that ranks can share: the graph of a stream, its checkpoints, its call in
// progress, or the list of definitions of a process. Records of equal shape form a class; their
// cells, the rest of their content, are compared one by one.
type record struct {
	kind  recordKind
	shape []uint64
	key   shapeKey
	cells []cell
	// stream is the stream that checkpoints, or a call in progress, belong to.
	stream int
}

type recordKind uint8

const (
	recordDefs recordKind = iota
	recordGraph
	recordCheckpoints
	recordPending
	recordKinds
)

// cell is a value of a record: a number or token, a wide word, a text, or a
// sequence.
type cell struct {
	kind cellKind
	v    uint64
	alt  uint64    // cellPeer: the relative token
	body *seq.Body // cellSeq
	role int       // of the sequence
	text string    // cellText
}

type cellKind uint8

const (
	cellNumber cellKind = iota
	cellWord            // a token
	cellPeer            // a token, or a relative one
	cellWide            // a word that has no token
	cellText
	cellSeq
)

// Roles of sequences: each has columns of its own in a block.
const (
	roleRuns = iota
	roleCounts
	roleValues
	roleElems
	roleVec
	roleMember // one value of each member of a class
	roleCheckpoints
	roles
)

// flatten collects the cells of a record.
type flatten struct {
	record
}

func (f *flatten) number(v uint64) { f.cells = append(f.cells, cell{kind: cellNumber, v: v}) }

func (f *flatten) word(c *wordContext, w uint64, peer bool) {
	t, ok := c.Token(w)
	if !ok {
		f.cells = append(f.cells, cell{kind: cellWide, v: w})
		return
	}
	if r, ok := c.Relative(w); peer && ok {
		f.cells = append(f.cells, cell{kind: cellPeer, v: t, alt: r})
		return
	}
	f.cells = append(f.cells, cell{kind: cellWord, v: t})
}

func (f *flatten) text(b []byte) { f.cells = append(f.cells, cell{kind: cellText, text: string(b)}) }

// seq adds a sequence and its length, as the difference from the expected one.
func (f *flatten) seq(s *seq.Seq, expected uint64, role int, c *wordContext, relative bool) {
	var t seq.Tokens
	if c != nil {
		t = c
	}
	f.number(block.Zigzag(int64(s.Len() - expected)))
	f.cells = append(f.cells, cell{kind: cellSeq, role: role, body: seq.Pack(s, t, relative)})
}

// ranks is what is known about a process's ranks in communicators.
type ranks struct {
	rank, size int64 // in MPI_COMM_WORLD
	comms      map[uint64][2]int64
	peerVecs   map[uint64]bool // words of arrays that hold peers
}

// ranksOf collects the ranks that the definitions contain. Intercommunicators, whose peers are
// in the remote group, are omitted.
func ranksOf(rank, size int, defs []efg.Def) *ranks {
	r := &ranks{rank: int64(rank), size: int64(size), comms: map[uint64][2]int64{}}
	for i := range defs {
		d := &defs[i]
		if d.Kind == efg.DefComm && len(d.Words) >= 4 && d.Words[3] == uint64(len(d.Words)-4) {
			r.comms[d.Word] = [2]int64{memberNumber(d.Words[4:], r.rank), int64(d.Words[2])}
		}
	}
	return r
}

// memberNumber finds a rank of MPI_COMM_WORLD among a group's members, which are ranges of
// first, count, stride; -1 if it is not a member.
func memberNumber(ranges []uint64, rank int64) int64 {
	before := int64(0)
	for ; len(ranges) >= 3; ranges = ranges[3:] {
		first, count, stride := int64(ranges[0]), int64(ranges[1]), int64(ranges[2])
		at := rank - first
		if stride != 0 && at%stride == 0 && at/stride >= 0 && at/stride < count {
			return before + at/stride
		}
		if stride == 0 && at == 0 && count == 1 {
			return before
		}
		before += count
	}
	return -1
}

// in returns rank and size in the communicator of a node, or those in MPI_COMM_WORLD if its
// object is unknown.
func (r *ranks) in(n *efg.Node) (rank, size int64) {
	if n.Mask>>signature.ObjectWord&1 == 0 {
		return r.of(n.Words[signature.ObjectWord])
	}
	return r.rank, r.size
}

// of returns rank and size in a communicator.
func (r *ranks) of(comm uint64) (rank, size int64) {
	if c, ok := r.comms[comm&^signature.SequenceMask]; ok {
		return c[0], c[1]
	}
	return r.rank, r.size
}

// isPeer reports whether word i of events with this header holds ranks.
func isPeer(header uint64, i int) bool {
	p := signature.ProcByID(signature.Header(header).Proc())
	if p == nil || i < signature.FirstWord || i >= len(p.Words) || p.Words[i].Param < 0 {
		return false
	}
	w := &p.Words[i]
	k := p.Params[w.Param].Kind
	return k == signature.Peer || k == signature.Rank || (k == signature.Status && w.Part == signature.Source)
}

// findPeerVecs finds the words of arrays that hold peers.
func (r *ranks) findPeerVecs(streams []efg.Stream) {
	r.peerVecs = map[uint64]bool{}
	for i := range streams {
		for j := range streams[i].Nodes {
			n := &streams[i].Nodes[j]
			for k := signature.FirstWord; k < len(n.Words); k++ {
				if n.Mask>>k&1 == 0 && !signature.IsConst(n.Words[k]) && signature.Header(n.Words[0]).Form(k) == signature.VecForm && isPeer(n.Words[0], k) {
					r.peerVecs[n.Words[k]] = true
				}
			}
		}
	}
}

// Flags of a node in the shape of a graph.
const (
	nodeCounts = 1 << iota
	nodeElems  // of attribute stream 0; the next bit is that of stream 1, and so on
)

// flattenGraph makes a record from a stream's graph.
func flattenGraph(s *efg.Stream, defs *defIndex, r *ranks) (*record, error) {
	f := &flatten{record{kind: recordGraph, shape: []uint64{uint64(len(s.Nodes))}}}
	visits := s.Visits()
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if len(n.Words) < signature.FirstWord || len(n.Words) > signature.MaxWords || n.Mask>>len(n.Words) != 0 || n.Mask&1 != 0 ||
			n.Words[0]>>24&0xff != uint64(len(n.Words)) {
			return nil, fmt.Errorf("node %d: %d words, mask %#x", i, len(n.Words), n.Mask)
		}
		if len(n.Attrs) != efg.AttrStreams(n.Words[0], n.Mask) || signature.Header(n.Words[0]).Counted() && len(n.Edges) > 0 || (n.Runs != nil) != (len(n.Edges) > 1) {
			return nil, fmt.Errorf("node %d: %d attribute streams for mask %#x, %d edges", i, len(n.Attrs), n.Mask, len(n.Edges))
		}
		f.nodeShape(n)
		c := &wordContext{defs: defs, thread: s.Thread, node: uint32(i)}
		c.rank, c.size = r.in(n)
		f.nodeCells(n, c, visits[i])
	}
	f.key = keyOf(f.kind, f.shape)
	return &f.record, nil
}

func (f *flatten) nodeShape(n *efg.Node) {
	flags := uint64(0)
	if n.Counts != nil {
		flags = nodeCounts
	}
	for k := range n.Attrs {
		if n.Attrs[k].Elems != nil {
			flags |= nodeElems << k
		}
	}
	f.shape = append(f.shape, n.Words[0], n.Mask, flags, uint64(len(n.Edges)))
	for _, e := range n.Edges {
		f.shape = append(f.shape, uint64(e.To))
	}
}

// edge adds an edge. Values that follow from the weight are 0.
func (f *flatten) edge(weight, count, fixed uint64, varies bool) {
	switch {
	case varies:
		fixed++
	case count == weight:
		count, fixed = 0, 0
	default:
		fixed = 0
	}
	f.number(weight)
	f.number(count)
	f.number(fixed)
}

func (f *flatten) nodeCells(n *efg.Node, c *wordContext, visits uint64) {
	for k := 1; k < len(n.Words); k++ {
		if n.Mask>>k&1 == 0 {
			f.word(c, n.Words[k], isPeer(n.Words[0], k))
		}
	}
	if signature.Header(n.Words[0]).Counted() {
		f.number(n.Counted)
	}
	runs := n.Counts.Len()
	for i := range n.Edges {
		e := &n.Edges[i]
		runs += e.Fixed
		f.edge(e.Weight, e.Count, e.Fixed, e.Varies())
	}
	if n.Counts != nil {
		f.seq(n.Counts, 0, roleCounts, nil, false)
	}
	if n.Runs != nil {
		f.seq(n.Runs, runs, roleRuns, nil, false)
	}
	mask := n.Mask
	for i := range n.Attrs {
		k := bits.TrailingZeros64(mask)
		mask &= mask - 1
		a, peer := &n.Attrs[i], isPeer(n.Words[0], k)
		switch signature.Header(n.Words[0]).Form(k) {
		case signature.ScalarForm:
			f.seq(a.Values, visits, roleValues, c, peer)
		default:
			f.seq(a.Values, visits, roleValues, nil, false)
		}
		if a.Elems != nil {
			f.seq(a.Elems, 0, roleElems, c, peer)
		}
	}
}

// Flags of a definition in the shape of a list.
const (
	defDerived = 1 << iota // the word follows from the content
	defData                // there are bytes
	defFlags   = iota
)

// flattenDefs makes a record from a process's definitions.
func flattenDefs(x *defIndex, r *ranks) (*record, error) {
	f := &flatten{record{kind: recordDefs, shape: make([]uint64, 1, 1+3*len(x.list)), cells: make([]cell, 0, len(x.list))}}
	f.shape[0] = uint64(len(x.list))
	for i := range x.list {
		d := &x.list[i]
		flags := uint64(0)
		if d.Identity() == d.Word {
			flags |= defDerived
		}
		if len(d.Data) > 0 {
			flags |= defData
		}
		before := *x
		before.below = uint32(i)
		c := &wordContext{defs: &before, rank: r.rank, size: r.size}
		n := len(d.Words)
		if d.Kind == efg.DefVec {
			n = 0
		}
		f.shape = append(f.shape, uint64(d.Kind), flags, uint64(n))
		f.defCells(d, c, r)
	}
	f.key = keyOf(f.kind, f.shape)
	return &f.record, nil
}

func (f *flatten) defCells(d *efg.Def, c *wordContext, r *ranks) {
	if d.Identity() != d.Word {
		f.word(c, d.Word, false)
	}
	if len(d.Data) > 0 {
		f.text(d.Data)
	}
	if d.Kind == efg.DefVec {
		w := seq.NewWriter(false)
		for _, x := range d.Words {
			w.Push(x)
		}
		f.seq(w.Seq(), 0, roleVec, c, r.peerVecs[d.Word])
		return
	}
	for _, w := range d.Words {
		f.word(c, w, false)
	}
}
