package diff

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// call is a procedure at a callsite.
type call struct {
	op   string
	site uint64 // key
}

// process is a process that is compared with others.
type process struct {
	*analysis.Process
	sites     *siteNames
	keys      map[uint64]uint64 // of callsites, by word
	defs      map[uint64]*efg.Def
	objects   map[uint64]uint64   // forms of communicators, windows and files
	commRanks map[uint64]commRank // by the word of a communicator or window
	vecs      map[uint64][]uint64 // content of vec words
	streams   []*stream
	threads   map[uint32]*stream
}

// stream is the graph of a thread.
type stream struct {
	*efg.Stream
	process *process
	nodes   []node
}

// node is a node with what is known about its words.
type node struct {
	*efg.Node
	facts    *analysis.Node
	proc     *signature.Proc // nil if it is not in the table, or not with these words
	call     call
	commRank commRank
}

// commRank is the process's rank among the members of a communicator; size 0 means that ranks
// cannot be relative there.
type commRank struct{ rank, size int }

func newProcess(p *analysis.Process, sites *siteNames) (*process, error) {
	data := p.Data
	q := &process{
		Process: p, sites: sites, keys: sites.keys(p), defs: make(map[uint64]*efg.Def, len(data.Defs)),
		objects: map[uint64]uint64{}, commRanks: map[uint64]commRank{}, vecs: map[uint64][]uint64{}, threads: map[uint32]*stream{},
	}
	for i := range data.Defs {
		d := &data.Defs[i]
		q.defs[d.Word] = d
		if d.Kind == efg.DefVec {
			q.vecs[d.Word] = append([]uint64{}, d.Words...)
		}
	}
	for i := range data.Streams {
		facts, err := p.Nodes(i)
		if err != nil {
			return nil, err
		}
		s := &stream{Stream: &data.Streams[i], process: q, nodes: make([]node, len(facts))}
		for k := range s.nodes {
			n := &s.Nodes[k]
			s.nodes[k] = node{n, &facts[k], facts[k].Proc, call{facts[k].Op, q.keys[facts[k].Site]}, q.commRankOf(n)}
		}
		q.streams = append(q.streams, s)
		q.threads[s.Thread] = s
	}
	return q, nil
}

// commRankOf is the process's rank in the communicator that a node's ranks belong to.
func (p *process) commRankOf(n *efg.Node) commRank {
	object := commRankObject(n)
	s, ok := p.commRanks[object]
	if !ok {
		s = commRankIn(p.Process, object)
		p.commRanks[object] = s
	}
	return s
}

// commRankObject is the word of the communicator or window that a node's ranks belong to.
func commRankObject(n *efg.Node) uint64 {
	object := uint64(0)
	if n.Mask>>2&1 == 0 {
		object = n.Words[signature.ObjectWord]
	}
	switch {
	case object == 0 || signature.IsConst(object) && object != signature.CommSelf:
		return signature.CommWorld
	case !signature.IsConst(object):
		return object &^ signature.SequenceMask
	}
	return object
}

// commRankIn is the rank of a process in a communicator, or in that of a window.
func commRankIn(p *analysis.Process, object uint64) (s commRank) {
	own, other := p.Members(object)
	if own != nil && other == nil {
		s = commRank{own.Index(p.Data.Rank), own.Size()}
	}
	if s.rank < 0 {
		s = commRank{}
	}
	return s
}

// form is a word in the two forms in which it is compared: with ranks relative to the process's
// own, and as they are. For a word that holds no ranks both are equal.
type form struct{ near, far uint64 }

func (f form) equal(o form) bool { return f.near == o.near || f.far == o.far }

func same(w uint64) form { return form{w, w} }

// word returns the form of word i of a node's event. vec is its content if it is an
// array.
func (n *node) word(p *process, i int, w uint64, vec []uint64) form {
	if i == signature.ObjectWord {
		return same(p.object(w))
	}
	if n.proc == nil || i < signature.FirstWord {
		return same(w)
	}
	from := &n.proc.Words[i]
	kind := signature.Num
	if from.Param >= 0 {
		kind = n.proc.Params[from.Param].Kind
	}
	switch {
	case signature.IsConst(w) || from.Form == signature.SlotForm:
		return same(w)
	case from.Form == signature.VecForm:
		return n.array(p, kind, w, vec)
	case kind == signature.Status && from.Part != signature.Source:
		return same(w)
	}
	return p.element(kind, w, n.commRank)
}

// array is the form of an array that is not a constant.
func (n *node) array(p *process, kind signature.Kind, w uint64, vec []uint64) form {
	near, far := hashOf(uint64(len(vec))), hashOf(uint64(len(vec)))
	if vec == nil {
		return same(w)
	}
	for k, x := range vec {
		f := same(x)
		if kind != signature.Statuses || k%4 == 1 {
			f = p.element(kind, x, n.commRank)
		}
		near, far = near.add(f.near), far.add(f.far)
	}
	return form{uint64(near), uint64(far)}
}

// element is the form of a value of a kind.
func (p *process) element(kind signature.Kind, w uint64, at commRank) form {
	if signature.IsConst(w) {
		return same(w)
	}
	switch {
	case kind == signature.Peer || kind == signature.Rank || kind == signature.Status || kind == signature.Statuses:
		return at.form(w)
	case kind.Object():
		return same(p.object(w))
	case signature.IsID(w) && kind.Local():
		return same(p.local(w))
	}
	return same(w)
}

// form of a rank: the distance from its own rank is taken into (-size/2, size/2]. Its high bits
// distinguish it from a rank.
func (s commRank) form(w uint64) form {
	if w >= uint64(s.size) {
		return same(w)
	}
	d := int(w) - s.rank
	if 2*d > s.size {
		d -= s.size
	}
	if 2*d <= -s.size {
		d += s.size
	}
	return form{1<<60 | uint64(d)&(1<<60-1), w}
}

// local is the form of the id of an object that an event made: by what call, and in
// which slot.
func (p *process) local(w uint64) uint64 {
	id, ok := signature.ParseID(w)
	s := p.threads[id.Thread]
	if !ok || s == nil || int(id.Node) >= len(s.nodes) {
		return w
	}
	c := &s.nodes[id.Node].call
	return uint64(hashOf(1, uint64(id.Thread), uint64(id.Slot), c.site).add(signature.HashString(c.op)))
}

// object is the form of a communicator, window or file: how it was made, with as many
// members.
func (p *process) object(w uint64) uint64 {
	if !signature.IsPlain(w) || w == 0 {
		return w
	}
	if f, ok := p.objects[w]; ok {
		return f
	}
	p.objects[w] = w // of one that is made of itself
	d := p.defs[w&^signature.SequenceMask]
	if d == nil {
		return w
	}
	h := hashOf(uint64(d.Kind), w&signature.SequenceMask)
	switch {
	case d.Kind == efg.DefComm && len(d.Words) >= 4:
		h = h.add(p.object(d.Words[0]), d.Words[1], d.Words[2])
		for words := d.Words[4+min(d.Words[3], uint64(len(d.Words)-4)):]; len(words) >= 3; words = words[3:] {
			h = h.add(words[1]) // members of the other side
		}
	case (d.Kind == efg.DefWin || d.Kind == efg.DefFile) && len(d.Words) >= 2:
		h = h.add(p.object(d.Words[0]), d.Words[1])
	default:
		return w
	}
	p.objects[w] = uint64(h)
	return uint64(h)
}

// hash adds numbers, one after another.
type hash uint64

func hashOf(words ...uint64) hash { return hash(0).add(words...) }

func (h hash) add(words ...uint64) hash {
	for _, w := range words {
		x := (uint64(h) ^ w) * 0x9e3779b185ebca87
		x ^= x >> 29
		x *= 0xc2b2ae3d27d4eb4f
		h = hash(x ^ x>>32 + 0x165667b19e3779f9)
	}
	return h
}
