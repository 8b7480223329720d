package diff_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/diff"
)

// FuzzHostile changes words, weights and definitions of a rank at random: every
// comparison ends, with or without an error.
func FuzzHostile(f *testing.F) {
	f.Add(uint64(1), []byte{})
	f.Add(uint64(7), []byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789"))
	f.Add(uint64(8), []byte{1, 0, 2, 9, 0, 0, 0, 0, 0, 0, 0, 3, 0, 3, 255, 255, 255, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, seed uint64, changes []byte) {
		var procs []*efg.Process
		for rank := range 2 {
			d := &randomCaller{recorder: newRecorder(t, rank, 4), same: rand.New(rand.NewPCG(seed, 1)), own: rand.New(rand.NewPCG(seed, 2+uint64(rank))), change: 9}
			for range 8 {
				d.step()
			}
			procs = append(procs, d.process())
		}
		for ; len(changes) >= 11; changes = changes[11:] {
			spoil(procs[1], binary.LittleEndian.Uint16(changes), changes[2], binary.LittleEndian.Uint64(changes[3:]))
		}
		var b bytes.Buffer
		if runfile.EncodeRun(&b, procs, runfile.Meta{}) != nil {
			return
		}
		run, err := runfile.NewRun(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			return
		}
		_, _ = diff.NewPair(diff.Rank{Run: run, Proc: 0}, diff.Rank{Run: run, Proc: 1})
		_, _ = diff.NewPair(diff.Rank{Run: run, Proc: 1}, diff.Rank{Run: run, Proc: 0})
		_, _ = diff.NewOverview(run, []int{0, 1}, func(uint64) {})
		_, _ = diff.NewRuns(run, run, [2][]int{{0}, {1}}, func(uint64) {})
	})
}

// spoil sets a word or mask of a node, a word of a definition, the end or the weight of an
// edge, or the size of the world.
func spoil(p *efg.Process, at uint16, where byte, v uint64) {
	s := &p.Streams[0]
	node := &s.Nodes[int(at)%len(s.Nodes)]
	edge := &efg.Edge{}
	if len(node.Edges) > 0 {
		edge = &node.Edges[int(where/8)%len(node.Edges)]
	}
	switch where % 8 {
	case 0, 1:
		if i := int(where/8) % len(node.Words); node.Mask>>i&1 == 0 {
			node.Words[i] = v
		}
	case 2:
		if len(p.Defs) == 0 {
			return
		}
		if d := &p.Defs[int(at)%len(p.Defs)]; len(d.Words) > 0 {
			d.Words[int(where/8)%len(d.Words)] = v
			d.Kind = efg.DefKind(v % 12)
		}
	case 3:
		edge.Weight = v % 1000
	case 4:
		edge.To = uint32(v) % uint32(len(s.Nodes))
	case 5:
		edge.Count, edge.Fixed = v%20, v/20%20
	case 6:
		s.Events = v % 10000
	case 7:
		p.Size = int(int16(v))
	}
}
