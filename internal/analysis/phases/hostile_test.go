package phases

import (
	"encoding/binary"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// FuzzHostile changes words, edges and weights of a process at random: dividing it
// ends, with or without an error.
func FuzzHostile(f *testing.F) {
	f.Add(byte(0), []byte{})
	f.Add(byte(1), []byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789"))
	f.Fuzz(func(t *testing.T, program byte, changes []byte) {
		c := sim.Config{Program: sim.Programs()[int(program)%len(sim.Programs())], Ranks: 4, Steps: 12, Seed: 1}
		data, err := c.Process(1)
		if err != nil {
			t.Fatal(err)
		}
		nodes := data.Streams[0].Nodes
		for ; len(changes) >= 11; changes = changes[11:] {
			n := &nodes[int(binary.LittleEndian.Uint16(changes))%len(nodes)]
			v := binary.LittleEndian.Uint64(changes[3:])
			switch k := int(changes[2] / 4); changes[2] % 4 {
			case 0:
				n.Words[1+k%(len(n.Words)-1)] = v
			case 1:
				if len(n.Edges) > 0 {
					n.Edges[k%len(n.Edges)].Weight = v % 1000
				}
			case 2:
				if len(n.Edges) > 0 {
					n.Edges[k%len(n.Edges)] = efg.Edge{To: uint32(v % uint64(len(nodes))), Weight: v % 99, Count: v % 7, Fixed: v % 5}
				}
			case 3:
				n.Words[0] = v&^(0xff<<24) | uint64(len(n.Words))<<24
			}
		}
		p, err := analysis.NewProcess(data, 0)
		if err != nil {
			return
		}
		b := newBuilder(nil, nil)
		if b.process(p) == nil {
			b.finish()
		}
	})
}
