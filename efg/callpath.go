package efg

import (
	"math"
	"slices"
)

// pathWords is the number of words of a call path's definition: module, offset and the rest of the path.
const pathWords = 3

// Callsite is the word of the callsite that a definition describes: of a call path, that of its last call
// alone.
func (d *Def) Callsite() uint64 {
	if !d.isPath() {
		return d.Word
	}
	return (&Def{Kind: DefSite, Words: d.Words[:pathWords-1]}).Identity()
}

func (d *Def) isPath() bool { return d.Kind == DefSite && len(d.Words) == pathWords }

// AllCalls is a depth for FoldPaths that no call path exceeds.
const AllCalls = math.MaxInt

// maxPath bounds the length of paths: definitions may come from someone else, and form a ring.
const maxPath = 1 << 10

// FoldPaths shortens call paths to their last calls: at most depth of them, or the last one alone if
// depth is less than 2. It returns what becomes of the paths that are longer, by word, and the
// definitions of paths that are not among defs. A shortened path has the word that recording with that
// depth would have given it.
func FoldPaths(defs []Def, depth int) (folded map[uint64]uint64, made []Def) {
	if !slices.ContainsFunc(defs, func(d Def) bool { return d.isPath() }) {
		return nil, nil
	}
	sites := map[uint64]*Def{}
	for i := range defs {
		if d := &defs[i]; d.Kind == DefSite && len(d.Words) >= pathWords-1 {
			sites[d.Word] = d
		}
	}
	folded = map[uint64]uint64{}
	for i := range defs {
		d := &defs[i]
		switch {
		case !d.isPath():
		case depth < 2:
			folded[d.Word] = d.Callsite()
		default:
			if calls := lastCalls(sites, d, depth); calls != nil {
				folded[d.Word] = joined(sites, calls, &made)
			}
		}
	}
	return folded, made
}

// lastCalls are the last calls of a path that has more, the last one first; nil if it has no more.
func lastCalls(sites map[uint64]*Def, d *Def, depth int) []*Def {
	var list []*Def
	for len(list) < maxPath {
		if len(list) == depth {
			return list
		}
		list = append(list, d)
		if len(d.Words) < pathWords || sites[d.Words[pathWords-1]] == nil {
			return nil
		}
		d = sites[d.Words[pathWords-1]]
	}
	return nil
}

// joined is the word of the path of these calls, which is cut before the outermost, their last. Paths
// without a definition are added to made, and to sites.
func joined(sites map[uint64]*Def, calls []*Def, made *[]Def) uint64 {
	word := calls[len(calls)-1].Callsite()
	for i := len(calls) - 2; i >= 0; i-- {
		d := Def{Kind: DefSite, Words: []uint64{calls[i].Words[0], calls[i].Words[1], word}}
		d.Word = d.Identity()
		if word = d.Word; sites[word] == nil {
			sites[word] = &d
			*made = append(*made, d)
		}
	}
	return word
}
