package timeline

import (
	"encoding/binary"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// FuzzHostile puts arbitrary times and checkpoints into a process: making chunks ends, with or
// without an error, and their entries are in order.
func FuzzHostile(f *testing.F) {
	f.Add(uint64(0), []byte{}, byte(4), int64(0))
	f.Add(uint64(1<<63), []byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789\xf9\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), byte(48), int64(-1))
	f.Fuzz(func(t *testing.T, begin uint64, codes []byte, level byte, index int64) {
		c := sim.Config{Program: "farm", Ranks: 4, Steps: 12, Seed: 1}
		p, err := c.Process(1)
		if err != nil {
			t.Fatal(err)
		}
		giveTimes(t, p, anyTime)
		s := &p.Streams[0]
		s.Trace.Begin = begin
		if err := s.AddCheckpoints(p.Defs, 5); err != nil {
			t.Fatal(err)
		}
		for k := range s.Nodes {
			if len(codes) > 12 {
				s.Nodes[k].Times = &efg.Times{Gap: anyIntervals(codes[k%12:]), Dur: anyIntervals(codes[k%7:])}
			}
			if len(codes) > 40 && k < 2 && s.Checkpoints != nil {
				s.Checkpoints.Nodes[k].Visits = efg.NoCheckpoints().Events
			}
		}
		level %= maxLevel + 1
		limit := int64(maxTime) >> level >> chunkBits
		at := place{0, level, max(-limit, min(index, limit-1))}
		m := maker{t.Context(), newStream(p, s, 0, &checkpointTimes{}), newCache(1 << 20), &budget{left: uint64(len(codes)) + 1}}
		chunk, err := m.make(at)
		if err != nil {
			return
		}
		from, to := at.span()
		if chunk.from != chunk.until && (chunk.from < from || chunk.until > to || chunk.from > chunk.until) {
			t.Errorf("from %d to %d in %d to %d", chunk.from, chunk.until, from, to)
		}
		for i, e := range chunk.entries {
			if e.cell >= chunkCells || i > 0 && chunk.entries[i-1].cell > e.cell {
				t.Errorf("entry %d: %v", i, e)
			}
		}
		v := &View{From: from, Pixel: 1 << level, Width: 100, Rows: make([]Row, 1)}
		row := newRowSums(v)
		row.add(at, chunk)
		v.draw([]line{row.line(true)})
	})
}

// anyIntervals are as many intervals as there are in some bytes.
func anyIntervals(code []byte) (s efg.TimeSeq) {
	for len(code) > 0 {
		v, n := binary.Uvarint(code)
		if n <= 0 {
			break
		}
		s.Append(v)
		code = code[n:]
	}
	return s
}
