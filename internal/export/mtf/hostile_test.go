package mtf

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export/gxl"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// FuzzWrite changes words of recorded processes at random: if the result still is a run file,
// it is exported in each format, or an error says why not.
func FuzzWrite(f *testing.F) {
	files := testrun.Texts(f, "../../../efg/text/testdata")
	names := []string{"farm", "persistent", "amr", "polls"}
	for i := range names {
		f.Add(uint8(i), []byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz"))
		f.Add(uint8(i), bytes.Repeat([]byte{1, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0x80}, 5))
	}
	f.Fuzz(func(t *testing.T, file uint8, changes []byte) {
		r := testrun.Decode(t, files[names[int(file)%len(names)]])
		p, err := r.Process(0)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Streams[0].LoadTimes(); err != nil {
			t.Fatal(err)
		}
		for ; len(changes) >= 11; changes = changes[11:] {
			change(p, binary.LittleEndian.Uint16(changes), changes[2], binary.LittleEndian.Uint64(changes[3:]))
		}
		var b bytes.Buffer
		if runfile.EncodeRun(&b, []*efg.Process{p}, runfile.Meta{}) != nil {
			return
		}
		if r, err = runfile.NewRun(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil {
			return
		}
		for _, to := range []uint64{0, 40} {
			sel := all(r)
			sel.To = to
			var out bytes.Buffer
			if err := Write(&out, r, sel, nil); err == nil {
				read(out.Bytes()) // what was wrong may still be wrong
			}
			gxl.Write(io.Discard, r, sel, nil)
		}
	})
}

// change sets a word of a node, or of a definition, a mask, or rank and size.
func change(p *efg.Process, at uint16, where byte, v uint64) {
	node := &p.Streams[0].Nodes[int(at)%len(p.Streams[0].Nodes)]
	switch where % 4 {
	case 0:
		node.Words[int(where/4)%len(node.Words)] = v
	case 1:
		d := &p.Defs[int(at)%len(p.Defs)]
		if len(d.Words) > 0 {
			d.Words[int(where/4)%len(d.Words)] = v
		}
		d.Kind = efg.DefKind(v % 12)
	case 2:
		node.Words[0] = node.Words[0]&^0xffff | v&0x3ff
	case 3:
		p.Size, p.Rank = int(int32(v)), int(int16(v>>32))
	}
}
