package efg

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// An iteration takes memory for what it has gone through, not for what a
// sequence says that it will look back to.
func TestIterationOfLongReachIsSmall(t *testing.T) {
	far := func(level int) Symbol {
		return Symbol{Level: level, Distance: uint64(packWindow[level] - 1), Length: 9}
	}
	s, err := MakeSeq(1<<40, 0, []Symbol{{Value: 1}, {Value: 2}, far(0), far(1), far(2)})
	if err != nil {
		t.Fatal(err)
	}
	it := s.Iter()
	for want := uint64(1); want <= 2; want++ {
		if v, ok := it.Next(); !ok || v != want {
			t.Fatalf("%d, %v", v, ok)
		}
	}
	room := len(it.ring0)
	for l := range it.upper {
		room += len(it.upper[l].ring)
	}
	if room > SeqLevels*firstRing {
		t.Errorf("rings of %d entries for two values", room)
	}
	if _, ok := it.Next(); ok || !errors.Is(it.Err(), ErrSeq) {
		t.Errorf("a repeat before the start: %v", it.Err())
	}
}

// A piece cannot have more members than there are streams: their values would
// be kept.
func TestPieceOfTooManyMembersIsRefused(t *testing.T) {
	var procs []*Process
	for rank := range 8 {
		procs = append(procs, sampleProcess(rank%4))
		procs[rank].Rank, procs[rank].Size = rank, 8
	}
	data := encode(t, procs, sampleMeta(procs[0]))
	blocks := blocksOf(t, data)
	for i := range blocks {
		if blocks[i].kind == blockPieces {
			cols := slices.Clone(blocks[i].cols)
			cols[colPiece] = slices.Clone(cols[colPiece])
			for k := range cols[colPiece] {
				cols[colPiece][k] |= 1 << 60
			}
			blocks[i].cols = cols
		}
	}
	data = assemble(blocks)
	r, err := NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Procs {
		var corrupt *CorruptError
		if _, err := r.Process(i); !errors.As(err, &corrupt) {
			t.Errorf("process %d: %v", i, err)
		}
	}
}
