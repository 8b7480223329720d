package efg

import (
	"fmt"

	"github.com/efg-tools/efg/signature"
)

// What follows takes processes apart and puts them together as a run file holds
// them, for package text.

// Bind gives the sequences of tokens that MakeSeq made what the tokens refer to:
// definitions, threads, nodes and ranks of the process.
func (p *Process) Bind() {
	defs := newDefIndex(p.Defs)
	in := ranksOf(p.WorldRank(), p.Size, p.Defs)
	for i := range p.Streams {
		s := &p.Streams[i]
		for j := range s.Nodes {
			n := &s.Nodes[j]
			c := &wordContext{defs: defs, thread: s.Thread, node: uint32(j)}
			c.rank, c.size = in.in(n)
			for k := range n.Attrs {
				n.Attrs[k].Values.Bind(c)
				n.Attrs[k].Elems.Bind(c)
			}
		}
	}
}

// Identity is the word that follows from a definition's content. That of a
// definition that the recorder names in another way is not.
func (d *Def) Identity() uint64 { return derivedWord(d) }

// CheckDefs checks the rules of a process's definitions. It returns the number of
// the one at fault.
func CheckDefs(defs []Def) (int, error) {
	type key struct {
		kind DefKind
		word uint64
	}
	seen := make(map[key]bool, len(defs))
	for i, d := range defs {
		if !signature.IsPlain(d.Word) && d.Kind != DefUnknown {
			return i, fmt.Errorf("word %#x is not an identity", d.Word)
		}
		k := key{d.Kind, d.Word}
		if seen[k] {
			return i, fmt.Errorf("second definition of %#x", d.Word)
		}
		seen[k] = true
	}
	return 0, nil
}

// Module is the callsite's module, as its definition has it, and the offset of
// the call in it; "" if the file does not tell.
func (s *Site) Module() (module string, offset uint64) { return s.ref.module, s.ref.offset }

// MakeSite returns the site of a call at an offset of a module.
func MakeSite(module string, offset uint64) Site {
	ref := siteRef{module, offset}
	return Site{Word: ref.word(), ref: ref}
}
