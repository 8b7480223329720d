package mtf

import (
	"errors"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/token"
	"github.com/efg-tools/efg/signature"
)

// A word is stored as a token, so that what is the same on all ranks has the same number: three
// bits for its kind, and above them its value.
const (
	tokenNumber   = iota // a number, zigzag-encoded
	tokenConst           // number of a constant
	tokenDef             // number of a definition of the process
	tokenFamily          // definition and, in the low 24 bits, the number in its family
	tokenID              // thread, 26 bits of node, 20 of slot
	tokenRelative        // a rank: its distance from the process's own in the communicator, zigzag-encoded
	tokenRaw             // the word follows
	tokenKinds
)

var errToken = errors.New("a word that no definition or rank explains")

// words converts words of a process to tokens and back.
type words struct {
	defs    []efg.Def
	index   map[uint64]int
	facts   *analysis.Process // nil while definitions are read
	ranks   map[uint64][2]int64
	rank    int // of the process in the run
	current [2]int64
}

func newWords(defs []efg.Def) *words {
	w := &words{defs: defs, index: make(map[uint64]int, len(defs)), ranks: map[uint64][2]int64{}}
	for i := range defs {
		if _, ok := w.index[defs[i].Word]; !ok {
			w.index[defs[i].Word] = i
		}
	}
	return w
}

// in sets the communicator in which ranks are relative; the process's rank and the size are 0
// if they are unknown.
func (w *words) in(comm uint64) {
	c, ok := w.ranks[comm]
	if !ok && w.facts != nil {
		own, other := w.facts.Members(comm)
		if own != nil && other == nil && own.Index(w.rank) >= 0 {
			c = [2]int64{int64(own.Index(w.rank)), int64(own.Size())}
		}
		w.ranks[comm] = c
	}
	w.current = c
}

// append appends the token of a word. below is the number of definitions it may refer to; peer
// reports whether it is a rank.
func (w *words) append(list []uint64, v uint64, below int, peer bool) []uint64 {
	switch {
	case signature.IsConst(v) && v<<3>>3 == v&^signature.ConstBit:
		return append(list, (v&^signature.ConstBit)<<3|tokenConst)
	case signature.IsID(v):
		id, _ := signature.ParseID(v)
		if packed, ok := token.PackID(id); ok {
			return append(list, token.Of(tokenID, packed))
		}
	}
	if n, ok := w.index[v]; ok && n < below && v>>20 != 0 {
		return append(list, uint64(n)<<3|tokenDef)
	}
	if n, ok := w.index[v&^signature.SequenceMask]; ok && n < below && v>>24 != 0 {
		return append(list, (uint64(n)<<24|v&signature.SequenceMask)<<3|tokenFamily)
	}
	if rank, size := w.current[0], w.current[1]; peer && v > 0 && int64(v) < size {
		return append(list, block.Zigzag(around(int64(v)-rank, size))<<3|tokenRelative)
	}
	if n := int64(v); n > -1<<53 && n < 1<<53 {
		return append(list, token.Of(tokenNumber, block.Zigzag(n)))
	}
	return append(list, tokenRaw, v)
}

// around maps a distance into (-size/2, size/2].
func around(d, size int64) int64 {
	d = ((d % size) + size) % size
	if 2*d > size {
		d -= size
	}
	return d
}

// word returns the word of the token at the front of list, and the rest.
func (w *words) word(list []uint64, below int) (v uint64, rest []uint64, err error) {
	t, rest := list[0], list[1:]
	v = t >> 3
	switch t & 7 {
	case tokenNumber:
		return uint64(block.Unzigzag(v)), rest, nil
	case tokenConst:
		return v | signature.ConstBit, rest, nil
	case tokenDef:
		if v < uint64(below) {
			return w.defs[v].Word, rest, nil
		}
	case tokenFamily:
		if n := v >> 24; n < uint64(below) {
			return w.defs[n].Word&^signature.SequenceMask | v&signature.SequenceMask, rest, nil
		}
	case tokenID:
		return token.UnpackID(v).Word(), rest, nil
	case tokenRelative:
		if rank, size := w.current[0], w.current[1]; size > 0 {
			d := block.Unzigzag(v) % size
			return uint64(((rank+d)%size + size) % size), rest, nil
		}
	case tokenRaw:
		if len(rest) > 0 && v == 0 {
			return rest[0], rest[1:], nil
		}
	}
	return 0, nil, errToken
}

// isPeer reports whether word i of events with a header holds ranks.
func isPeer(header uint64, i int) bool {
	p := signature.ProcByID(signature.Header(header).Proc())
	if p == nil || i < signature.FirstWord || i >= len(p.Words) || p.Words[i].Param < 0 {
		return false
	}
	w := &p.Words[i]
	k := p.Params[w.Param].Kind
	return k == signature.Peer || k == signature.Rank || k == signature.Status && w.Part == signature.Source
}
