package loops

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// bestFinder finds the families of a stream. Where some are irreducible because
// calls at one place have now these arguments and now others, such as a master
// that answers whoever asks, these calls count as one, if that helps.
func bestFinder(s *efg.Stream) (*finder, error) {
	last, err := lastNode(s)
	if err != nil {
		return nil, err
	}
	n := len(s.Nodes)
	f := newFinder(s, last, identity(n), n)
	tangled := f.irreducible()
	for len(tangled) > 0 {
		at, n := f.joined(tangled)
		g := newFinder(s, last, at, n)
		better, all := g.irreducible(), true
		for root, count := range tangled {
			if better[g.root(at[f.families[root].header])] >= count {
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

// fewIrreducible is how many irreducible families may be in an outermost one
// whatever else is in it.
const fewIrreducible = 3

// flatten drops the families in outermost ones where most are irreducible: they
// are no nest of loops, whichever way one looks at them.
func (f *finder) flatten() {
	size := map[int]int{}
	for i := range f.families {
		size[f.root(f.families[i].header)]++
	}
	drop := map[int]bool{}
	for root, count := range f.irreducible() {
		drop[root] = count > fewIrreducible && 2*count > size[root]
		if drop[root] {
			f.families[root].tangle()
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

// root is the outermost family of a node, -1 if it is in none.
func (f *finder) root(v int) int {
	i := f.inner[v]
	for i >= 0 && f.families[i].parent >= 0 {
		i = f.families[i].parent
	}
	return i
}

// irreducible counts the irreducible families in outermost ones that have some.
func (f *finder) irreducible() map[int]int {
	count := map[int]int{}
	for i := range f.families {
		if a := &f.families[i]; a.irreducible() {
			count[f.root(a.header)]++
		}
	}
	return count
}

// joined numbers the nodes of the stream so that those of one procedure and callsite in
// the same one of some outermost families are one.
func (f *finder) joined(roots map[int]int) (at []int, n int) {
	type call struct {
		root int
		proc uint16
		site uint64
	}
	known := map[call]int{}
	at = make([]int, len(f.stream.Nodes))
	for v := range at {
		words := f.stream.Nodes[v].Words
		root := f.root(v)
		if roots[root] == 0 || len(words) < 2 {
			at[v] = n
			n++
			continue
		}
		key := call{root, uint16(signature.Header(words[0]).Proc()), words[1]}
		k, ok := known[key]
		if !ok {
			k = n
			known[key] = k
			n++
		}
		at[v] = k
	}
	return at, n
}
