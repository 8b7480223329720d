package efg

import (
	"math"
	"slices"

	"github.com/efg-tools/efg/signature"
)

// Step is a part of a folded walk: an event, or a part of the stream that comes
// several times, one after the other.
type Step struct {
	Node  int    // of an event
	Value int    // of an event: number of its words, see Fold; 0: those of its node
	Times uint64 // how often Body comes; 0: this is an event
	Body  []Step
}

// Fold goes through the events of a stream in order, as a Walker does, but what
// repeats is gone through a few times, not as often as it comes: its cost grows
// with the graph and the code of its sequences.
//
// A repeat is found where the walk comes by a node and everything that decides
// what follows stands as it stood when it came by before: branch runs, their
// lengths and the attribute streams that matter are in repeats of theirs that
// have gone on by whole periods. Then the events since then come again as often as
// the shortest of these repeats lasts. Nothing is guessed.
type Fold struct {
	walk    *Walker
	matters []bool // nodes with values that matter
	heads   []*foldHead
	steps   []Step
	words   [][]uint64 // by value
	vecs    []map[int][]uint64
	index   map[uint64]int
	emit    func([]Step) error
}

// foldSteps is how many steps are kept to be folded.
const foldSteps = 1 << 16

// NewFold prepares a folded walk. masks tells, for each node, which words matter if
// they are demoted: events that differ in others are the same.
func NewFold(s *Stream, defs []Def, masks []uint64) *Fold {
	f := &Fold{walk: s.Walk(defs), matters: make([]bool, len(s.Nodes)), words: [][]uint64{nil}, vecs: []map[int][]uint64{nil}, index: map[uint64]int{}}
	for i := range f.walk.nodes {
		n := &f.walk.nodes[i]
		n.attrs = slices.DeleteFunc(n.attrs, func(a walkAttr) bool { return masks[i]>>a.word&1 == 0 })
		n.hasAttr = len(n.attrs) > 0
		f.matters[i] = n.hasAttr
	}
	f.heads = make([]*foldHead, len(s.Nodes))
	for _, k := range loopHeads(s) {
		h := &foldHead{}
		for i, age := range foldAges {
			h.marks[i].next = age / 2
		}
		f.heads[k] = h
	}
	return f
}

// Words are the words of an event: those that matter are filled in, arrays by
// the hash of their elements; other demoted words are 0.
func (f *Fold) Words(s *Step) []uint64 {
	if s.Value == 0 {
		return f.walk.nodes[s.Node].words
	}
	return f.words[s.Value]
}

// Vec is the content of array word i of an event, if it is one that matters and is
// demoted; else nil.
func (f *Fold) Vec(s *Step, i int) []uint64 { return f.vecs[s.Value][i] }

// Each calls emit for the steps of the stream, in order and some at a time. They
// stay valid.
func (f *Fold) Each(emit func([]Step) error) error {
	f.emit = emit
	for f.walk.Next() {
		k := f.walk.cur
		step := Step{Node: k}
		if f.matters[k] {
			step.Value = f.value()
		}
		if f.walk.err != nil {
			break
		}
		f.steps = append(f.steps, step)
		if h := f.heads[k]; h != nil {
			f.pass(h)
		}
		if len(f.steps) >= foldSteps {
			if err := f.flush(); err != nil {
				return err
			}
		}
	}
	if f.walk.err != nil {
		return f.walk.err
	}
	return f.flush()
}

func (f *Fold) flush() error {
	steps := f.steps
	f.steps = nil
	f.forget(-1)
	if len(steps) == 0 {
		return nil
	}
	return f.emit(steps)
}

// forget drops what heads remember of places behind a step.
func (f *Fold) forget(behind int) {
	for _, h := range f.heads {
		for i := 0; h != nil && i < len(h.marks); i++ {
			m := &h.marks[i]
			m.known = m.known && m.at <= behind
		}
	}
}

// value interns the words of the current event.
func (f *Fold) value() int {
	w := f.walk.Words()
	if w == nil {
		return 0
	}
	h := HashWords(w)
	if v, ok := f.index[h]; ok && slices.Equal(f.words[v], w) {
		return v
	}
	f.words = append(f.words, slices.Clone(w))
	var vecs map[int][]uint64
	for _, a := range f.walk.nodes[f.walk.cur].attrs {
		if a.form == signature.VecForm && a.raw&1 == 0 {
			if vecs == nil {
				vecs = map[int][]uint64{}
			}
			vecs[a.word] = slices.Clone(a.vec)
		}
	}
	f.vecs = append(f.vecs, vecs)
	f.index[h] = len(f.words) - 1
	return len(f.words) - 1
}

// loopHeads are the nodes that a step leads back to.
func loopHeads(s *Stream) []int {
	const (
		unseen = iota
		open
		done
	)
	state := make([]uint8, len(s.Nodes))
	head := map[int]bool{}
	type frame struct{ node, edge int }
	var stack []frame
	if at := s.Start(); at >= 0 {
		stack = append(stack, frame{at, 0})
		state[at] = open
	}
	for len(stack) > 0 {
		t := &stack[len(stack)-1]
		edges := s.Nodes[t.node].Edges
		if t.edge == len(edges) {
			state[t.node] = done
			stack = stack[:len(stack)-1]
			continue
		}
		to := int(edges[t.edge].To)
		t.edge++
		switch {
		case to >= len(s.Nodes):
		case state[to] == open:
			head[to] = true
		case state[to] == unseen:
			state[to] = open
			stack = append(stack, frame{to, 0})
		}
	}
	var list []int
	for k := range head {
		list = append(list, k)
	}
	return list
}

// foldHead is a node where repeats are looked for. It remembers how the walk stood
// at some visits, and later ones are compared with these. A mark is exchanged for a
// newer one after so many visits as foldAges says: a repeat of n visits is found
// by the first mark that lasts that long.
type foldHead struct {
	visits, found uint64 // found: the visit where a repeat was found last
	marks         [len(foldAges)]foldMark
}

var foldAges = [...]uint64{2, 16, 128, 1024, 8192, 65536}

// foldPatience is for how many visits without a repeat, in terms of a mark's age,
// the mark is kept up: where nothing repeats, marks must not cost much.
const foldPatience = 512

// foldMark is how a walk stood.
type foldMark struct {
	known bool
	next  uint64 // visit after which there will be a newer one
	at    int    // number of steps
	seq   uint64
	nodes []nodeMark
	first int // the node where the comparison failed last time
}

// nodeMark is how a node stands.
type nodeMark struct {
	left         uint64
	to           int
	runs, counts seqMark
	edges        []edgeMark
	attrs        []attrMark
}

type edgeMark struct{ begun, fixed uint64 }

type attrMark struct{ values, elems seqMark }

// pass looks for a repeat that begins at a visit that h remembers.
func (f *Fold) pass(h *foldHead) {
	h.visits++
	for i := range h.marks {
		if m := &h.marks[i]; m.known {
			if k := f.again(m); k > 0 {
				f.jump(m, k)
				h.found = h.visits
				return
			}
		}
	}
	for i, age := range foldAges {
		if m := &h.marks[i]; h.visits >= m.next && age*foldPatience >= h.visits-h.found {
			m.set(f)
			m.next = h.visits + age
		}
	}
}

func (m *foldMark) set(f *Fold) {
	m.known, m.at, m.seq = true, len(f.steps), f.walk.seq
	if m.nodes == nil {
		m.nodes = make([]nodeMark, len(f.walk.nodes))
	}
	for i := range f.walk.nodes {
		m.nodes[i].set(&f.walk.nodes[i])
	}
}

func (m *nodeMark) set(n *walkNode) {
	m.left, m.to = n.left, n.to
	if !n.single {
		m.runs.set(&n.runs)
		m.counts.set(&n.counts)
		m.edges = m.edges[:0]
		for i := range n.edges {
			m.edges = append(m.edges, edgeMark{n.edges[i].begun, n.edges[i].fixed})
		}
	}
	m.attrs = slices.Grow(m.attrs[:0], len(n.attrs))[:len(n.attrs)]
	for i := range n.attrs {
		m.attrs[i].values.set(&n.attrs[i].values)
		m.attrs[i].elems.set(&n.attrs[i].elems)
	}
}

// again is how often the events since a mark come again.
func (f *Fold) again(h *foldMark) uint64 {
	period := f.walk.seq - h.seq
	if period == 0 {
		return 0
	}
	times := (f.walk.stream.Events - f.walk.seq) / period
	nodes := f.walk.nodes
	for i := range nodes {
		k := (h.first + i) % len(nodes)
		if times = min(times, h.nodes[k].again(&nodes[k])); times == 0 {
			h.first = k
			return 0
		}
	}
	return times
}

func (m *nodeMark) again(n *walkNode) uint64 {
	times := m.stepsAgain(n)
	for i := range n.attrs {
		if times == 0 {
			return 0
		}
		times = min(times, m.attrs[i].values.again(&n.attrs[i].values), m.attrs[i].elems.again(&n.attrs[i].elems))
	}
	return times
}

// stepsAgain is how often the steps from a node since the mark come again.
func (m *nodeMark) stepsAgain(n *walkNode) uint64 {
	if n.single || m.runs.left == n.runs.Left() {
		if m.left < n.left || m.left > n.left && m.to != n.to {
			return 0
		}
		if used := m.left - n.left; used > 0 {
			return n.left / used
		}
		return math.MaxUint64
	}
	if m.left != n.left || m.to != n.to {
		return 0
	}
	times := min(m.runs.again(&n.runs), m.counts.again(&n.counts))
	for i := range n.edges {
		begun, fixed := n.edges[i].begun-m.edges[i].begun, m.edges[i].fixed-n.edges[i].fixed
		switch {
		case fixed == 0:
		case fixed != begun:
			return 0
		default:
			times = min(times, n.edges[i].fixed/fixed)
		}
	}
	return times
}

// jump passes what comes k times again, and folds the steps since the mark.
func (f *Fold) jump(h *foldMark, k uint64) {
	period := f.walk.seq - h.seq
	for i := range f.walk.nodes {
		h.nodes[i].skip(&f.walk.nodes[i], k)
	}
	f.walk.seq += k * period
	body := slices.Clone(f.steps[h.at:])
	f.steps = append(f.steps[:h.at], Step{Times: k + 1, Body: body})
	f.forget(h.at)
}

// skip passes k times what a node has used since the mark.
func (m *nodeMark) skip(n *walkNode, k uint64) {
	if n.single || m.runs.left == n.runs.Left() {
		n.left -= k * (m.left - n.left)
	} else {
		n.runs.skip(k * m.runs.used(&n.runs))
		n.counts.skip(k * m.counts.used(&n.counts))
		for i := range n.edges {
			e := &n.edges[i]
			fixed := m.edges[i].fixed - e.fixed
			e.begun += k * (e.begun - m.edges[i].begun)
			e.fixed -= k * fixed
		}
	}
	for i := range n.attrs {
		a := &n.attrs[i]
		a.values.skip(k * m.attrs[i].values.used(&a.values))
		a.elems.skip(k * m.attrs[i].elems.used(&a.elems))
	}
}

// seqMark is how the iteration of a sequence stands.
type seqMark struct {
	left, after uint64
	prev        uint64
	code        int
	rem0, d0    uint64
	rem, d      [SeqLevels]uint64
	rings       ringState
}

// foldRing bounds the rings that marks keep copies of: without, only repeats of
// values are found, not those of repeats.
const foldRing = 1 << 10

func (m *seqMark) set(it *SeqIter) {
	*m = seqMark{left: it.Left(), after: it.after, prev: it.prev, code: len(it.code), rem0: it.rem0, d0: it.d0}
	deep := false
	for l := 1; l < SeqLevels; l++ {
		m.rem[l], m.d[l] = it.upper[l].rem, it.upper[l].d
		deep = deep || it.upper[l].rem > 0
	}
	if deep && len(it.ring0) <= foldRing {
		m.rings = it.rings(SeqLevels - 1)
	}
}

// used is how many values have come since the mark.
func (m *seqMark) used(it *SeqIter) uint64 { return m.left - it.Left() }

// again is how often the values since the mark come again, at least.
func (m *seqMark) again(it *SeqIter) uint64 {
	if m.used(it) == 0 {
		return math.MaxUint64
	}
	if m.after != it.after || m.code != len(it.code) || it.delta && m.prev != it.prev {
		return 0
	}
	level := SeqLevels - 1
	for level > 0 && m.rem[level] == it.upper[level].rem {
		level--
	}
	if level == 0 {
		return repeats(m.rem0, it.rem0, m.d0, it.d0)
	}
	u := &it.upper[level]
	if m.rem0 != it.rem0 || it.rem0 > 0 && m.d0 != it.d0 || m.rings.values == nil {
		return 0
	}
	for l := 1; l < level; l++ {
		if v := &it.upper[l]; m.rem[l] != v.rem || v.rem > 0 && m.d[l] != v.d {
			return 0
		}
	}
	times := repeats(m.rem[level], u.rem, m.d[level], u.d)
	if times == 0 || !it.sameRings(m.rings, level-1) {
		return 0
	}
	return times
}

// repeats is how often what a repeat has given comes again, if it is still the
// same repeat, and has gone on by whole periods.
func repeats(before, now, d, dNow uint64) uint64 {
	if before <= now || d != dNow || d == 0 || (before-now)%d != 0 {
		return 0
	}
	return now / (before - now)
}
