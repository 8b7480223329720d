package loops_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis/loops"
)

// FuzzCalls makes calls from bytes: the loops found on the graph equal the counts over the
// events.
func FuzzCalls(f *testing.F) {
	f.Add([]byte("ABABAB"), uint16(1))
	f.Add([]byte("ABCABDAEFG"), uint16(300))
	f.Add([]byte("HBCBCHCBCB"), uint16(90))
	f.Fuzz(func(t *testing.T, calls []byte, times uint16) {
		var b strings.Builder
		for range 1 + int(times)%400 {
			for _, c := range calls[:min(len(calls), 40)] {
				b.WriteRune('A' + rune(c%20))
			}
		}
		for _, c := range calls {
			b.WriteRune('A' + rune(c%23))
		}
		s := stream(t, b.String())
		forest, err := loops.Find(s)
		if err != nil {
			t.Fatal(err)
		}
		recount(t, s, nil, forest)
		checkForest(t, s, forest)
	})
}

// FuzzHostile changes edges, weights, runs and their lengths: finding loops ends,
// with or without an error.
func FuzzHostile(f *testing.F) {
	f.Add([]byte("ABCABDABCABE"), []byte{})
	f.Add([]byte("ABABABCABABCD"), []byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Fuzz(func(t *testing.T, calls, changes []byte) {
		var b strings.Builder
		for _, c := range calls[:min(len(calls), 200)] {
			b.WriteRune('A' + rune(c%12))
		}
		s := stream(t, b.String())
		if len(s.Nodes) == 0 {
			return
		}
		for ; len(changes) >= 7; changes = changes[7:] {
			spoil(s, changes[0], changes[1], changes[2], uint64(binary.LittleEndian.Uint32(changes[3:])))
		}
		loops.Find(s)
	})
}

// spoil changes something at a node.
func spoil(s *efg.Stream, at, edge, what byte, v uint64) {
	n := &s.Nodes[int(at)%len(s.Nodes)]
	if len(n.Edges) == 0 {
		n.Counted = v
		return
	}
	e := &n.Edges[int(edge)%len(n.Edges)]
	switch what % 7 {
	case 0:
		e.To = uint32(v % uint64(len(s.Nodes)+1))
	case 1:
		e.Weight = v
	case 2:
		e.Count = v
	case 3:
		e.Fixed = v
	case 4:
		if n.Runs != nil {
			n.Runs = n.Runs.Prefix(v % (n.Runs.Len() + 1))
		}
	case 5:
		n.Counts = n.Runs
	case 6:
		n.Edges = n.Edges[:int(v)%(len(n.Edges)+1)]
	}
}
