package efg

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var (
	errShort    = errors.New("unexpected end")
	errTrailing = errors.New("bytes left over")
)

// cursor decodes a block's content. It keeps its first error; after it every
// method returns zero values.
type cursor struct {
	section string
	buf     []byte
	off     int
	err     error
}

func (c *cursor) fail(cause error) {
	if c.err == nil {
		c.err = &CorruptError{Section: c.section, Offset: uint64(c.off), Cause: cause}
	}
}

func (c *cursor) failf(format string, args ...any) { c.fail(fmt.Errorf(format, args...)) }

func (c *cursor) left() uint64 { return uint64(len(c.buf) - c.off) }

func (c *cursor) uvarint() uint64 {
	if c.err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.buf[c.off:])
	if n <= 0 {
		c.fail(errShort)
		return 0
	}
	c.off += n
	return v
}

func (c *cursor) varint() int64 { return unzigzag(c.uvarint()) }

func (c *cursor) byte() byte {
	b := c.bytes(1)
	if b == nil {
		return 0
	}
	return b[0]
}

func (c *cursor) u64() uint64 {
	b := c.bytes(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// bytes returns the next n bytes; they alias the block.
func (c *cursor) bytes(n uint64) []byte {
	if c.err != nil {
		return nil
	}
	if n > c.left() {
		c.fail(errShort)
		return nil
	}
	b := c.buf[c.off : c.off+int(n)]
	c.off += int(n)
	return b
}

// count reads a number of items of at least size bytes each and refuses it if
// so many cannot follow.
func (c *cursor) count(size uint64) int {
	n := c.uvarint()
	if n > c.left()/size {
		c.failf("%d items announced, %d bytes left", n, c.left())
		return 0
	}
	return int(n)
}

// index reads a number below limit.
func (c *cursor) index(limit int, what string) uint32 {
	v := c.uvarint()
	if c.err == nil && v >= uint64(limit) {
		c.failf("%s %d of %d", what, v, limit)
		return 0
	}
	return uint32(v)
}

func (c *cursor) seq() *Seq {
	if c.err != nil {
		return nil
	}
	s, rest, err := DecodeSeq(c.buf[c.off:])
	if err != nil {
		c.fail(err)
		return nil
	}
	c.off = len(c.buf) - len(rest)
	return s
}

// close returns the first error; leftover bytes are one.
func (c *cursor) close() error {
	if c.err == nil && c.left() != 0 {
		c.fail(errTrailing)
	}
	return c.err
}

func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

func appendUvarint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }
func appendU64(b []byte, v uint64) []byte     { return binary.LittleEndian.AppendUint64(b, v) }
