package efg

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// A block is its kind, its columns and the XXH64 of all of this; FORMAT.md,
// "Blocks".

const (
	// maxRatio bounds how many values a byte of a block may expand to, so that a
	// reader's memory is bounded by the size of the file. A block that would
	// expand further is padded.
	maxRatio     = 128
	freeValues   = 4096
	maxBlock     = 1 << 30
	maxColumns   = 256
	checksumSize = 8
)

var zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
})

var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// columnSet collects the columns of a block.
type columnSet [][]uint64

func (s *columnSet) put(column int, v uint64) {
	for len(*s) <= column {
		*s = append(*s, nil)
	}
	(*s)[column] = append((*s)[column], v)
}

func (s *columnSet) putBytes(column int, b []byte) {
	for _, c := range b {
		s.put(column, uint64(c))
	}
}

// appendBlock appends a block with the given columns: kind, number of columns,
// then for each its number of values × 8 + encoding and the length of its
// payload, or 0 and how many empty ones follow an empty one; then the payloads,
// padding, and the checksum. The block is at least least bytes long.
func appendBlock(dst []byte, kind blockKind, cols columnSet, least int) []byte {
	start := len(dst)
	head := appendUvarint([]byte{byte(kind)}, uint64(len(cols)))
	var body []byte
	values := 0
	for i := 0; i < len(cols); i++ {
		vals := cols[i]
		if len(vals) == 0 {
			empty := 1
			for i+empty < len(cols) && len(cols[i+empty]) == 0 {
				empty++
			}
			i += empty - 1
			head = appendUvarint(append(head, 0), uint64(empty-1))
			continue
		}
		encoding, payload := encodeColumn(vals)
		head = appendUvarint(head, uint64(len(vals))<<3|uint64(encoding))
		head = appendUvarint(head, uint64(len(payload)))
		body = append(body, payload...)
		values += len(vals)
	}
	pad := max(least, (values-freeValues+maxRatio-1)/maxRatio) - len(head) - len(body)
	dst = append(append(dst, head...), body...)
	if pad > 0 {
		dst = append(dst, make([]byte, pad)...)
	}
	return appendU64(dst, xxhash.Sum64(dst[start:]))
}

// block is a decoded block.
type block struct {
	section string
	cols    [][]uint64
	at      []int // next value of each column
	err     error
}

// readBlock reads and decodes a block.
func readBlock(r io.ReaderAt, ref blockRef, section string) (*block, error) {
	_, b, err := readRawBlock(r, ref, section, maxColumns)
	return b, err
}

// readRawBlock reads a block, decodes its first columns, so many at most, and returns
// its bytes, too.
func readRawBlock(r io.ReaderAt, ref blockRef, section string, columns int) ([]byte, *block, error) {
	corrupt := func(cause error) ([]byte, *block, error) {
		return nil, nil, &CorruptError{Section: section, Offset: ref.offset, Cause: cause}
	}
	if ref.length < checksumSize+2 || ref.length > maxBlock {
		return corrupt(errShort)
	}
	b, err := readAt(r, ref.offset, ref.length)
	if err != nil {
		return corrupt(err)
	}
	c := &cursor{section: section, buf: b[:len(b)-checksumSize]}
	sum := &cursor{section: section, buf: b[len(b)-checksumSize:]}
	if sum.u64() != xxhash.Sum64(c.buf) {
		return corrupt(errors.New("checksum differs"))
	}
	if kind := blockKind(c.byte()); kind != ref.kind {
		return corrupt(fmt.Errorf("block of kind %v in place of %v", kind, ref.kind))
	}
	cols, err := decodeColumns(c, columns)
	if err != nil {
		return corrupt(err)
	}
	return b, &block{section: section, cols: cols, at: make([]int, len(cols))}, nil
}

func decodeColumns(c *cursor, wanted int) ([][]uint64, error) {
	type entry struct{ head, size uint64 }
	n := c.uvarint()
	if n > maxColumns {
		return nil, fmt.Errorf("%d columns", n)
	}
	entries := make([]entry, n)
	left := maxRatio*uint64(len(c.buf)) + freeValues
	for i := 0; i < len(entries); i++ {
		e := &entries[i]
		if e.head = c.uvarint(); e.head == 0 {
			more := c.uvarint()
			if more >= n-uint64(i) {
				return nil, fmt.Errorf("%d empty columns of %d", more, n)
			}
			i += int(more)
			continue
		}
		e.size = c.uvarint()
		if e.head>>3 > left {
			return nil, errors.New("more values than its size allows")
		}
		left -= e.head >> 3
	}
	cols := make([][]uint64, n)
	for i, e := range entries {
		payload := c.bytes(e.size)
		if c.err != nil {
			return nil, c.err
		}
		if e.head == 0 || i >= wanted {
			continue
		}
		var err error
		if cols[i], err = decodeColumn(int(e.head&7), payload, int(e.head>>3)); err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
	}
	for ; c.left() > 0; c.off++ {
		if c.buf[c.off] != 0 {
			return nil, errTrailing
		}
	}
	return cols, c.err
}

// get takes the next value of a column; 0 after an error.
func (b *block) get(column int) uint64 {
	if column >= len(b.cols) || b.at[column] >= len(b.cols[column]) {
		b.failf("column %d ends early", column)
		return 0
	}
	v := b.cols[column][b.at[column]]
	b.at[column]++
	return v
}

// peek returns the next value of a column without taking it, 0 at its end.
func (b *block) peek(column int) uint64 {
	if column >= len(b.cols) || b.at[column] >= len(b.cols[column]) {
		return 0
	}
	return b.cols[column][b.at[column]]
}

// below takes the next value of a column, which must be below limit.
func (b *block) below(column int, limit uint64, what string) uint64 {
	v := b.get(column)
	if v >= limit {
		b.failf("%s %d of %d", what, v, limit)
		return 0
	}
	return v
}

// count takes a number of items that each take at least one value of column
// each, so that no more can follow than the block has.
func (b *block) count(column, each int, what string) int {
	v := b.get(column)
	left := 0
	if each < len(b.cols) {
		left = len(b.cols[each]) - b.at[each]
	}
	if v > uint64(left) {
		b.failf("%d %s announced, %d follow", v, what, left)
		return 0
	}
	return int(v)
}

func (b *block) bytes(column int, n uint64) []byte {
	if column >= len(b.cols) || n > uint64(len(b.cols[column])-b.at[column]) {
		if n > 0 {
			b.failf("column %d ends early", column)
		}
		return nil
	}
	out := make([]byte, n)
	for i := range out {
		v := b.get(column)
		if v > 0xff {
			b.failf("byte %d", v)
		}
		out[i] = byte(v)
	}
	return out
}

func (b *block) failf(format string, args ...any) {
	if b.err == nil {
		b.err = &CorruptError{Section: b.section, Cause: fmt.Errorf(format, args...)}
	}
}

// close returns the first error; values left over are one.
func (b *block) close() error {
	for i := range b.cols {
		if left := len(b.cols[i]) - b.at[i]; left > 0 {
			b.failf("column %d: %d values left over", i, left)
		}
	}
	return b.err
}

// readAt reads n bytes, in pieces, so that a wrong length does not make it
// allocate more than there is.
func readAt(r io.ReaderAt, offset, n uint64) ([]byte, error) {
	const piece = 1 << 20
	b := make([]byte, 0, min(n, piece))
	for uint64(len(b)) < n {
		k := min(n-uint64(len(b)), piece)
		at := len(b)
		b = append(b, make([]byte, k)...)
		if _, err := r.ReadAt(b[at:], int64(offset)+int64(at)); err != nil {
			return nil, err
		}
	}
	return b, nil
}
