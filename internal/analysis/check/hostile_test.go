package check

import (
	"encoding/binary"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// FuzzHostile changes words, edges and definitions of a process at random: checks end, with or
// without an error.
func FuzzHostile(f *testing.F) {
	f.Add(byte(0), []byte{})
	f.Add(byte(1), []byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789"))
	f.Add(byte(2), []byte("abcdefghijklmnopqrstuvwxyz\x00\x01\x02\x03\x04\x05\x06\x07\x08"))
	f.Fuzz(func(t *testing.T, program byte, changes []byte) {
		c := sim.Config{Program: sim.Programs()[int(program)%len(sim.Programs())], Ranks: 4, Steps: 6, Seed: 1}
		data, err := c.Process(1)
		if err != nil {
			t.Fatal(err)
		}
		for ; len(changes) >= 11; changes = changes[11:] {
			alter(data, binary.LittleEndian.Uint16(changes), changes[2], binary.LittleEndian.Uint64(changes[3:]))
		}
		p, err := analysis.NewProcess(data, 0)
		if err != nil {
			return
		}
		x := newTally(p)
		if x.count() == nil {
			x.suspects()
		}
		x.usages()
		outside(p)
		y := newTally(p)
		if found, err := y.walkThrough(wantedEvents{}); err == nil && found == nil {
			t.Error("nothing found, not even nothing")
		}
	})
}

func alter(p *efg.Process, at uint16, where byte, v uint64) {
	n := &p.Streams[0].Nodes[int(at)%len(p.Streams[0].Nodes)]
	switch k := int(where / 6); where % 6 {
	case 0:
		n.Words[1+k%(len(n.Words)-1)] = v
	case 1:
		if len(p.Defs) > 0 {
			d := &p.Defs[int(at)%len(p.Defs)]
			if len(d.Words) > 0 {
				d.Words[k%len(d.Words)] = v
			}
			d.Kind = efg.DefKind(v % 12)
		}
	case 2:
		if len(n.Edges) > 0 {
			n.Edges[k%len(n.Edges)].Weight = v % 1000
		}
	case 3:
		p.Size = int(int32(v))
	case 4:
		if len(n.Edges) > 0 {
			n.Edges[k%len(n.Edges)].To = uint32(v % uint64(len(p.Streams[0].Nodes)))
		}
	case 5:
		n.Words[0] = v&^(0xff<<24) | uint64(len(n.Words))<<24
	}
}
