package efg

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

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
