package loops

import (
	"encoding/binary"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// bestFinder finds the families of a stream. Calls that differ only in their results count as
// one. Where families are irreducible because calls at one callsite have varying arguments,
// these calls also count as one if that leaves fewer irreducible families.
func bestFinder(s *efg.Stream, by naming) (*finder, error) {
	last, err := lastNode(s)
	if err != nil {
		return nil, err
	}
	at, n := by.alike(s)
	f := newFinder(s, last, at, n)
	tangled := f.irreducible()
	for len(tangled) > 0 {
		at, n := f.joined(tangled, by)
		g := newFinder(s, last, at, n)
		better, all := g.irreducible(), true
		for root, count := range tangled {
			member := slices.Index(f.at, f.families[root].header)
			if better[g.root(at[member])] >= count {
				delete(tangled, root)
				all = false
			}
		}
		if all {
			g.flatten()
			return g, nil
		}
	}
	f.flatten()
	return f, nil
}

// fewIrreducible is the number of irreducible families that an outermost one may contain in any
// case.
const fewIrreducible = 3

// flatten drops the families within outermost ones if most of them are irreducible: they do not
// form nested loops.
func (f *finder) flatten() {
	size := map[int]int{}
	for i := range f.families {
		size[f.root(f.families[i].header)]++
	}
	drop := map[int]bool{}
	for root, count := range f.irreducible() {
		drop[root] = count > fewIrreducible && 2*count > size[root]
		if drop[root] {
			f.families[root].mergeAll()
		}
	}
	var kept []family
	number := make([]int, len(f.families))
	for i, a := range f.families {
		if root := f.root(a.header); a.parent >= 0 && drop[root] {
			number[i] = number[root]
			continue
		}
		if a.parent >= 0 {
			a.parent = number[a.parent]
		}
		number[i] = len(kept)
		kept = append(kept, a)
	}
	for v := range f.inner {
		if f.inner[v] >= 0 {
			f.inner[v] = number[f.inner[v]]
		}
		f.headed[v] = -1
	}
	f.families = kept
	for i := range f.families {
		f.headed[f.families[i].header] = i
	}
}

func identity(n int) []int {
	at := make([]int, n)
	for v := range at {
		at[v] = v
	}
	return at
}

// root is the outermost family of a node, -1 if there is none.
func (f *finder) root(v int) int {
	i := f.inner[v]
	for i >= 0 && f.families[i].parent >= 0 {
		i = f.families[i].parent
	}
	return i
}

// irreducible counts the irreducible families, by outermost family.
func (f *finder) irreducible() map[int]int {
	count := map[int]int{}
	for i := range f.families {
		if a := &f.families[i]; a.irreducible() {
			count[f.root(a.header)]++
		}
	}
	return count
}

// naming returns what the words of callsites stand for, nil: themselves. calls is for calls that count as one if their
// arguments are equal, places for those that are merged where a component is irreducible.
type naming struct{ calls, places func(word uint64) uint64 }

// namingOf tells calls apart by their whole call paths unless the run says how far, and merges those of a callsite.
func namingOf(p *analysis.Process) naming {
	if p.Data.SiteDepth == 0 {
		return naming{places: p.Callsite}
	}
	return naming{p.Callsite, p.Callsite}
}

func named(by func(uint64) uint64, word uint64) uint64 {
	if by == nil {
		return word
	}
	return by(word)
}

// alike numbers the nodes of a stream so that calls with equal arguments at one callsite have
// one number, whatever they returned.
func (by naming) alike(s *efg.Stream) (at []int, n int) {
	known := map[string]int{}
	at = make([]int, len(s.Nodes))
	for v := range at {
		at[v] = numberOf(known, string(by.arguments(v, &s.Nodes[v])), &n)
	}
	return at, n
}

// numberOf is the number of a key, a new one if the key is new.
func numberOf[K comparable](known map[K]int, key K, n *int) int {
	k, ok := known[key]
	if !ok {
		k = *n
		known[key] = k
		*n++
	}
	return k
}

// arguments encodes procedure, callsite and arguments of node v. Nodes of unknown procedures
// differ from all others.
func (by naming) arguments(v int, n *efg.Node) []byte {
	if len(n.Words) < 2 {
		return binary.AppendVarint(nil, int64(v))
	}
	header := signature.Header(n.Words[0])
	p := signature.ProcByID(header.Proc())
	if p == nil || len(p.Words) != len(n.Words) {
		return binary.AppendVarint(nil, int64(v))
	}
	key := binary.LittleEndian.AppendUint64([]byte{'p'}, uint64(header.Proc()))
	if header.Counted() {
		key = append(key, 'c')
	}
	for i := 1; i < len(n.Words); i++ {
		switch {
		case n.Mask>>i&1 != 0:
			key = append(key, '*')
		case i == 1:
			key = binary.LittleEndian.AppendUint64(append(key, '='), named(by.calls, n.Words[i]))
		case !p.Words[i].Out:
			key = binary.LittleEndian.AppendUint64(append(key, '='), n.Words[i])
		}
	}
	return key
}

// place is a call in the program, whatever its arguments.
type place struct {
	proc uint16
	site uint64
}

func (by naming) placeOf(n *efg.Node) place {
	if len(n.Words) < 2 {
		return place{}
	}
	return place{uint16(signature.Header(n.Words[0]).Proc()), named(by.places, n.Words[1])}
}

// joined numbers the nodes of the stream so that nodes of one procedure and callsite in the
// same one of some outermost families have one number, in addition to those already merged.
func (f *finder) joined(roots map[int]int, by naming) (at []int, n int) {
	type call struct {
		root, number int // number of the family, or -1 and the number of the graph's node
		place
	}
	known := map[call]int{}
	at = make([]int, len(f.stream.Nodes))
	for v := range at {
		key := call{root: -1, number: f.at[v]}
		if root := f.root(f.at[v]); roots[root] > 0 {
			key = call{root: root, place: by.placeOf(&f.stream.Nodes[v])}
		}
		at[v] = numberOf(known, key, &n)
	}
	return at, n
}
