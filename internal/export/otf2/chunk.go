package otf2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// Bytes of the layout; FORMAT.md draws it.
const (
	endOfChunk    = 0
	endOfBuffer   = 1
	endOfFile     = 2
	chunkHeader   = 3
	timestampMark = 5
	attributeMark = 6
	littleEndian  = 'B'
	headerSize    = 18
)

// Sizes of chunks in bytes, which are stated in the anchor file. Files but their last chunk consist
// of chunks of this size.
const (
	eventChunk      = 256 << 10
	definitionChunk = 4 << 20
)

// undefined is a reference to nothing, of 32 bits; undefined64 one of 64.
const (
	undefined   = 1<<32 - 1
	undefined64 = 1<<64 - 1
)

// errTooLarge reports a record that does not fit into a chunk.
var errTooLarge = errors.New("a record of OTF2 is larger than a chunk")

// chunks writes a file of records. Errors stay until close.
type chunks struct {
	out   io.Writer
	size  int
	timed bool // an event file, whose records have timestamps
	buf   []byte
	count uint64 // of records
	now   uint64 // of the last timestamp in the chunk
	err   error
}

// newChunks begins a file. room, if large enough, is used as the buffer.
func newChunks(out io.Writer, size int, timed bool, room []byte) *chunks {
	c := &chunks{out: out, size: size, timed: timed, buf: room[:0]}
	if cap(room) < size {
		c.buf = make([]byte, 0, size)
	}
	c.header()
	return c
}

func (c *chunks) header() {
	c.buf = append(c.buf[:0], chunkHeader, littleEndian)
	first := uint64(1)
	if c.timed {
		first += c.count
	}
	c.buf = binary.LittleEndian.AppendUint64(c.buf, first)
	c.buf = binary.LittleEndian.AppendUint64(c.buf, 0)
}

// flush writes the chunk: the file's last one as long as it is, others filled up.
func (c *chunks) flush(last bool) {
	if c.timed {
		binary.LittleEndian.PutUint64(c.buf[10:], c.count)
	}
	if last {
		c.buf = append(c.buf, endOfFile, endOfBuffer)
	} else {
		n := len(c.buf)
		c.buf = c.buf[:c.size]
		clear(c.buf[n:])
	}
	if c.err == nil {
		_, c.err = c.out.Write(c.buf)
	}
}

// fits makes room for a record, which begins a new chunk if there is not enough left.
func (c *chunks) fits(record int) bool {
	const tail = 2
	if len(c.buf)+record+tail <= c.size {
		return true
	}
	c.flush(false)
	c.header()
	if headerSize+record+tail > c.size && c.err == nil {
		c.err = fmt.Errorf("%w: %d bytes", errTooLarge, record)
	}
	return c.err == nil
}

// event appends an event: a timestamp, unless it is that of the event before in the chunk, the list
// of attributes, which may be empty, and the record.
func (c *chunks) event(time uint64, attributes, record []byte) {
	const stamp = 9
	if !c.fits(stamp + len(attributes) + len(record)) {
		return
	}
	if len(c.buf) == headerSize || time != c.now {
		c.buf = binary.LittleEndian.AppendUint64(append(c.buf, timestampMark), time)
		c.now = time
	}
	c.buf = append(c.buf, attributes...)
	c.buf = append(c.buf, record...)
	c.count++
}

// definition appends a definition.
func (c *chunks) definition(record []byte) {
	if c.fits(len(record)) {
		c.buf = append(c.buf, record...)
		c.count++
	}
}

// close writes the last chunk.
func (c *chunks) close() error {
	if c.err == nil {
		c.flush(true)
	}
	return c.err
}

// number appends an unsigned integer: the number of its bytes, and these, without leading zeros.
// bits is its width; the largest number, which means undefined, is a byte.
func number(b []byte, v uint64, width int) []byte {
	if v == 1<<width-1 { // of 64 bits: 1<<64 is 0
		return append(b, 0xff)
	}
	n := (bits.Len64(v) + 7) / 8
	b = binary.LittleEndian.AppendUint64(append(b, byte(n)), v)
	return b[:len(b)-8+n]
}

func u32(b []byte, v uint32) []byte { return number(b, uint64(v), 32) }

func u64(b []byte, v uint64) []byte { return number(b, v, 64) }

// i64 appends a signed integer, whose negative values have all 8 bytes.
func i64(b []byte, v int64) []byte {
	if v == -1 { // not undefined
		return append(b, 8, 255, 255, 255, 255, 255, 255, 255, 255)
	}
	return u64(b, uint64(v))
}

// text appends a string.
func text(b []byte, s string) []byte { return append(append(b, s...), 0) }

// record appends a record with its length before what body appends.
func record(b []byte, kind byte, body func([]byte) []byte) []byte {
	b = append(b, kind, 0)
	start := len(b)
	b = body(b)
	n := len(b) - start
	if n < 255 {
		b[start-1] = byte(n)
		return b
	}
	const long = 8
	b = append(b, make([]byte, long)...)
	copy(b[start+long:], b[start:start+n])
	b[start-1] = 255
	binary.LittleEndian.PutUint64(b[start:], uint64(n))
	return b
}
