package efg

import (
	"slices"
	"testing"
)

// pathOf adds the path of these calls, the outermost first, below parent.
func pathOf(defs *[]Def, parent uint64, calls ...uint64) uint64 {
	for _, c := range calls {
		d := Def{Kind: DefSite, Words: []uint64{1, c, parent}}
		if parent == 0 {
			d.Words = d.Words[:2]
		}
		d.Word = d.Identity()
		parent = d.Word
		if !slices.ContainsFunc(*defs, func(x Def) bool { return x.Word == d.Word }) {
			*defs = append(*defs, d)
		}
	}
	return parent
}

const beginning = 1 << 63 // EFG_ABSENT

// A shortened path is the one that recording with that depth would have given: cut before its outermost call.
func TestFoldPaths(t *testing.T) {
	var defs []Def
	full := pathOf(&defs, beginning, 10, 20, 30, 40)
	cut := pathOf(&defs, 0, 25, 30, 40)
	short := pathOf(&defs, beginning, 40)
	for _, c := range []struct {
		depth int
		word  uint64
		want  []uint64 // calls of a path that is cut
	}{
		{0, full, []uint64{40}}, {1, full, []uint64{40}}, {1, short, []uint64{40}}, {1, cut, []uint64{40}},
		{2, full, []uint64{30, 40}}, {3, full, []uint64{20, 30, 40}}, {2, cut, []uint64{30, 40}},
	} {
		folded, made := FoldPaths(defs, c.depth)
		var wanted []Def
		want := pathOf(&wanted, 0, c.want...)
		if folded[c.word] != want {
			t.Errorf("depth %d: %x, want %x", c.depth, folded[c.word], want)
		}
		if c.depth > 1 {
			i := slices.IndexFunc(made, func(d Def) bool { return d.Word == want })
			if i < 0 || !slices.Equal(made[i].Words, wanted[len(wanted)-1].Words) {
				t.Errorf("depth %d: %v lacks %v", c.depth, made, wanted)
			}
		}
	}
	for depth, words := range map[int][]uint64{2: {short}, 3: {short, cut}, 4: {short, cut, full}, AllCalls: {short, cut, full}} {
		folded, _ := FoldPaths(defs, depth)
		for _, w := range words {
			if _, ok := folded[w]; ok {
				t.Errorf("depth %d: a path with no more calls is shortened", depth)
			}
		}
	}
}

// Definitions that form a ring end nothing.
func TestFoldPathsRing(t *testing.T) {
	defs := []Def{{Kind: DefSite, Word: 5, Words: []uint64{1, 2, 6}}, {Kind: DefSite, Word: 6, Words: []uint64{1, 3, 5}}, {Kind: DefSite, Word: 7, Words: []uint64{1}}}
	for _, depth := range []int{1, 2, 100, AllCalls} {
		FoldPaths(defs, depth)
	}
}
