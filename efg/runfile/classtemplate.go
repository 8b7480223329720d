package runfile

import (
	"fmt"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/token"
	"github.com/efg-tools/efg/signature"
)

// ClassTemplate makes the processes of a rank class from one of them. They share what is equal,
// which must not be modified. Its methods may be called from several goroutines.
type ClassTemplate struct {
	run     *Run
	first   *efg.Process
	comms   []templateComm
	streams []templateStream

	mu      sync.Mutex
	symbols []symbolicPeer
	numbers map[symbolicPeer]uint64
}

// symbolicPeer is a peer at a distance in a communicator.
type symbolicPeer struct {
	comm  int
	token uint64
}

// templateComm is a communicator that peers are relative in.
type templateComm struct {
	members []uint64 // ranges of ranks in MPI_COMM_WORLD; nil for MPI_COMM_WORLD itself
	size    int64
}

// templateStream describes the ranks in a stream's graph.
type templateStream struct {
	words []relativeWord
	seqs  []relativeSeq
}

// relativeWord is a peer in a node's words.
type relativeWord struct {
	node, word, comm int
	token            uint64
}

// relativeSeq is a sequence of peers at a node.
type relativeSeq struct {
	node, attr, comm int
	elems            bool
}

// ClassTemplate makes the template of the class of Procs[i], which must have one; see
// RankClass.
func (r *Run) ClassTemplate(i int) (*ClassTemplate, error) {
	info := &r.Procs[i]
	p := r.header(i)
	x, err := r.defs(i)
	if err != nil {
		return nil, err
	}
	p.Defs = x.list
	t := &ClassTemplate{run: r, first: p}
	in := ranksOf(int(info.inIts), info.Size, x.list)
	for j := range info.Streams {
		s, err := r.stream(i, j, x)
		if err != nil {
			return nil, err
		}
		p.Streams = append(p.Streams, *s)
		group, err := r.groupOf(info.Streams[j].group, recordGraph)
		if err != nil {
			return nil, err
		}
		vals, err := group.memberCells(nil, uint64(info.Streams[j].member))
		if err != nil {
			return nil, err
		}
		t.streams = append(t.streams, t.relative(group, vals, s.Nodes, in, x.list))
	}
	return t, nil
}

// relative lists the relative ranks among the cells of a graph.
func (t *ClassTemplate) relative(p *readGroup, vals []uint64, nodes []efg.Node, in *ranks, defs []efg.Def) (out templateStream) {
	attr, last := 0, int32(-1)
	for i := range p.places {
		at := &p.places[i]
		if at.node != last {
			attr, last = -1, at.node
		}
		switch {
		case at.what == cellWord && vals[i]&7 == token.Relative:
			out.words = append(out.words, relativeWord{int(at.node), int(at.index), t.comm(&nodes[at.node], in, defs), vals[i]})
		case at.what == cellSeq && (at.role == roleValues || at.role == roleElems):
			if at.role == roleValues {
				attr++
			}
			if p.bodies[vals[i]].Relative() {
				out.seqs = append(out.seqs, relativeSeq{int(at.node), attr, t.comm(&nodes[at.node], in, defs), at.role == roleElems})
			}
		}
	}
	return out
}

// comm is the number of a node's communicator.
func (t *ClassTemplate) comm(n *efg.Node, in *ranks, defs []efg.Def) int {
	c := templateComm{size: in.size}
	if n.Mask>>signature.ObjectWord&1 == 0 {
		word := n.Words[signature.ObjectWord] &^ signature.SequenceMask
		if known, ok := in.comms[word]; ok {
			for i := range defs {
				if d := &defs[i]; d.Kind == efg.DefComm && d.Word == word && len(d.Words) > 4 && d.Words[3] == uint64(len(d.Words)-4) {
					c = templateComm{d.Words[4:], known[1]} // the last definition counts, as in ranksOf
				}
			}
		}
	}
	for i := range t.comms {
		o := &t.comms[i]
		if o.size == c.size && len(o.members) == len(c.members) && (len(c.members) == 0 || &o.members[0] == &c.members[0]) {
			return i
		}
	}
	t.comms = append(t.comms, c)
	return len(t.comms) - 1
}

// Process returns Procs[i], which must be of the class, without times.
func (t *ClassTemplate) Process(i int) *efg.Process {
	info := &t.run.Procs[i]
	contexts := make([]wordContext, len(t.comms))
	for k := range t.comms {
		contexts[k] = t.comms[k].context(info)
	}
	return t.process(i, contexts)
}

// context describes a process's rank in the communicator, for relative peers.
func (c *templateComm) context(info *ProcInfo) wordContext {
	w := wordContext{rank: int64(info.inIts), size: c.size}
	if c.members != nil {
		w.rank = memberNumber(c.members, w.rank)
	}
	return w
}

func (t *ClassTemplate) process(i int, contexts []wordContext) *efg.Process {
	info := &t.run.Procs[i]
	p := t.run.header(i)
	p.Defs = t.first.Defs
	p.Streams = make([]efg.Stream, len(t.first.Streams))
	for j := range p.Streams {
		p.Streams[j] = t.first.Streams[j]
		p.Streams[j].Hash = info.Streams[j].hash
		p.Streams[j].Nodes = t.streams[j].nodes(t.first.Streams[j].Nodes, contexts)
	}
	return p
}

// symbolBit is greater than all ranks, and less than all other words that are not small
// numbers.
const symbolBit = uint64(1) << 60

// IsPeerSymbol reports whether a peer's word, in a process made by Symbolic, stands for one at
// a distance.
func IsPeerSymbol(w uint64) bool { return w >= symbolBit && w < symbolBit+1<<32 }

// Symbolic returns Procs[i] with symbols in place of the peers that are at a distance: the
// result stands for all processes of the class. Peer resolves the symbols.
func (t *ClassTemplate) Symbolic(i int) *efg.Process {
	contexts := make([]wordContext, len(t.comms))
	for k := range contexts {
		contexts[k].symbol = func(token uint64) uint64 { return t.symbol(symbolicPeer{k, token}) }
	}
	return t.process(i, contexts)
}

func (t *ClassTemplate) symbol(s symbolicPeer) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, ok := t.numbers[s]
	if !ok {
		if t.numbers == nil {
			t.numbers = map[symbolicPeer]uint64{}
		}
		n = uint64(len(t.symbols))
		t.numbers[s] = n
		t.symbols = append(t.symbols, s)
	}
	return symbolBit + n
}

// PeerWords lists the words of nodes of stream j, as pairs of node and word, that are peers at
// a distance.
func (t *ClassTemplate) PeerWords(j int) [][2]int {
	var list [][2]int
	for _, w := range t.streams[j].words {
		list = append(list, [2]int{w.node, w.word})
	}
	return list
}

// Relative returns the communicator, by an internal number, and the distance that a symbol
// stands for.
func (t *ClassTemplate) Relative(symbol uint64) (comm int, distance int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.symbols[symbol-symbolBit]
	return s.comm, block.Unzigzag(s.token >> 3)
}

// Peer returns the rank that a symbol stands for in Procs[i], a process of the class.
func (t *ClassTemplate) Peer(symbol uint64, i int) uint64 {
	t.mu.Lock()
	s := t.symbols[symbol-symbolBit]
	t.mu.Unlock()
	c := t.comms[s.comm].context(&t.run.Procs[i])
	return c.Word(s.token)
}

// nodes copies nodes for a process with these ranks in the communicators.
func (t *templateStream) nodes(from []efg.Node, contexts []wordContext) []efg.Node {
	nodes := append([]efg.Node(nil), from...)
	var room []uint64
	for i, w := range t.words {
		n := &nodes[w.node]
		if i == 0 || t.words[i-1].node != w.node {
			if len(room) < len(n.Words) {
				room = make([]uint64, signature.MaxWords*min(len(t.words)-i, 8))
			}
			copy(room, n.Words)
			n.Words, room = room[:len(n.Words):len(n.Words)], room[len(n.Words):]
		}
		n.Words[w.word] = contexts[w.comm].Word(w.token)
	}
	for i, q := range t.seqs {
		n := &nodes[q.node]
		if i == 0 || t.seqs[i-1].node != q.node {
			n.Attrs = append([]efg.Attr(nil), n.Attrs...)
		}
		a := &n.Attrs[q.attr]
		if q.elems {
			a.Elems = withRanks(a.Elems, &contexts[q.comm])
		} else {
			a.Values = withRanks(a.Values, &contexts[q.comm])
		}
	}
	return nodes
}

// withRanks returns the sequence for a process with other ranks.
func withRanks(s *seq.Seq, ranks *wordContext) *seq.Seq {
	c := *s.Tokens().(*wordContext)
	c.rank, c.size, c.symbol = ranks.rank, ranks.size, ranks.symbol
	return s.With(&c)
}

// ReadTimes reads the statistics of Procs[i] into the nodes of its process.
func (r *Run) ReadTimes(i int, p *efg.Process) error {
	if len(p.Streams) != len(r.Procs[i].Streams) {
		return fmt.Errorf("%d streams, not %d", len(p.Streams), len(r.Procs[i].Streams))
	}
	return r.readSums(i, p)
}
