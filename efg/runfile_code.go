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

func flag(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
