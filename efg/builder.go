package efg

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// DefaultDemote is the number of nodes that a site may have before a word is demoted.
const DefaultDemote = 8

// Input is one event for a Builder.
type Input struct {
	// Words of the event; the slot word, if any, holds the slot itself.
	Words []uint64
	// Vecs are the contents of the vec words that are not constants.
	Vecs []VecContent
}

// VecContent is the content of a vec word.
type VecContent struct {
	Word  int // index into Input.Words
	Elems []uint64
}

// Definitions holds a process's definitions, in order, one for each word.
type Definitions struct {
	List  []Def
	index map[uint64]int
}

// Add appends a definition unless its word has one.
func (d *Definitions) Add(def Def) {
	if _, ok := d.index[def.Word]; ok {
		return
	}
	if d.index == nil {
		d.index = map[uint64]int{}
	}
	d.index[def.Word] = len(d.List)
	d.List = append(d.List, def)
}

// Builder makes the event flow graph of one stream, event by event. It is the Go counterpart of
// hook/shim/core_graph.c: the same events yield the same graph.
type Builder struct {
	defs   *Definitions
	sites  siteTable
	nodes  []*buildNode
	index  map[uint64][]int // by hash
	cur    int              // node of the last event, -1 before the first
	events uint64
	hash   uint64
	thread uint32
	totals bool
	begun  int // nodes that AddAt has begun
}

type buildNode struct {
	words  []uint64
	mask   uint64
	hash   uint64
	dead   bool
	edges  []*buildEdge
	byTo   map[int]*buildEdge
	cur    *buildEdge
	run    uint64
	runs   *seq.Writer
	counts *seq.Writer
	attrs  []buildAttr
	slots  []uint64 // used ones, as bits
	number int
}

type buildEdge struct {
	to, index    int
	runs, total  uint64
	count, fixed uint64
	varies       bool
}

type buildAttr struct {
	word          int
	form          signature.Form
	values, elems *seq.Writer
}

// NewBuilder returns a builder for one thread. It adds the arrays that remain in signatures to
// defs. demote is the maximum number of nodes at a site, normally DefaultDemote.
func NewBuilder(thread uint32, demote int, defs *Definitions) *Builder {
	return &Builder{
		defs: defs, thread: thread, cur: -1, index: map[uint64][]int{},
		sites: siteTable{demote: demote, sites: map[siteKey]*site{}, calls: map[callKey]*call{}},
	}
}

// CountPolls makes the builder only count, at separate nodes, polls that find nothing from then
// on.
func (b *Builder) CountPolls() { b.totals = true }

// Add appends an event. It rejects an event whose header does not state its number of words.
func (b *Builder) Add(e Input) error {
	if b.totals && signature.FoundNothing(e.Words) {
		return b.count(e)
	}
	to, err := b.node(e)
	if err == nil {
		b.enter(to, e)
	}
	return err
}

// count counts a poll.
func (b *Builder) count(e Input) error {
	if err := b.check(e); err != nil {
		return err
	}
	e.Words = slices.Clone(e.Words)
	e.Words[0] = uint64(signature.Header(e.Words[0]).AsCounted())
	b.nodes[b.find(e)].run++
	return nil
}

func (b *Builder) check(e Input) error {
	if n := signature.Header(e.Words[0]).Words(); n != len(e.Words) || n < 3 || n > signature.MaxWords {
		return fmt.Errorf("event %d: %d words, header says %d", b.events, len(e.Words), n)
	}
	return nil
}

// node returns the node of an event, creating it if it is new.
func (b *Builder) node(e Input) (int, error) {
	if err := b.check(e); err != nil {
		return 0, err
	}
	if to := b.next(e.Words); to >= 0 {
		return to, nil
	}
	return b.find(e), nil
}

// enter appends an event of the node with number to.
func (b *Builder) enter(to int, e Input) {
	if b.cur >= 0 {
		b.nodes[b.cur].step(to)
	}
	n := b.nodes[to]
	h := Roll(b.hash, n.hash)
	for i := range n.attrs {
		b.pushAttr(&n.attrs[i], e)
		h = Roll(h, e.Words[n.attrs[i].word])
	}
	b.hash, b.cur = h, to
	b.events++
}

// next returns the node that the current branch run leads to if the event belongs to it,
// otherwise -1.
func (b *Builder) next(words []uint64) int {
	if b.cur < 0 || b.nodes[b.cur].cur == nil {
		return -1
	}
	to := b.nodes[b.cur].cur.to
	if n := b.nodes[to]; n.dead || !n.matches(words) {
		return -1
	}
	return to
}

func (n *buildNode) matches(words []uint64) bool {
	if len(words) != len(n.words) {
		return false
	}
	for i, w := range words {
		if w != n.words[i] && n.mask>>i&1 == 0 {
			return false
		}
	}
	return true
}

// find returns the node of an event by its signature, creating it if it is new.
func (b *Builder) find(e Input) int {
	for {
		mask := b.sites.mask(e.Words)
		words := slices.Clone(e.Words)
		for m := mask; m != 0; m &= m - 1 {
			words[bits.TrailingZeros64(m)] = 0
		}
		hash := HashWords(words)
		for _, i := range b.index[hash] {
			if n := b.nodes[i]; !n.dead && n.mask == mask && slices.Equal(n.words, words) {
				return i
			}
		}
		if !b.sites.makeRoom(e.Words) {
			return b.make(e, words, mask, hash)
		}
	}
}

func (b *Builder) make(e Input, words []uint64, mask, hash uint64) int {
	for _, v := range e.Vecs {
		if mask>>v.Word&1 == 0 && !signature.IsConst(e.Words[v.Word]) {
			b.defs.Add(Def{Kind: DefVec, Word: e.Words[v.Word], Words: slices.Clone(v.Elems)})
		}
	}
	n := b.newNode(words, mask, hash)
	b.sites.addNode(e.Words, n)
	b.nodes = append(b.nodes, n)
	b.index[hash] = append(b.index[hash], n.number)
	return n.number
}

// newNode returns the node with the next number.
func (b *Builder) newNode(words []uint64, mask, hash uint64) *buildNode {
	n := &buildNode{words: words, mask: mask, hash: hash, byTo: map[int]*buildEdge{}, number: len(b.nodes)}
	for m := mask; m != 0 && !isCounted(words); m &= m - 1 {
		a := buildAttr{word: bits.TrailingZeros64(m), values: seq.NewWriter(true)}
		if a.form = signature.Header(words[0]).Form(a.word); a.form == signature.VecForm {
			a.elems = seq.NewWriter(true)
		}
		n.attrs = append(n.attrs, a)
	}
	return n
}

func (b *Builder) pushAttr(a *buildAttr, e Input) {
	w := e.Words[a.word]
	switch a.form {
	case signature.VecForm:
		i := slices.IndexFunc(e.Vecs, func(v VecContent) bool { return v.Word == a.word })
		if signature.IsConst(w) || i < 0 {
			a.values.Push(b.identValue(w))
			return
		}
		a.values.Push(uint64(len(e.Vecs[i].Elems)) << 1)
		for _, x := range e.Vecs[i].Elems {
			a.elems.Push(x)
		}
	case signature.IdentForm:
		a.values.Push(b.identValue(w))
	default:
		a.values.Push(w)
	}
}

// identValue is the form in which a demoted identity word is stored: twice the number of its
// definition, or twice a constant's number plus one.
func (b *Builder) identValue(w uint64) uint64 {
	if signature.IsConst(w) {
		return (w&^signature.ConstBit)<<1 | 1
	}
	b.defs.Add(Def{Kind: DefUnknown, Word: w})
	return uint64(b.defs.index[w]) << 1
}

// step records a step from n to the node with number to.
func (n *buildNode) step(to int) {
	e := n.byTo[to]
	if e == nil {
		e = &buildEdge{to: to, index: len(n.edges)}
		n.edges = append(n.edges, e)
		n.byTo[to] = e
	}
	if e == n.cur {
		n.run++
		return
	}
	if old := n.cur; old != nil {
		n.closeRun(old)
		if n.runs == nil {
			n.runs = seq.NewWriter(false)
			n.runs.Push(uint64(old.index))
		}
		n.runs.Push(uint64(e.index))
	}
	n.cur, n.run = e, 1
}

// closeRun closes the current run, which belongs to e.
func (n *buildNode) closeRun(e *buildEdge) {
	if e.runs == 0 {
		e.count = n.run
	}
	e.varies = e.varies || e.count != n.run
	if e.varies {
		if n.counts == nil {
			n.counts = seq.NewWriter(false)
		}
		n.counts.Push(n.run)
	} else {
		e.fixed++
	}
	e.runs++
	e.total += n.run
}

// Stream returns the graph of the events so far. More can be added afterwards.
func (b *Builder) Stream() (*Stream, error) {
	o := OpenStream{Thread: b.thread, Events: b.events, Hash: b.hash, Last: uint32(max(b.cur, 0))}
	for _, n := range b.nodes {
		o.Nodes = append(o.Nodes, n.open())
	}
	return o.Close()
}

func (n *buildNode) open() OpenNode {
	o := OpenNode{Words: n.words, Mask: n.mask, Cur: -1, Run: n.run}
	if n.cur != nil {
		o.Cur = n.cur.index
	}
	if n.runs != nil {
		o.Runs = n.runs.Seq()
	}
	if n.counts != nil {
		o.Counts = n.counts.Seq()
	}
	for _, e := range n.edges {
		o.Edges = append(o.Edges, OpenEdge{To: uint32(e.to), Runs: e.runs, Total: e.total, Count: e.count, Fixed: e.fixed})
	}
	for _, a := range n.attrs {
		oa := Attr{Values: a.values.Seq()}
		if a.elems != nil {
			oa.Elems = a.elems.Seq()
		}
		o.Attrs = append(o.Attrs, oa)
	}
	return o
}
