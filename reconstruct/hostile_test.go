package reconstruct

import (
	"math/bits"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
)

// spoil changes a graph as a broken file could: the reader of run files only rejects masks
// without attribute streams and edges to nowhere.
func spoil(s *source, nodes []efg.Node) {
	for len(s.b) > 0 && len(nodes) > 0 {
		n := &nodes[int(s.byte())%len(nodes)]
		switch i := int(s.byte()) % len(n.Words); s.byte() % 5 {
		case 0:
			words := append([]uint64(nil), n.Words...)
			words[i] = s.word()
			n.Words = words
		case 1:
			n.Mask ^= 1 << i
			n.Attrs = n.Attrs[:min(len(n.Attrs), bits.OnesCount64(n.Mask))]
			for len(n.Attrs) < bits.OnesCount64(n.Mask) {
				n.Attrs = append(n.Attrs, efg.Attr{Values: sequence(s), Elems: sequence(s)})
			}
		case 2:
			n.Runs = sequence(s)
		case 3:
			for k := range n.Edges {
				n.Edges[k].Weight, n.Edges[k].Fixed = s.word(), s.word()&7
			}
		case 4:
			if len(n.Edges) > 0 {
				n.Edges[i%len(n.Edges)].To = uint32(int(s.byte()) % len(nodes))
			}
		}
	}
}

func sequence(s *source) *seq.Seq {
	w := seq.NewWriter(false)
	for range s.byte() % 8 {
		w.Push(s.word())
	}
	return w.Seq()
}

// FuzzHostileGraph: reconstructing an impossible graph ends with an error or with some events,
// never with a panic.
func FuzzHostileGraph(f *testing.F) {
	f.Add([]byte("event flow graphs"), []byte{0, 1, 2, 3, 4, 5, 6, 7})
	f.Add(make([]byte, 300), []byte{0, 1, 1, 9, 9, 9, 9, 9, 9, 9})
	f.Fuzz(func(t *testing.T, data, changes []byte) {
		var defs efg.Definitions
		b := efg.NewBuilder(0, 4, &defs)
		for s := (&source{data}); len(s.b) > 0; {
			if err := b.Add(s.event(&defs)); err != nil {
				t.Fatal(err)
			}
		}
		stream, err := b.Stream()
		if err != nil {
			t.Fatal(err)
		}
		spoil(&source{changes}, stream.Nodes)
		p := NewProcess(&efg.Process{Streams: []efg.Stream{*stream}, Defs: defs.List}, NewNames(defs.List, nil))
		var out []byte
		for e, err := range p.Events(0, Options{Issues: true, To: 10000}) {
			if err != nil {
				break
			}
			out = e.AppendMTF(e.AppendText(e.AppendJSON(out[:0])))
		}
		for i := range stream.Nodes {
			p.Describe(0, i)
		}
	})
}
