package runfile

import (
	"github.com/efg-tools/efg/efg"
)

// Bind sets what the tokens of sequences made by seq.Make refer to: definitions, threads, nodes
// and ranks of the process.
func Bind(p *efg.Process) {
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
