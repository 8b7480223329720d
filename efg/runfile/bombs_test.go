package runfile

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// A group cannot have more members than there are streams: their values would be kept in
// memory.
func TestGroupOfTooManyMembersIsRefused(t *testing.T) {
	var procs []*efg.Process
	for rank := range 8 {
		procs = append(procs, sampleProcess(rank%4))
		procs[rank].Rank, procs[rank].Size = rank, 8
	}
	data := encode(t, procs, sampleMeta(procs[0]))
	blocks := blocksOf(t, data)
	for i := range blocks {
		if blocks[i].kind == blockGroups {
			cols := slices.Clone(blocks[i].cols)
			cols[colGroup] = slices.Clone(cols[colGroup])
			for k := range cols[colGroup] {
				cols[colGroup][k] |= 1 << 60
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
