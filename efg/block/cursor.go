package block

import (
	"encoding/binary"
	"errors"
)

var (
	errShort    = errors.New("unexpected end")
	errTrailing = errors.New("bytes left over")
)

// Cursor decodes a block's content. It keeps its first error; after it every
// method returns zero values.
type Cursor struct {
	Section string
	Buf     []byte
	off     int
	err     error
}

func (c *Cursor) fail(cause error) {
	if c.err == nil {
		c.err = &CorruptError{Section: c.Section, Offset: uint64(c.off), Cause: cause}
	}
}

func (c *Cursor) left() uint64 { return uint64(len(c.Buf) - c.off) }

// Uvarint reads a number of variable length.
func (c *Cursor) Uvarint() uint64 {
	if c.err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.Buf[c.off:])
	if n <= 0 {
		c.fail(errShort)
		return 0
	}
	c.off += n
	return v
}

func (c *Cursor) byte() byte {
	b := c.bytes(1)
	if b == nil {
		return 0
	}
	return b[0]
}

// U64 reads eight bytes, the lowest first.
func (c *Cursor) U64() uint64 {
	b := c.bytes(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// bytes returns the next n bytes; they alias the block.
func (c *Cursor) bytes(n uint64) []byte {
	if c.err != nil {
		return nil
	}
	if n > c.left() {
		c.fail(errShort)
		return nil
	}
	b := c.Buf[c.off : c.off+int(n)]
	c.off += int(n)
	return b
}

// Zigzag maps differences to unsigned numbers, small ones to small ones: 0, -1, 1, -2 become 0,
// 1, 2, 3.
func Zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

// Unzigzag is the inverse of Zigzag.
func Unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// AppendUvarint appends a number of variable length.
func AppendUvarint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// AppendU64 appends eight bytes, the lowest first.
func AppendU64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

// Bit is 1 for true.
func Bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
