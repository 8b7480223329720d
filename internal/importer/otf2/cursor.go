package otf2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Undefined is a reference to nothing.
const Undefined = math.MaxUint64

// Bytes of the layout.
const (
	endOfChunk    = 0
	endOfBuffer   = 1
	endOfFile     = 2
	chunkHeader   = 3
	timestampMark = 5
	attributeMark = 6
	littleEndian  = 'B'
	bigEndian     = '#'
	headerSize    = 18
)

// cursor reads numbers from a part of a file. It keeps the first error.
type cursor struct {
	b    []byte
	at   int
	file string
	base int64 // offset of b in the file
	err  error
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = &Error{c.file, c.base + int64(c.at), err}
	}
	c.at = len(c.b)
}

func (c *cursor) failf(format string, args ...any) { c.fail(fmt.Errorf(format, args...)) }

func (c *cursor) left() int { return len(c.b) - c.at }

// cut returns the next n bytes.
func (c *cursor) cut(n uint64) []byte {
	if n > uint64(c.left()) {
		c.fail(fmt.Errorf("%w: %d bytes are left of %d", ErrTruncated, c.left(), n))
		return nil
	}
	b := c.b[c.at : c.at+int(n)]
	c.at += int(n)
	return b
}

func (c *cursor) byte() byte {
	if c.at >= len(c.b) {
		c.fail(ErrTruncated)
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

// full reads a number of 8 bytes.
func (c *cursor) full() uint64 {
	if b := c.cut(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) full32() uint32 {
	if b := c.cut(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

var errNumber = errors.New("a number of more bytes than it may have")

// number reads an integer of at most width bytes, which stand after their number.
func (c *cursor) number(width byte) uint64 {
	n := c.byte()
	if n == 0xff {
		return Undefined
	}
	if n > width {
		c.fail(errNumber)
		return 0
	}
	v := uint64(0)
	for i, x := range c.cut(uint64(n)) {
		v |= uint64(x) << (8 * i)
	}
	return v
}

func (c *cursor) u32() uint64 { return c.number(4) }
func (c *cursor) u64() uint64 { return c.number(8) }

// length reads the length of a record.
func (c *cursor) length() uint64 {
	if n := c.byte(); n < 0xff {
		return uint64(n)
	}
	return c.full()
}

// text reads text up to a zero.
func (c *cursor) text() string {
	for i := c.at; i < len(c.b); i++ {
		if c.b[i] == 0 {
			s := string(c.b[c.at:i])
			c.at = i + 1
			return s
		}
	}
	c.fail(fmt.Errorf("%w: text has no end", ErrTruncated))
	return ""
}

// record cuts the next n bytes off as a cursor of their own.
func (c *cursor) record(n uint64) cursor {
	at := c.at
	b := c.cut(n)
	return cursor{b: b, file: c.file, base: c.base + int64(at), err: c.err}
}
