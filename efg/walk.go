package efg

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// Walker iterates over a stream's events in order. It needs memory for the graph, not for the
// events. The slices it returns are valid until the next call of Next.
type Walker struct {
	stream *Stream
	defs   []Def
	vecs   map[uint64][]uint64 // content of vec words in signatures
	nodes  []walkNode
	cur    int
	seq    uint64 // events returned so far
	words  []uint64
	err    error
}

type walkNode struct {
	left    uint64 // steps left in the current run
	to      int
	single  bool
	edges   []walkEdge
	runs    seq.Iter
	counts  seq.Iter
	attrs   []walkAttr
	words   []uint64
	hasAttr bool
}

type walkEdge struct {
	to           int
	count, fixed uint64 // the next fixed runs have length count
	begun, steps uint64 // number of runs, and the sum of their lengths
}

type walkAttr struct {
	word   int
	form   signature.Form
	raw    uint64 // the value as stored
	values seq.Iter
	elems  seq.Iter
	vec    []uint64
}

// maxVec bounds the arrays of a walk, because a small file can hold a sequence that expands
// without bound. No MPI call takes arrays that long.
const maxVec = 1 << 26

// ErrWalk is wrapped by errors that end a walk.
var ErrWalk = errors.New("broken graph")

// Walk starts at the stream's first event. defs are the process's definitions.
func (s *Stream) Walk(defs []Def) *Walker {
	return s.walk(defs, func(int) uint64 { return ^uint64(0) })
}

// WalkWords is Walk without demoted words but those that masks, one for each node, name: what it returns of
// the others is undefined.
func (s *Stream) WalkWords(defs []Def, masks []uint64) *Walker {
	return s.walk(defs, func(i int) uint64 { return masks[i] })
}

// walk starts at the first event; wanted is a mask of the demoted words of a node that are read. All nodes
// share the memory of edges and of words.
func (s *Stream) walk(defs []Def, wanted func(node int) uint64) *Walker {
	w := &Walker{stream: s, defs: defs, nodes: make([]walkNode, len(s.Nodes)), cur: -1,
		words: make([]uint64, 0, signature.MaxWords)}
	edges, attrs := 0, 0
	for i := range s.Nodes {
		edges += len(s.Nodes[i].Edges)
		attrs += bits.OnesCount64(s.Nodes[i].Mask & wanted(i))
	}
	edgeRoom, attrRoom := make([]walkEdge, edges), make([]walkAttr, 0, attrs)
	for i := range s.Nodes {
		n, from := &w.nodes[i], &s.Nodes[i]
		n.edges, edgeRoom = edgeRoom[:len(from.Edges):len(from.Edges)], edgeRoom[len(from.Edges):]
		n.open(from)
		first := len(attrRoom)
		attrRoom = appendAttrs(attrRoom, from, wanted(i))
		n.attrs = attrRoom[first:len(attrRoom):len(attrRoom)]
		n.hasAttr = len(n.attrs) > 0
	}
	return w
}

// open begins at a node's first branch run. The length of edges is the number of edges.
func (n *walkNode) open(from *Node) {
	n.words = from.Words
	if from.Runs != nil {
		n.runs = from.Runs.Iter()
	}
	if from.Counts != nil {
		n.counts = from.Counts.Iter()
	}
	for i, e := range from.Edges {
		n.edges[i] = walkEdge{to: int(e.To), count: e.Count, fixed: e.Fixed}
	}
	if len(n.edges) == 1 {
		n.single, n.left, n.to = true, from.Edges[0].Weight, n.edges[0].to
	}
}

// appendAttrs adds the demoted words of a node that are wanted.
func appendAttrs(to []walkAttr, from *Node, wanted uint64) []walkAttr {
	mask := from.Mask
	for _, a := range from.Attrs {
		i := bits.TrailingZeros64(mask)
		mask &= mask - 1
		if wanted>>i&1 == 0 {
			continue
		}
		to = append(to, walkAttr{word: i, form: signature.Header(from.Words[0]).Form(i), values: a.Values.Iter(), elems: a.Elems.Iter()})
	}
	return to
}

// Next moves to the next event; false at the end or on an error.
func (w *Walker) Next() bool {
	if !w.step() {
		return false
	}
	if n := &w.nodes[w.cur]; n.hasAttr {
		return w.nextAttrs(n)
	}
	return true
}

// step moves to the node of the next event, whose attributes have not been read yet.
func (w *Walker) step() bool {
	if w.seq == w.stream.Events || w.err != nil {
		return false
	}
	if w.cur < 0 {
		if w.cur = start(w.stream.Nodes); w.cur < 0 {
			return w.fail("no nodes")
		}
	} else {
		n := &w.nodes[w.cur]
		if n.left == 0 && !w.nextRun(n) {
			return false
		}
		n.left--
		w.cur = n.to
	}
	w.seq++
	return true
}

// nextRun begins the next branch run at n.
func (w *Walker) nextRun(n *walkNode) bool {
	if n.single {
		return w.fail("more steps than the edge's weight")
	}
	i, ok := n.runs.Next()
	if !ok || i >= uint64(len(n.edges)) {
		return w.early("branch runs", n.runs.Err())
	}
	e := &n.edges[i]
	e.begun++
	n.to, n.left = e.to, e.count
	if e.fixed > 0 {
		e.fixed--
	} else {
		n.left, ok = n.counts.Next()
	}
	if !ok || n.left == 0 {
		return w.early("run lengths", n.counts.Err())
	}
	e.steps += n.left
	return true
}

func (w *Walker) nextAttrs(n *walkNode) bool {
	for i := range n.attrs {
		a := &n.attrs[i]
		v, ok := a.values.Next()
		if !ok {
			return w.early("attribute values", a.values.Err())
		}
		a.raw = v
		if a.form == signature.VecForm && v&1 == 0 && !w.nextVec(a, v>>1) {
			return false
		}
	}
	return true
}

func (w *Walker) nextVec(a *walkAttr, n uint64) bool {
	if n > a.elems.Left() {
		return w.fail("vector elements end early")
	}
	if n > maxVec {
		return w.fail(fmt.Sprintf("vector of %d elements", n))
	}
	a.vec = a.vec[:0]
	for range n {
		x, ok := a.elems.Next()
		if !ok {
			return w.early("vector elements", a.elems.Err())
		}
		a.vec = append(a.vec, x)
	}
	return true
}

// early fails for a sequence that ends too soon, or is broken.
func (w *Walker) early(what string, err error) bool {
	if err == nil {
		return w.fail(what + " end early")
	}
	return w.fail(fmt.Sprintf("%s end early: %v", what, err))
}

func (w *Walker) fail(cause string) bool {
	w.err = fmt.Errorf("%w: thread %d, event %d, node %d: %s", ErrWalk, w.stream.Thread, w.seq, w.cur, cause)
	return false
}

// Err is the error that ended the walk, if any.
func (w *Walker) Err() error { return w.err }

// Seq is the number of the current event, from 0.
func (w *Walker) Seq() uint64 { return w.seq - 1 }

// Node is the number of the current event's node.
func (w *Walker) Node() int { return w.cur }

// Words returns the current event's words, demoted ones filled in. An identity
// word whose definition is missing ends the walk; the result is then nil.
func (w *Walker) Words() []uint64 {
	n := &w.nodes[w.cur]
	if !n.hasAttr {
		return n.words
	}
	w.words = append(w.words[:0], n.words...)
	for i := range n.attrs {
		a := &n.attrs[i]
		v, ok := w.value(a)
		if !ok {
			return nil
		}
		w.words[a.word] = v
	}
	return w.words
}

// value converts a stored attribute value into the word.
func (w *Walker) value(a *walkAttr) (uint64, bool) {
	switch {
	case a.form == signature.ScalarForm || a.form == signature.SlotForm:
		return a.raw, true
	case a.raw&1 != 0:
		return signature.ConstBit | a.raw>>1, true
	case a.form == signature.VecForm:
		return signature.Ident(signature.Hash(a.vec...)), true
	case a.raw>>1 < uint64(len(w.defs)):
		return w.defs[a.raw>>1].Word, true
	}
	return 0, w.fail(fmt.Sprintf("word %d: definition %d of %d", a.word, a.raw>>1, len(w.defs)))
}

// Attr returns the word of attribute stream k of the current node for the current event, and
// its index in the event's words.
func (w *Walker) Attr(k int) (index int, word uint64) {
	a := &w.nodes[w.cur].attrs[k]
	word, _ = w.value(a)
	return a.word, word
}

// Stored returns the value of attribute stream k of the current node for the current event as
// it is stored, and the elements of an array.
func (w *Walker) Stored(k int) (value uint64, elems []uint64) {
	a := &w.nodes[w.cur].attrs[k]
	if a.form != signature.VecForm || a.raw&1 != 0 {
		return a.raw, nil
	}
	return a.raw, a.vec
}

// Vec returns the content of vec word i of the current event, nil if the word
// is a constant.
func (w *Walker) Vec(i int) []uint64 {
	n := &w.nodes[w.cur]
	for k := range n.attrs {
		if a := &n.attrs[k]; a.word == i {
			if a.raw&1 != 0 {
				return nil
			}
			return a.vec
		}
	}
	return w.defined(n.words[i])
}

func (w *Walker) defined(word uint64) []uint64 {
	if w.vecs == nil {
		w.vecs = map[uint64][]uint64{}
		for _, d := range w.defs {
			if d.Kind == DefVec {
				w.vecs[d.Word] = d.Words
			}
		}
	}
	return w.vecs[word]
}

// visits returns the number of events at each node so far, for a walk that began at the start.
func (w *Walker) visits() []uint64 {
	v := make([]uint64, len(w.nodes))
	v[start(w.stream.Nodes)] = 1
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.single {
			v[n.to] += w.stream.Nodes[i].Edges[0].Weight - n.left
			continue
		}
		left := n.left
		for k := range n.edges {
			e := &n.edges[k]
			v[e.to] += e.steps
		}
		if len(n.edges) > 0 && left > 0 {
			v[n.to] -= left
		}
	}
	return v
}

// Verify walks the stream and compares the number of events, the rolling hash and the positions
// of the checkpoints with the stored ones. A nil error proves that the sequence is the one the
// recorder saw.
func (s *Stream) Verify(defs []Def) error {
	h, err := s.WalkHash(defs)
	if err == nil && h != s.Hash {
		err = fmt.Errorf("%w: thread %d: hash of the events is %016x, recorded %016x", ErrWalk, s.Thread, h, s.Hash)
	}
	return err
}

// WalkHash walks the stream and returns the rolling hash of its events.
func (s *Stream) WalkHash(defs []Def) (uint64, error) {
	hashes := make([]uint64, len(s.Nodes))
	for i := range s.Nodes {
		hashes[i] = HashWords(s.Nodes[i].Words)
	}
	var h, n uint64
	w := s.Walk(defs)
	checkpoints := newCheckpointCheck(s)
	for w.Next() {
		node := &w.nodes[w.cur]
		h = Roll(h, hashes[w.cur])
		for i := range node.attrs {
			v, ok := w.value(&node.attrs[i])
			if !ok {
				return 0, w.err
			}
			h = Roll(h, v)
		}
		if n++; n == checkpoints.next {
			checkpoints.pass(w)
		}
	}
	if w.err == nil {
		w.err = checkpoints.compare(s)
	}
	if w.err == nil && n != s.Events {
		w.err = fmt.Errorf("%w: thread %d: %d events, recorded %d", ErrWalk, s.Thread, n, s.Events)
	}
	return h, w.err
}
