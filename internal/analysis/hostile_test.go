package analysis_test

import (
	"encoding/binary"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
)

// FuzzHostile changes words of a process at random: computing facts and flows ends, with or
// without an error.
func FuzzHostile(f *testing.F) {
	f.Add(uint64(1), []byte{})
	f.Add(uint64(7), []byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Fuzz(func(t *testing.T, seed uint64, changes []byte) {
		l := newVolumeRecorder(t, seed)
		for range 60 {
			l.step()
		}
		s, err := l.build.Stream()
		if err != nil {
			t.Fatal(err)
		}
		data := &efg.Process{Rank: 1, Size: 4, Streams: []efg.Stream{*s}, Defs: l.defs.List}
		for ; len(changes) >= 11; changes = changes[11:] {
			change(data, binary.LittleEndian.Uint16(changes), changes[2], binary.LittleEndian.Uint64(changes[3:]))
		}
		p, err := analysis.NewProcess(data, 0)
		if err != nil {
			return
		}
		if _, err := p.Nodes(0); err != nil {
			return
		}
		if err := p.Flows(0, func(*analysis.Flow) {}); err != nil {
			t.Errorf("nodes are right, but not the flows: %v", err)
		}
	})
}

// change sets a word of a node or of a definition, the weight of an edge, or the size of the
// world.
func change(p *efg.Process, at uint16, where byte, v uint64) {
	node := &p.Streams[0].Nodes[int(at)%len(p.Streams[0].Nodes)]
	switch where % 4 {
	case 0:
		node.Words[int(where/4)%len(node.Words)] = v
	case 1:
		if len(p.Defs) > 0 {
			d := &p.Defs[int(at)%len(p.Defs)]
			if len(d.Words) > 0 {
				d.Words[int(where/4)%len(d.Words)] = v
			}
			d.Kind = efg.DefKind(v % 12)
		}
	case 2:
		if len(node.Edges) > 0 {
			node.Edges[int(where/4)%len(node.Edges)].Weight = v
		}
	case 3:
		p.Size = int(int32(v))
	}
}

// Topologies that cannot exist have no neighbours, and cause no panic.
func FuzzTopology(f *testing.F) {
	f.Add(uint64(4), uint64(2), uint64(2), []byte{2, 2, 1, 0})
	f.Add(uint64(1<<32), uint64(1<<32), uint64(0), []byte{})
	f.Fuzz(func(t *testing.T, a, b, c uint64, list []byte) {
		words := []uint64{a, b, c}
		for _, x := range list {
			words = append(words, uint64(x))
		}
		for _, kind := range []struct{ name, one, two, out string }{
			{"MPI_Cart_create", "dims", "periods", "comm_cart"},
			{"MPI_Graph_create", "index", "edges", "comm_graph"},
			{"MPI_Dist_graph_create_adjacent", "sources", "destinations", "comm_dist_graph"},
		} {
			l := newVolumeRecorder(t, 1)
			family := uint64(5) << 24
			l.defs.Add(efg.Def{Kind: efg.DefComm, Word: family, Words: []uint64{word("MPI_COMM_WORLD"), word("EFG_COMM_CART"), 4, 3, 0, 4, 1}})
			l.add(kind.name, 1, map[string]any{"comm_old": word("MPI_COMM_WORLD"), kind.one: words, kind.two: words[1:], kind.out: family})
			l.add("MPI_Neighbor_alltoall", 2, map[string]any{
				"comm": family, "sendcount": uint64(1), "sendtype": word("MPI_INT"), "recvcount": uint64(1), "recvtype": word("MPI_INT"),
			})
			p := l.process()
			if _, err := p.Nodes(0); err != nil {
				t.Fatal(err)
			}
			if err := p.Flows(0, func(*analysis.Flow) {}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
