package block

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// Blocks with the right checksum and false content.
func TestBombsAreRefused(t *testing.T) {
	raw := make([]byte, 1<<20)
	for name, c := range map[string]struct {
		encoding int
		n        uint64
		payload  []byte
	}{
		"zstd":     {columnZstd, 1 << 20, zstdEncoder().EncodeAll(raw, nil)},
		"packed":   {columnPacked, 1 << 30, []byte{1, 0}},
		"adaptive": {columnAdaptive, 1 << 40, nil},
	} {
		b := append([]byte{byte(1)}, 1)
		b = AppendUvarint(b, c.n<<3|uint64(c.encoding))
		b = append(AppendUvarint(b, uint64(len(c.payload))), c.payload...)
		b = AppendU64(b, xxhash.Sum64(b))
		_, err := Read(bytes.NewReader(b), Ref{Kind: 1, Length: uint64(len(b))}, "sites")
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A block that compresses better than a reader accepts is padded.
func TestBlocksThatAreTooGoodArePadded(t *testing.T) {
	var cols Columns
	for range 1 << 20 {
		cols.Put(0, 7)
	}
	data := Append(nil, 1, cols, 0)
	b, err := Read(bytes.NewReader(data), Ref{Kind: 1, Length: uint64(len(data))}, "sites")
	if err != nil {
		t.Fatal(err)
	}
	if len(b.cols[0]) != 1<<20 || len(data) > 1<<20/maxRatio+100 {
		t.Errorf("%d values, %d bytes", len(b.cols[0]), len(data))
	}
}
