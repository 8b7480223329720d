package runfile

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// place describes a cell of a record, as determined by the record's shape.
type place struct {
	// The group of cells whose last value predicts this one's: for words the header, or the
	// kind of definition, and their number there.
	of     uint64
	index  int32
	node   int32    // of a graph's cell
	column int16    // of its constant values
	what   cellKind // cellNumber, cellWord, cellText or cellSeq
	role   int8     // cellSeq
	peer   bool     // a word that may hold a rank
}

// Columns of a block of groups. Those of the roles' sequences follow.
const (
	colGroup  = iota // members × 4 + kind
	colShape         // number of nodes or definitions
	colHeader        // of a node: number in the block + 1; 0 for a new one
	colNewHeader
	colMask // changes relative to the last node with this header
	colFlags
	colEdges
	colTo // differences from the next node
	colDefKind
	colDefWords
	colVaries // of a cell, if the group has several members: 1 if it varies
	colWeight // differences from the previous weight; also numbers of counted polls
	colCount
	colFixed
	colDeviation // of lengths from the expected ones
	colLength
	colText        // differences from the previous text
	colSeq         // numbers of bodies in the group: 0 for the next one, n for the n-th before it
	colBody        // the same for the group's bodies in the block
	colBodies      // bodies that a varying cell adds
	colForm        // of a varying cell: 1 if relative
	colWides       // number of wide words
	colWide        // wide words
	colDefWord     // colDefWord+7: word 7 and later ones
	colWord        = colDefWord + 8
	colRoles       = colWord + signature.MaxWords
	colCheckpoints = colRoles + roles*seq.BodyColumns // of a node: which sequences its checkpoints have
)

func roleColumn(role int) int { return colRoles + role*seq.BodyColumns }

// layout lists the cells of a record with this shape, which flatten makes. The shape must be
// complete.
func layout(kind recordKind, shape []uint64) []place {
	return slices.Clone(layoutIn(nil, kind, shape)) // it is kept, so without spare capacity
}

// layoutIn is layout into a slice with room for the result.
func layoutIn(room []place, kind recordKind, shape []uint64) []place {
	l := &layouter{shape: shape[1:], places: room[:0]}
	switch kind {
	case recordCheckpoints:
		l.checkpoints(shape[0])
		return l.places
	case recordPending:
		for i := range int(shape[0]) {
			l.node = int32(i)
			l.pending()
		}
		return l.places
	}
	for i := range int(shape[0]) {
		if kind == recordGraph {
			l.node = int32(i)
			l.graphNode()
		} else {
			l.def()
		}
	}
	return l.places
}

type layouter struct {
	shape  []uint64
	node   int32
	places []place
}

// objectOf reports whether node i has an object word that is not demoted: its cells are then
// those of words 1, 2 and so on.
func (p *readGroup) objectOf(node int) bool { return p.masks[node]>>signature.ObjectWord&1 == 0 }

func (l *layouter) next() uint64 {
	v := l.shape[0]
	l.shape = l.shape[1:]
	return v
}

func (l *layouter) add(p place) {
	p.node = l.node
	l.places = append(l.places, p)
}

func (l *layouter) number(column int16) { l.add(place{what: cellNumber, column: column}) }

func (l *layouter) seq(role int8, length int16) {
	l.number(length)
	l.add(place{what: cellSeq, column: colSeq, role: role})
}

func (l *layouter) graphNode() {
	header, mask, flags, edges := l.next(), l.next(), l.next(), l.next()
	l.shape = l.shape[edges:]
	for k := 1; k < int(header>>24&0xff); k++ {
		if mask>>k&1 == 0 {
			l.add(place{what: cellWord, column: colWord + int16(k), of: header, index: int32(k), peer: isPeer(header, k)})
		}
	}
	if signature.Header(header).Counted() {
		l.number(colWeight)
	}
	for range edges {
		l.number(colWeight)
		l.number(colCount)
		l.number(colFixed)
	}
	if flags&nodeCounts != 0 {
		l.seq(roleCounts, colLength)
	}
	if edges > 1 {
		l.seq(roleRuns, colDeviation)
	}
	for k := range efg.AttrStreams(header, mask) {
		l.seq(roleValues, colDeviation)
		if flags&(nodeElems<<k) != 0 {
			l.seq(roleElems, colLength)
		}
	}
}

// checkpoints lists the cells of checkpoints: their number, their positions, and for each node
// how much of its sequences was used.
func (l *layouter) checkpoints(nodes uint64) {
	l.number(colLength)
	l.seq(roleCheckpoints, colDeviation)
	l.seq(roleCheckpoints, colDeviation)
	for range nodes {
		runs, elems := checkpointsOfNode(l.next())
		l.seq(roleCheckpoints, colDeviation)
		if runs > 0 {
			l.seq(roleCheckpoints, colDeviation)
		}
		for range runs + elems {
			l.seq(roleCheckpoints, colDeviation)
		}
	}
}

func (l *layouter) def() {
	kind, flags, words := l.next(), l.next(), l.next()
	word := func(k int) {
		l.add(place{what: cellWord, column: colDefWord + int16(min(k, 7)), of: kind, index: int32(k)})
	}
	if flags&defDerived == 0 {
		word(0)
	}
	if flags&defData != 0 {
		l.add(place{what: cellText, column: colText})
	}
	if efg.DefKind(kind) == efg.DefVec {
		l.seq(roleVec, colLength)
	}
	for k := range words {
		word(int(k) + 1)
	}
}

// predictions holds the last values of cells, which predict the next ones. Both the writer and
// the reader of a block keep them.
type predictions struct {
	defs   map[defPrediction]uint64
	nodes  map[nodePrediction]*lastWords
	any    nodePrediction // with the header of the current node
	here   nodePrediction // with its callsite, too
	ofAny  *lastWords
	ofHere *lastWords
	site   uint64 // token of the callsite of the current node
	weight uint64
	text   uint64
	masks  map[uint64]uint64
}

// defPrediction is a word of definitions of a kind.
type defPrediction struct {
	kind  uint64
	index int32
}

// nodePrediction is nodes with a header, at a callsite; site is 0 for those at any.
type nodePrediction struct{ header, site uint64 }

// lastWords are the last words of such nodes.
type lastWords struct {
	known  uint64 // set
	tokens [signature.MaxWords]uint64
}

func newPredictions() *predictions {
	return &predictions{defs: map[defPrediction]uint64{}, nodes: map[nodePrediction]*lastWords{}, masks: map[uint64]uint64{}}
}

// lastOf finds the last words of nodes.
func (p *predictions) lastOf(of nodePrediction) *lastWords {
	l := p.nodes[of]
	if l == nil {
		l = &lastWords{}
		p.nodes[of] = l
	}
	return l
}

// atNode finds the last words of nodes with the header of a cell's node, and of those from its
// callsite.
func (p *predictions) atNode(at *place) (any, here *lastWords) {
	if want := (nodePrediction{at.of, 0}); p.ofAny == nil || p.any != want {
		p.any, p.ofAny = want, p.lastOf(want)
	}
	if at.index <= 1 {
		return p.ofAny, p.ofAny
	}
	if want := (nodePrediction{at.of, p.site}); p.ofHere == nil || p.here != want {
		p.here, p.ofHere = want, p.lastOf(want)
	}
	return p.ofAny, p.ofHere
}

// word returns the predicted token: the last word of this kind from this callsite, or otherwise
// from any.
func (p *predictions) word(at *place) (predicted uint64) {
	if at.column < colWord {
		return p.defs[defPrediction{at.of, at.index}]
	}
	any, here := p.atNode(at)
	if here.known>>at.index&1 != 0 {
		return here.tokens[at.index]
	}
	return any.tokens[at.index]
}

func (p *predictions) noteWord(at *place, token uint64) {
	if at.column < colWord {
		p.defs[defPrediction{at.of, at.index}] = token
		return
	}
	any, here := p.atNode(at)
	any.note(at.index, token)
	here.note(at.index, token)
	if at.column == colWord+1 {
		p.site = token
	}
}

func (l *lastWords) note(index int32, token uint64) {
	l.known |= 1 << index
	l.tokens[index] = token
}

// tokenChange encodes a token relative to the predicted one.
func tokenChange(token, predicted uint64) uint64 {
	if token&7 == predicted&7 {
		return block.Zigzag(int64(token>>3)-int64(predicted>>3)) << 1
	}
	return token<<1 | 1
}

func tokenChanged(change, predicted uint64) uint64 {
	if change&1 == 0 {
		return uint64(int64(predicted>>3)+block.Unzigzag(change>>1))<<3 | predicted&7
	}
	return change >> 1
}
