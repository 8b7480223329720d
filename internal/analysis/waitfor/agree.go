package waitfor

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// kind is what matching calls have in common.
type kind struct {
	proc int    // 0 matches any procedure
	root uint64 // word; 0 on intercommunicators, whose groups name different ones
}

// kindOf is the kind of a rank's collective call.
func (n *needs) kindOf(r *Rank, words []uint64) kind {
	p, a := lookUp(words)
	if p == nil || a.Scope == signature.ScopeWorld {
		return kind{}
	}
	k := kind{proc: p.ID}
	if facts := n.process(r); a.Roles.Root != 0 && facts != nil && !isInter(facts, words[signature.ObjectWord]) {
		k.root = words[a.Roles.Root]
	}
	return k
}

func isInter(p *analysis.Process, comm uint64) bool {
	_, other := p.Members(comm)
	return other != nil
}

// agrees reports whether a member's call in a turn is of a kind. An unknown call is.
func (n *needs) agrees(r *Rank, at turn, of kind) bool {
	words, _ := n.callAt(r, at)
	if words == nil {
		return true
	}
	k := n.kindOf(r, words)
	return k == of || k.proc == 0 || of.proc == 0
}

// rankTurn is a turn of a rank.
type rankTurn struct {
	rank *Rank
	turn
}

// callAt returns the words of a rank's call in a turn, and whether the rank is still in it; nil
// if that is unknown.
func (n *needs) callAt(r *Rank, at turn) (words []uint64, in bool) {
	m := n.made(r, at.order)
	switch {
	case !m.ordered() || m.calls < at.k || r.dropped() || at.object&^1 == startObject:
		return nil, false
	case m.calls == at.k && m.current != nil:
		return m.current, true
	}
	key := rankTurn{r, at}
	words, known := n.past[key]
	if !known {
		for i := range m.streams {
			words = n.find(&r.Process.Streams[i], r.Process.Defs, at)
		}
		n.past[key] = words
	}
	return words, false
}

// find returns the words of a stream's call in a turn.
func (n *needs) find(s *efg.Stream, defs []efg.Def, at turn) []uint64 {
	objects, k := n.objectsOf(s), at.k
	w := s.Walk(defs)
	for n.steps > 0 && w.Next() {
		n.steps--
		o := objects[w.Node()]
		if o == varies {
			o = w.Words()[2]
		}
		if o != at.object {
			continue
		}
		if k--; k == 0 {
			return append([]uint64(nil), w.Words()...)
		}
	}
	return nil
}

// varies stands for the objects of a node's calls if they are not all equal.
const varies = ^uint64(0)

// objectsOf lists the objects of the collectives of a stream's nodes, 0 for other calls.
func (n *needs) objectsOf(s *efg.Stream) []uint64 {
	list := n.objects[s]
	if list != nil {
		return list
	}
	list = make([]uint64, len(s.Nodes))
	for i := range s.Nodes {
		node := &s.Nodes[i]
		p, a := lookUp(node.Words)
		switch {
		case p == nil || !counted(a) || node.Counted > 0:
		case node.Mask>>2&1 != 0:
			list[i] = varies
		default:
			list[i] = objectOf(node.Words, a)
		}
	}
	n.objects[s] = list
	return list
}

// amount is data in the form in which the members of a collective must agree on it.
type amount struct {
	bytes    uint64
	datatype uint64 // if it is predefined and does not match all others
	known    bool
}

// amountOf is the data of a rank's collective call.
func (n *needs) amountOf(r *Rank, words []uint64) amount {
	_, a := lookUp(words)
	facts := n.process(r)
	if facts == nil || isInter(facts, words[signature.ObjectWord]) {
		return amount{}
	}
	_, isRoot := n.rootOf(r, words, a)
	count, datatype := amountWords(a, isRoot)
	if count == 0 || datatype == 0 || signature.IsConst(words[count]) {
		return amount{}
	}
	size, ok := facts.TypeBytes(words[datatype])
	if !ok || words[count]>>40 != 0 {
		return amount{}
	}
	x := amount{bytes: size * words[count], known: true}
	if t := words[datatype]; x.bytes > 0 && signature.IsConst(t) && t != signature.TypeByte && t != signature.TypePacked {
		x.datatype = t
	}
	return x
}

// differs reports whether two members that should have the same amount have different ones.
func (x amount) differs(y amount) bool {
	return x.known && y.known && (x.bytes != y.bytes || x.datatype != 0 && y.datatype != 0 && x.datatype != y.datatype)
}

// reductionOf is the word of the operation of a reduction if all ranks know it by the same
// word, otherwise 0.
func reductionOf(words []uint64) uint64 {
	_, a := lookUp(words)
	if a.Roles.Op == 0 {
		return 0
	}
	op := signature.ConstantOf(words[a.Roles.Op])
	if op == nil || op.Group != signature.Op.String() {
		return 0
	}
	return op.Word()
}
