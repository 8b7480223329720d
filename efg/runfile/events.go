package runfile

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/efg-tools/efg/efg/mix"
	"github.com/efg-tools/efg/signature"
)

// An event block holds groups of graphs as the events of their streams, one after the other,
// coded by package mix: each is predicted from what came before in the stream and in those of
// other ranks, so that a rank that resembles another takes next to nothing. The graphs follow
// from the events. For irregular programs an event block is smaller than the columns of a block
// of groups, but the time to read it grows with the events.

// Bounds of an event block: maxBlockEvents of the events of all its streams, maxBlockValues of
// the values and elements of their attributes.
const (
	maxBlockEvents = 1 << 21
	maxBlockValues = 1 << 23
)

// eventNode is what the events of a node have in common.
type eventNode struct {
	header, mask uint64
	words        []eventWord // those that are not demoted, from word 1 on
	forms        []uint8     // of its attribute streams: forms of values, and of elements
	again        uint64      // number of earlier nodes of its stream with the same content
	attrs        []eventAttr
	key          uint64 // of all this
	place        uint64 // see placeOf
}

// eventWord is a token, or a word that has none.
type eventWord struct {
	token, wide uint64
	alt         uint64 // another token that stands for it; the same if there is none
	index       int
}

// eventAttr is an attribute stream, with its latest values in all streams.
type eventAttr struct {
	word        int
	form        signature.Form
	tag         bool
	where, site uint64 // contexts: of the word at its node, and at its callsite
	last, elems [3]uint64
	array       []uint64 // the last vector
	at          *siteValues
}

// siteValues are the last values of a word at a callsite.
type siteValues struct{ last, elem uint64 }

// eventGraph is a stream as nodes and events.
type eventGraph struct {
	nodes   []*eventNode
	counted []pollNode
	visits  []uint32 // of each event: its node
	values  []uint64 // of the events' attributes, vectors followed by their elements
	list    *defList // of its process, if words are as in the block
}

// pollNode is a node of counted polls: its number, and how many there were.
type pollNode struct {
	number, polls uint64
	node          *eventNode
}

var errEvents = errors.New("broken events")

// eventCoder encodes or decodes graphs: a decoder is given none, and returns what was coded.
type eventCoder struct {
	c            *mix.Coder
	scratch      []uint64 // values of the current event
	err          error
	known        []*eventNode
	byKey        map[uint64]int
	sites        map[uint64]*eventNode // last new node of each
	atSites      map[uint64]*siteValues
	headers      []uint64
	headerNumber map[uint64]uint64  // in headers, and 1
	classes      map[uint64][]uint8 // of a header: what kinds its events' words are of
	total        int                // events of the block
	defs         defOrder
	paths        bool // call paths are coded in their own way
	byPath       bool // and graphs name them by their numbers in the block

	// All events so far, of all streams.
	visits []uint32 // numbers in known
	first  []uint32 // of each event: its first value
	hashes []uint64
	values []uint64
	after  []uint32 // by hash of the last events: the event that followed them

	// Of the current stream.
	local       []int       // numbers in known of its nodes
	numberOf    map[int]int // the other way round
	likes       map[uint64]uint64
	lastHeaders [3]uint64 // of the last events
	before      [6]uint64 // nodes of the last events
	events      [4]uint64 // the last events with their values
	longer      uint64    // of more
	match       int       // predicted next event, -1: none
	matched     uint64    // how many were right
	tags        map[uint64]*[2]uint64
	newest      uint64                 // definition
	ofClass     [wordClasses][2]uint64 // the last two tokens of words of new nodes, different ones
	ident       uint64                 // the last one
	requests    requestOrder
	recent      recency
	list        *defList  // of its process
	newestPath  int       // number of its definition there
	places      [3]uint64 // of the last events
}

// recency has the nodes of a stream with a header in the order of their last events, the latest first.
type recency struct {
	first      map[uint64]int // by header: its number in the stream
	next, prev []int          // by number in the stream, -1: none
}

// add adds the stream's next node.
func (r *recency) add(header uint64) {
	k := len(r.next)
	r.next, r.prev = append(r.next, -1), append(r.prev, -1)
	r.push(k, header)
}

func (r *recency) push(k int, header uint64) {
	r.next[k], r.prev[k] = -1, -1
	if old, ok := r.first[header]; ok {
		r.next[k], r.prev[old] = old, k
	}
	r.first[header] = k
}

// used moves a node to the front.
func (r *recency) used(k int, header uint64) {
	if r.first[header] == k {
		return
	}
	if n := r.next[k]; n >= 0 {
		r.prev[n] = r.prev[k]
	}
	r.next[r.prev[k]] = r.next[k]
	r.push(k, header)
}

// maxRank bounds the search for a node by its rank, so that no file makes a reader search for long. Other nodes have
// maxRank and how far they are from the stream's end of nodes in place of a rank.
const maxRank = 256

// rank is the number of nodes with the header that were used after node k, and it.
func (r *recency) rank(k int, header uint64) uint64 {
	at := r.first[header]
	for n := uint64(1); n <= maxRank; n++ {
		if at == k {
			return n
		}
		at = r.next[at]
	}
	return maxRank + uint64(len(r.next)-k)
}

// at is the node of a rank; -1 if there is none.
func (r *recency) at(rank uint64, header uint64) int {
	k, ok := r.first[header]
	if !ok {
		return -1
	}
	if back := rank - maxRank; rank > maxRank {
		return len(r.next) - int(min(back, uint64(len(r.next))+1))
	}
	for ; rank > 1 && k >= 0; rank-- {
		k = r.next[k]
	}
	return k
}

func newEventCoder(c *mix.Coder) *eventCoder {
	return &eventCoder{c: c, byKey: map[uint64]int{}, sites: map[uint64]*eventNode{}, atSites: map[uint64]*siteValues{},
		headerNumber: map[uint64]uint64{}, defs: newDefOrder(), classes: map[uint64][]uint8{}, after: make([]uint32, 1<<afterBits)}
}

// afterBits is the number of bits of the hash that finds the predicted event.
const afterBits = 16

func (e *eventCoder) failf(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("%w: "+format, append([]any{errEvents}, args...)...)
	}
}

// Kinds of values, each with its own mixer.
const (
	kindNode         = iota
	kindWord         // kindWord + class of a word of a new node
	kindForm         = kindWord + wordClasses
	kindHeader       = kindForm + 1
	kindOld          = kindHeader + 1
	kindElem         = kindOld + 1
	kindValue        = kindElem + 4 // kindValue + 8 * form + word, up to 7
	kindDef          = kindValue + 32
	kindDefCount     = kindDef + 1
	kindDefText      = kindDefCount + 1
	kindDefElem      = kindDefText + 1
	kindDefWide      = kindDefElem + 1
	kindDefWord      = kindDefWide + 1 // kindDefWord + kind of definition, up to 11
	kindPathUp       = kindDefWord + 12
	kindPathRoot     = kindPathUp + 1
	kindPathSite     = kindPathRoot + 1
	kindPathModule   = kindPathSite + 1
	kindPathOffset   = kindPathModule + 1
	kindPathDistance = kindPathOffset + 1
	kindPathFar      = kindPathDistance + 1
	kindPathParent   = kindPathFar + 1
)

// Contexts, which distinguish what is otherwise equal.
const (
	ctxNode = 1 + iota
	ctxWord
	ctxValue
	ctxElem
	ctxWide
	ctxMask
	ctxForm
	ctxClass
	ctxEvents
	ctxCopy
	ctxCounted
	ctxOld
	ctxMembers
	ctxHeader
	ctxDef
)

// graph codes a stream.
func (e *eventCoder) graph(g *eventGraph) *eventGraph {
	encoding := e.c.Encoding()
	if !encoding {
		g = &eventGraph{}
	}
	n := int(min(e.c.Number(mix.Hash(ctxEvents), uint64(len(g.visits))), maxBlockEvents+1))
	if e.total += n; e.total > maxBlockEvents {
		e.failf("more than %d events", maxBlockEvents)
	}
	e.begin()
	e.visits, e.first, e.hashes = slices.Grow(e.visits, min(n, roomFor)), slices.Grow(e.first, min(n, roomFor)), slices.Grow(e.hashes, min(n, roomFor))
	e.values = slices.Grow(e.values, len(g.values))
	at := 0 // of g's values
	for i := 0; i < n && e.err == nil; i++ {
		if k := e.copied(g, i, n, at); k > 0 {
			for range k {
				from, to := e.spanOf(e.match)
				e.note(e.visits[e.match], e.hashes[e.match], e.values[from:to])
				e.match++
				at += int(to - from)
				if len(e.values) > maxBlockValues {
					e.failf("more than %d values", maxBlockValues)
					return g
				}
			}
			e.relearn(k)
			if i += k; i == n {
				break
			}
		}
		if e.err == nil {
			at += e.event(g, i, at)
		}
		if e.c.Overrun() || len(e.values) > maxBlockValues {
			e.failf("they do not end")
		}
	}
	if !encoding {
		if e.collect(g, n); e.byPath {
			g.list = e.list
		}
	}
	e.counted(g)
	return g
}

// collect stores the nodes and the n events of a decoded stream.
func (e *eventCoder) collect(g *eventGraph, n int) {
	for _, k := range e.local {
		g.nodes = append(g.nodes, e.known[k])
	}
	if e.err != nil {
		return
	}
	from := len(e.visits) - n
	for i := from; i < len(e.visits); i++ {
		g.visits = append(g.visits, uint32(e.numberOf[int(e.visits[i])]))
	}
	if n > 0 {
		g.values = e.values[e.first[from]:]
	}
}

// roomFor is the number of events for which space is allocated in advance.
const roomFor = 1 << 17

// begin begins a stream.
func (e *eventCoder) begin() {
	e.local, e.numberOf, e.likes = nil, map[int]int{}, map[uint64]uint64{}
	e.lastHeaders, e.before, e.events, e.longer = [3]uint64{}, [6]uint64{}, [4]uint64{}, 0
	e.match, e.matched = -1, 0
	e.tags, e.ident, e.newest = map[uint64]*[2]uint64{}, 0, 0
	e.ofClass = [wordClasses][2]uint64{}
	e.recent = recency{first: map[uint64]int{}}
	e.newestPath, e.places = -1, [3]uint64{}
	e.requests = requestOrder{number: map[uint64]int{}, at: -1}
}

// spanOf is the range of an event's values.
func (e *eventCoder) spanOf(i int) (from, to uint32) {
	to = uint32(len(e.values))
	if i+1 < len(e.first) {
		to = e.first[i+1]
	}
	return e.first[i], to
}

// note adds an event to those before.
func (e *eventCoder) note(node uint32, hash uint64, values []uint64) {
	e.first = append(e.first, uint32(len(e.values)))
	e.visits = append(e.visits, node)
	e.recent.used(e.numberOf[int(node)], e.known[node].header)
	e.hashes = append(e.hashes, hash)
	e.values = append(e.values, values...)
	copy(e.lastHeaders[1:], e.lastHeaders[:])
	e.lastHeaders[0] = e.known[node].header
	copy(e.places[1:], e.places[:])
	e.places[0] = e.known[node].place
	copy(e.before[1:], e.before[:])
	e.before[0] = e.known[node].key
	copy(e.events[1:], e.events[:])
	e.events[0] = hash
	e.longer = mix.Hash(e.longer>>8, hash)
}

// copyFrom is the number of correctly predicted events after which several are coded at once.
const copyFrom = 16

// copied codes how many of the events from i on, of n, are as predicted.
func (e *eventCoder) copied(g *eventGraph, i, n, at int) int {
	if e.match < 0 || e.matched < copyFrom {
		return 0
	}
	k := 0
	if e.c.Encoding() {
		k = e.alike(g, i, at)
	}
	k = int(e.c.Number(mix.Hash(ctxCopy, min(uint64(bits.Len64(e.matched)), 10)), uint64(k)))
	e.matched += uint64(k)
	if k < 0 || k > n-i {
		e.failf("%d events copied of %d", k, n-i)
		return 0
	}
	for j := range k {
		m := e.match + j
		if m >= len(e.visits) { // one of those that are copied: it was looked at
			break
		}
		if _, ok := e.numberOf[int(e.visits[m])]; !ok {
			e.failf("copied event of another stream's node")
			return 0
		}
	}
	return k
}

// alike counts the events from i on that are as predicted.
func (e *eventCoder) alike(g *eventGraph, i, at int) int {
	k, start := 0, at
	for ; i+k < len(g.visits); k++ {
		var node int
		var values []uint64
		if m := e.match + k; m < len(e.visits) {
			var ok bool
			if node, ok = e.numberOf[int(e.visits[m])]; !ok {
				return k
			}
			from, to := e.spanOf(m)
			values = e.values[from:to]
		} else { // an event of this stream that is copied, too
			back := i + m - len(e.visits)
			node = int(g.visits[back])
			values = g.values[start:]
			values = values[:e.known[e.local[node]].sizeOf(values)]
			start += len(values)
		}
		if int(g.visits[i+k]) != node || len(g.values)-at < len(values) || !slices.Equal(g.values[at:at+len(values)], values) {
			return k
		}
		at += len(values)
	}
	return k
}

// sizeOf is the number of values of an event of the node; values begins with them.
func (n *eventNode) sizeOf(values []uint64) int {
	k := 0
	for i := range n.attrs {
		v := values[k]
		if k++; n.attrs[i].form == signature.VecForm && v&1 == 0 {
			k += int(v >> 1)
		}
	}
	return k
}

// relearned is the number of last copied events that are learned from like others.
const relearned = 64

// relearn learns the values of the last of k copied events.
func (e *eventCoder) relearn(k int) {
	for i := len(e.visits) - min(k, relearned); i < len(e.visits); i++ {
		from, to := e.spanOf(i)
		values := e.values[from:to]
		node := e.known[e.visits[i]]
		number := e.numberOf[int(e.visits[i])]
		node.keepArrays(values)
		for a := range node.attrs {
			attr := &node.attrs[a]
			v := values[0]
			values = values[1:]
			e.seen(node, number, attr, v)
			if attr.form == signature.VecForm && v&1 == 0 {
				for _, x := range attr.array {
					e.seenElem(number, attr, x)
				}
				values = values[v>>1:]
			}
		}
	}
}

// event codes an event and returns how many values it has.
func (e *eventCoder) event(g *eventGraph, i, at int) int {
	actual := 0
	if e.c.Encoding() {
		actual = int(g.visits[i])
	}
	var guessed *eventNode
	if e.match >= 0 {
		guessed = e.known[e.visits[e.match]]
	}
	number := e.node(g, actual, guessed)
	if e.err != nil {
		return 0
	}
	node := e.known[e.local[number]]
	var expected []uint64
	if guessed == node {
		from, to := e.spanOf(e.match)
		expected = e.values[from:to]
	}
	given := valueQueue{}
	if e.c.Encoding() {
		given.values = g.values[at:]
	}
	hash := e.attributes(node, number, &given, &valueQueue{expected})
	if e.err != nil {
		return 0
	}
	alike := guessed == node && e.sameAsMatch(e.scratch)
	e.after[e.context()>>(64-afterBits)] = uint32(len(e.visits)) + 1
	e.note(uint32(e.local[number]), hash, e.scratch)
	node.keepArrays(e.values[len(e.values)-len(e.scratch):])
	e.follow(guessed == node, alike)
	return len(e.scratch)
}

// valueQueue hands out values one by one.
type valueQueue struct{ values []uint64 }

func (q *valueQueue) next() (v uint64, ok bool) {
	if len(q.values) == 0 {
		return 0, false
	}
	v, q.values = q.values[0], q.values[1:]
	return v, true
}

// attributes codes the values of an event's attributes into e.scratch and returns the event's
// hash. given are the values to encode, expected those of the predicted event.
func (e *eventCoder) attributes(node *eventNode, number int, given, expected *valueQueue) uint64 {
	e.scratch = e.scratch[:0]
	hash := node.key
	for a := range node.attrs {
		attr := &node.attrs[a]
		v, _ := given.next()
		want, some := expected.next()
		v = e.value(node, number, attr, hash, want, some, v)
		e.scratch = append(e.scratch, v)
		hash = mix.Hash(hash, v)
		if attr.form != signature.VecForm || v&1 != 0 {
			continue
		}
		if v>>1 > maxBlockValues {
			e.failf("vector of %d elements", v>>1)
			return 0
		}
		from := len(e.scratch)
		for k := range int(v >> 1) {
			x, _ := given.next()
			want, some := expected.next()
			x = e.elem(number, attr, hash, e.scratch[from:], k, want, some, x)
			e.scratch = append(e.scratch, x)
			hash = mix.Hash(hash, x)
			if e.c.Overrun() || len(e.values)+len(e.scratch) > maxBlockValues {
				e.failf("they do not end")
				return 0
			}
		}
	}
	return hash
}

// keepArrays keeps the vectors among an event's values.
func (n *eventNode) keepArrays(values []uint64) {
	for i := range n.attrs {
		v := values[0]
		values = values[1:]
		if n.attrs[i].form == signature.VecForm && v&1 == 0 {
			n.attrs[i].array, values = values[:v>>1], values[v>>1:]
		}
	}
}

func (e *eventCoder) sameAsMatch(values []uint64) bool {
	from, to := e.spanOf(e.match)
	return slices.Equal(values, e.values[from:to])
}

// context is the hash of the last events.
func (e *eventCoder) context() uint64 {
	return mix.Hash(e.events[0], e.events[1], e.events[2], e.events[3])
}

// follow predicts the next event.
func (e *eventCoder) follow(node, all bool) {
	switch {
	case all:
		e.match++
		e.matched++
		return
	case node:
		e.match++
	default:
		e.match = -1
	}
	e.matched = 0
	if at := e.after[e.context()>>(64-afterBits)]; at > 0 && int(at) <= len(e.visits) {
		e.match = int(at) - 1
	}
}

// counted codes the nodes of counted polls, which have no events.
func (e *eventCoder) counted(g *eventGraph) {
	n := e.c.Number(mix.Hash(ctxCounted, 1), uint64(len(g.counted)))
	for i := 0; uint64(i) < n && e.err == nil; i++ {
		var given pollNode
		if e.c.Encoding() {
			given = g.counted[i]
		}
		x := pollNode{node: &eventNode{}}
		x.number = e.c.Number(mix.Hash(ctxCounted, 2), given.number)
		x.polls = e.c.Number(mix.Hash(ctxCounted, 3), given.polls)
		header := uint64(0)
		if given.node != nil {
			header = given.node.header
		}
		if header = e.header(header); e.err == nil {
			e.content(x.node, given.node, header)
			e.named(x.node)
		}
		if e.c.Overrun() {
			e.failf("they end early")
		}
		if !e.c.Encoding() {
			g.counted = append(g.counted, x)
		}
	}
}
