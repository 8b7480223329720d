package efg

import (
	"fmt"
	"math/bits"

	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// A unit is what is shared between ranks: the graph of a stream, its marks, the call
// that it was in, or the list of definitions of a process. Units of equal shape are a class; what else is in
// them, the cells, is compared cell by cell.
type unit struct {
	kind  unitKind
	shape []uint64
	key   shapeKey
	cells []cell
	// stream is which of the process's streams marks, or calls in progress, are of.
	stream int
}

type unitKind uint8

const (
	unitDefs unitKind = iota
	unitGraph
	unitMarks
	unitPending
	unitKinds
)

// cell is a value of a unit: a number or token, a wide word, a text, or a
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
	roleMarks
	roles
)

// flatten collects the cells of a unit.
type flatten struct {
	unit
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

// seq adds a sequence and its length, as the difference from what is expected.
func (f *flatten) seq(s *seq.Seq, expected uint64, role int, c *wordContext, relative bool) {
	var t seq.Tokens
	if c != nil {
		t = c
	}
	f.number(block.Zigzag(int64(s.Len() - expected)))
	f.cells = append(f.cells, cell{kind: cellSeq, role: role, body: seq.Pack(s, t, relative)})
}

// ranks is what is known of a process's ranks in communicators.
type ranks struct {
	rank, size int64 // in MPI_COMM_WORLD
	comms      map[uint64][2]int64
	peerVecs   map[uint64]bool // vec words that hold peers
}

// ranksOf collects the ranks that the definitions tell. Intercommunicators,
// whose peers are in the other group, are left out.
func ranksOf(rank, size int, defs []Def) *ranks {
	r := &ranks{rank: int64(rank), size: int64(size), comms: map[uint64][2]int64{}}
	for i := range defs {
		d := &defs[i]
		if d.Kind == DefComm && len(d.Words) >= 4 && d.Words[3] == uint64(len(d.Words)-4) {
			r.comms[d.Word] = [2]int64{memberNumber(d.Words[4:], r.rank), int64(d.Words[2])}
		}
	}
	return r
}

// memberNumber finds a rank of MPI_COMM_WORLD among a group's members, which are
// ranges of first, count, stride; -1: it is none of them.
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

// in returns rank and size in the communicator of a node; those in
// MPI_COMM_WORLD if its object is none that is known.
func (r *ranks) in(n *Node) (rank, size int64) {
	if n.Mask>>objectWord&1 == 0 {
		return r.of(n.Words[objectWord])
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

// isPeer tells whether word i of events with this header holds ranks.
func isPeer(header uint64, i int) bool {
	p := signature.ProcByID(signature.Header(header).Proc())
	if p == nil || i < signature.FirstWord || i >= len(p.Words) || p.Words[i].Param < 0 {
		return false
	}
	w := &p.Words[i]
	k := p.Params[w.Param].Kind
	return k == signature.Peer || k == signature.Rank || (k == signature.Status && w.Part == signature.Source)
}

// findPeerVecs notes the vec words that hold peers.
func (r *ranks) findPeerVecs(streams []Stream) {
	r.peerVecs = map[uint64]bool{}
	for i := range streams {
		for j := range streams[i].Nodes {
			n := &streams[i].Nodes[j]
			for k := signature.FirstWord; k < len(n.Words); k++ {
				if n.Mask>>k&1 == 0 && !signature.IsConst(n.Words[k]) && form(n.Words[0], k) == signature.VecForm && isPeer(n.Words[0], k) {
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

// flattenGraph makes a unit of a stream's graph.
func flattenGraph(s *Stream, defs *defIndex, r *ranks) (*unit, error) {
	f := &flatten{unit{kind: unitGraph, shape: []uint64{uint64(len(s.Nodes))}}}
	visits := visitsOf(s.Nodes)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if len(n.Words) < minWords || len(n.Words) > MaxWords || n.Mask>>len(n.Words) != 0 || n.Mask&1 != 0 ||
			n.Words[0]>>24&0xff != uint64(len(n.Words)) {
			return nil, fmt.Errorf("node %d: %d words, mask %#x", i, len(n.Words), n.Mask)
		}
		if len(n.Attrs) != attrsOf(n.Words[0], n.Mask) || isCounted(n.Words) && len(n.Edges) > 0 || (n.Runs != nil) != (len(n.Edges) > 1) {
			return nil, fmt.Errorf("node %d: %d attribute streams for mask %#x, %d edges", i, len(n.Attrs), n.Mask, len(n.Edges))
		}
		f.nodeShape(n)
		c := &wordContext{defs: defs, thread: s.Thread, node: uint32(i)}
		c.rank, c.size = r.in(n)
		f.nodeCells(n, c, visits[i])
	}
	f.key = keyOf(f.kind, f.shape)
	return &f.unit, nil
}

func (f *flatten) nodeShape(n *Node) {
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

func (f *flatten) nodeCells(n *Node, c *wordContext, visits uint64) {
	for k := 1; k < len(n.Words); k++ {
		if n.Mask>>k&1 == 0 {
			f.word(c, n.Words[k], isPeer(n.Words[0], k))
		}
	}
	if isCounted(n.Words) {
		f.number(n.Counted)
	}
	runs := n.Counts.Len()
	for i := range n.Edges {
		e := &n.Edges[i]
		runs += e.Fixed
		f.number(e.Weight)
		count, fixed := uint64(0), uint64(0)
		if e.varies() {
			fixed = e.Fixed + 1
		}
		if e.varies() || e.Count != e.Weight {
			count = e.Count
		}
		f.number(count)
		f.number(fixed)
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
		switch form(n.Words[0], k) {
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

// attrsOf is how many attribute streams a node has.
func attrsOf(header, mask uint64) int {
	if signature.Header(header).Counted() {
		return 0
	}
	return bits.OnesCount64(mask)
}

// visitsOf returns how often the edges lead to each node, the start included.
func visitsOf(nodes []Node) []uint64 {
	v := make([]uint64, len(nodes))
	if i := start(nodes); i >= 0 {
		v[i] = 1
	}
	for i := range nodes {
		for _, e := range nodes[i].Edges {
			if int(e.To) < len(v) {
				v[e.To] += e.Weight
			}
		}
	}
	return v
}

// Flags of a definition in the shape of a list.
const (
	defDerived = 1 << iota // the word follows from the content
	defData                // there are bytes
	defFlags   = iota
)

// flattenDefs makes a unit of a process's definitions.
func flattenDefs(x *defIndex, r *ranks) (*unit, error) {
	f := &flatten{unit{kind: unitDefs, shape: make([]uint64, 1, 1+3*len(x.list)), cells: make([]cell, 0, len(x.list))}}
	f.shape[0] = uint64(len(x.list))
	for i := range x.list {
		d := &x.list[i]
		flags := uint64(0)
		if derivedWord(d) == d.Word {
			flags |= defDerived
		}
		if len(d.Data) > 0 {
			flags |= defData
		}
		before := *x
		before.below = uint32(i)
		c := &wordContext{defs: &before, rank: r.rank, size: r.size}
		n := len(d.Words)
		if d.Kind == DefVec {
			n = 0
		}
		f.shape = append(f.shape, uint64(d.Kind), flags, uint64(n))
		f.defCells(d, c, r)
	}
	f.key = keyOf(f.kind, f.shape)
	return &f.unit, nil
}

func (f *flatten) defCells(d *Def, c *wordContext, r *ranks) {
	if derivedWord(d) != d.Word {
		f.word(c, d.Word, false)
	}
	if len(d.Data) > 0 {
		f.text(d.Data)
	}
	if d.Kind == DefVec {
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
