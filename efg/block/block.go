// Package block stores columns of integers as blocks of bytes and reads them again: each column
// in the smallest of six encodings, each block with a checksum. FORMAT.md specifies both.
// Blocks come from files that may be damaged or hostile: what a reader allocates is bounded by
// the size of the block.
package block

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// A block consists of its kind, its columns and the XXH64 of both; see FORMAT.md, "Blocks".

const (
	// maxRatio bounds how many values a byte of a block may expand to, so that a
	// reader's memory is bounded by the size of the file. A block that would
	// expand further is padded.
	maxRatio     = 128
	freeValues   = 4096
	maxBlock     = 1 << 30
	checksumSize = 8
)

// MaxColumns is the maximum number of columns of a block.
const MaxColumns = 256

var (
	zstdEncoder = sync.OnceValue(func() *zstd.Encoder { return newZstdEncoder(zstd.SpeedBestCompression) })
	betterZstd  = sync.OnceValue(func() *zstd.Encoder { return newZstdEncoder(zstd.SpeedBetterCompression) })
	fastestZstd = sync.OnceValue(func() *zstd.Encoder { return newZstdEncoder(zstd.SpeedFastest) })
)

func newZstdEncoder(level zstd.EncoderLevel) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
}

var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// Kind says what a block contains; the run file defines the kinds.
type Kind uint8

// Ref is the position of a block in a file, in bytes from its start.
type Ref struct {
	Kind   Kind
	Offset uint64
	Length uint64
}

// Columns collects the columns of a block.
type Columns [][]uint64

// Put appends a value to a column.
func (s *Columns) Put(column int, v uint64) {
	for len(*s) <= column {
		*s = append(*s, nil)
	}
	(*s)[column] = append((*s)[column], v)
}

// PutBytes appends bytes to a column, each as a value.
func (s *Columns) PutBytes(column int, b []byte) {
	if len(b) == 0 {
		return
	}
	s.Put(column, uint64(b[0]))
	to := slices.Grow((*s)[column], len(b)-1)
	for _, c := range b[1:] {
		to = append(to, uint64(c))
	}
	(*s)[column] = to
}

// AppendPlain appends a block with the given columns: kind, number of columns, then for each
// its number of values × 8 + encoding and the length of its payload or, for an empty one, 0 and
// the number of empty ones that follow; then the payloads, padding, and the checksum. The block
// is at least least bytes long.
func AppendPlain(dst []byte, k Kind, cols Columns, least int) []byte {
	return appendPlain(dst, k, cols, least, mostChoice)
}

func appendPlain(dst []byte, k Kind, cols Columns, least int, by choice) []byte {
	start := len(dst)
	head := AppendUvarint([]byte{byte(k)}, uint64(len(cols)))
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
			head = AppendUvarint(append(head, 0), uint64(empty-1))
			continue
		}
		encoding, payload := encodeColumn(vals, by)
		head = AppendUvarint(head, uint64(len(vals))<<3|uint64(encoding))
		head = AppendUvarint(head, uint64(len(payload)))
		body = append(body, payload...)
		values += len(vals)
	}
	pad := max(least, (values-freeValues+maxRatio-1)/maxRatio) - len(head) - len(body)
	dst = append(append(dst, head...), body...)
	if pad > 0 {
		dst = append(dst, make([]byte, pad)...)
	}
	return AppendU64(dst, xxhash.Sum64(dst[start:]))
}

// Append appends a block with the given columns, mixed if that is smaller. It is at least least
// bytes long.
func Append(dst []byte, k Kind, cols Columns, least int) []byte {
	return appendBlock(dst, k, cols, least, mostChoice, mixedValues)
}

// AppendFast appends a block that is read as a whole again and again: unless it is short, encodings
// that are slow to decode are chosen only if they save much.
func AppendFast(dst []byte, k Kind, cols Columns) []byte {
	return appendBlock(dst, k, cols, 0, fastChoice, fastChoice.patient)
}

// appendBlock appends a block that is mixed only if it has at most mixed values.
func appendBlock(dst []byte, k Kind, cols Columns, least int, by choice, mixed int) []byte {
	start, values := len(dst), 0
	for _, c := range cols {
		values += len(c)
	}
	dst = appendPlain(dst, k, cols, least, by)
	if values > mixed {
		return dst
	}
	code := encodeMixed(k, cols)
	size := 1 + len(code) + checksumSize
	if size >= len(dst)-start || size < least || values > MaxValues(size) {
		return dst
	}
	dst = append(append(dst[:start], byte(k)|mixedBit), code...)
	return AppendU64(dst, xxhash.Sum64(dst[start:]))
}

// AppendCode appends a block without columns: kind, code and checksum.
func AppendCode(dst []byte, k Kind, code []byte) []byte {
	start := len(dst)
	dst = append(append(dst, byte(k)), code...)
	return AppendU64(dst, xxhash.Sum64(dst[start:]))
}

// ReadCode reads the code of a block without columns.
func ReadCode(r io.ReaderAt, at Ref, section string) ([]byte, error) {
	_, c, err := open(r, at, section)
	if err != nil {
		return nil, err
	}
	return c.Buf[c.off:], nil
}

// Block is a decoded block. Its values are read column by column. It keeps the first error;
// after it every method returns zero values.
type Block struct {
	section string
	cols    [][]uint64
	at      []int // next value of each column
	Err     error // the first
}

// New returns a block with these columns.
func New(section string, cols Columns) *Block {
	return &Block{section: section, cols: cols, at: make([]int, len(cols))}
}

// MaxValues is the maximum number of values of a block of so many bytes.
func MaxValues(size int) int { return maxRatio*size + freeValues }

// Read reads and decodes a block.
func Read(r io.ReaderAt, at Ref, section string) (*Block, error) {
	_, b, err := ReadRaw(r, at, section, MaxColumns)
	return b, err
}

// ReadRaw reads a block, decodes at most columns of its columns, and also returns its bytes.
func ReadRaw(r io.ReaderAt, at Ref, section string, columns int) ([]byte, *Block, error) {
	b, c, err := open(r, at, section)
	if err != nil {
		return nil, nil, err
	}
	var cols Columns
	if b[0]&mixedBit != 0 {
		cols, err = decodeMixed(at.Kind, c.Buf[c.off:], MaxValues(len(b)))
	} else {
		cols, err = decodeColumns(c, columns)
	}
	if err != nil {
		return nil, nil, &CorruptError{Section: section, Offset: at.Offset, Cause: err}
	}
	return b, New(section, cols), nil
}

// open reads a block's bytes. The cursor contains its content.
func open(r io.ReaderAt, at Ref, section string) ([]byte, *Cursor, error) {
	corrupt := func(cause error) ([]byte, *Cursor, error) {
		return nil, nil, &CorruptError{Section: section, Offset: at.Offset, Cause: cause}
	}
	if at.Length < checksumSize+2 || at.Length > maxBlock {
		return corrupt(errShort)
	}
	b, err := ReadAt(r, at.Offset, at.Length)
	if err != nil {
		return corrupt(err)
	}
	c := &Cursor{Section: section, Buf: b[:len(b)-checksumSize]}
	sum := &Cursor{Section: section, Buf: b[len(b)-checksumSize:]}
	if sum.U64() != xxhash.Sum64(c.Buf) {
		return corrupt(errors.New("checksum differs"))
	}
	if k := Kind(c.byte()) &^ mixedBit; k != at.Kind {
		return corrupt(fmt.Errorf("block of kind %d in place of %d", k, at.Kind))
	}
	return b, c, nil
}

func decodeColumns(c *Cursor, wanted int) ([][]uint64, error) {
	type entry struct{ head, size uint64 }
	n := c.Uvarint()
	if n > MaxColumns {
		return nil, fmt.Errorf("%d columns", n)
	}
	entries := make([]entry, n)
	left := maxRatio*uint64(len(c.Buf)) + freeValues
	for i := 0; i < len(entries); i++ {
		e := &entries[i]
		if e.head = c.Uvarint(); e.head == 0 {
			more := c.Uvarint()
			if more >= n-uint64(i) {
				return nil, fmt.Errorf("%d empty columns of %d", more, n)
			}
			i += int(more)
			continue
		}
		e.size = c.Uvarint()
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
		if c.Buf[c.off] != 0 {
			return nil, errTrailing
		}
	}
	return cols, c.err
}

// Columns returns all columns of the block, including values that were already read.
func (b *Block) Columns() Columns { return b.cols }

// Left is the number of values of a column that have not been read.
func (b *Block) Left(column int) int {
	if column >= len(b.cols) {
		return 0
	}
	return len(b.cols[column]) - b.at[column]
}

// Values is the number of values in the block, which bounds all counts in it.
func (b *Block) Values() (n uint64) {
	for _, c := range b.cols {
		n += uint64(len(c))
	}
	return n
}

// Rest reads the remaining values of a column.
func (b *Block) Rest(column int) []uint64 {
	n := b.Left(column)
	if n == 0 {
		return nil
	}
	vals := b.cols[column][b.at[column]:]
	b.at[column] += n
	return vals
}

// Again returns a block for reading from the first values again.
func (b *Block) Again() *Block {
	return New(b.section, b.cols)
}

// Split divides the block: the second part has the columns from n on, numbered from 0.
func (b *Block) Split(n int) (first, second *Block) {
	n = min(n, len(b.cols))
	return &Block{section: b.section, cols: b.cols[:n:n], at: b.at[:n:n], Err: b.Err},
		&Block{section: b.section, cols: b.cols[n:], at: b.at[n:], Err: b.Err}
}

// Position says how much of each column was read.
func (b *Block) Position() []int { return slices.Clone(b.at) }

func (b *Block) Seek(position []int) { copy(b.at, position) }

// Get reads the next value of a column; 0 after an error.
func (b *Block) Get(column int) uint64 {
	if b.Left(column) == 0 {
		b.Failf("column %d ends early", column)
		return 0
	}
	v := b.cols[column][b.at[column]]
	b.at[column]++
	return v
}

// Peek returns the next value of a column without reading past it, 0 at its end.
func (b *Block) Peek(column int) uint64 {
	if b.Left(column) == 0 {
		return 0
	}
	return b.cols[column][b.at[column]]
}

// Below reads the next value of a column, which must be below limit.
func (b *Block) Below(column int, limit uint64, what string) uint64 {
	v := b.Get(column)
	if v >= limit {
		b.Failf("%s %d of %d", what, v, limit)
		return 0
	}
	return v
}

// Count reads a number of items, each of which takes at least each values of column, so that no
// more can follow than the block has.
func (b *Block) Count(column, each int, what string) int {
	v := b.Get(column)
	left := b.Left(each)
	if v > uint64(left) {
		b.Failf("%d %s announced, %d follow", v, what, left)
		return 0
	}
	return int(v)
}

func (b *Block) Bytes(column int, n uint64) []byte {
	if n > uint64(b.Left(column)) {
		if n > 0 {
			b.Failf("column %d ends early", column)
		}
		return nil
	}
	out := make([]byte, n)
	for i := range out {
		v := b.Get(column)
		if v > 0xff {
			b.Failf("byte %d", v)
		}
		out[i] = byte(v)
	}
	return out
}

func (b *Block) Failf(format string, args ...any) {
	if b.Err == nil {
		b.Err = &CorruptError{Section: b.section, Cause: fmt.Errorf(format, args...)}
	}
}

// Close returns the first error; unread values are one.
func (b *Block) Close() error {
	for i := range b.cols {
		if left := b.Left(i); left > 0 {
			b.Failf("column %d: %d values left over", i, left)
		}
	}
	return b.Err
}

// KindAt reads the kind of the block at an offset.
func KindAt(r io.ReaderAt, offset uint64) (Kind, error) {
	b, err := ReadAt(r, offset, 1)
	if err != nil {
		return 0, err
	}
	return Kind(b[0]) &^ mixedBit, nil
}

// ReadAt reads n bytes in pieces, so that a wrong length does not make it allocate more than
// exists.
func ReadAt(r io.ReaderAt, offset, n uint64) ([]byte, error) {
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
