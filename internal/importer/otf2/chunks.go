package otf2

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// chunks reads a file of records chunk by chunk.
type chunks struct {
	cursor
	f     *os.File
	size  int   // of a chunk
	total int64 // of the file
	next  int64 // offset of the next chunk
	ended bool
}

// openChunks opens a file of records. A file that does not exist has none.
func openChunks(name, shown string, size int) (*chunks, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return &chunks{ended: true}, nil
	}
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !st.Mode().IsRegular() {
		f.Close()
		return nil, &Error{shown, -1, errors.New("no regular file")}
	}
	return &chunks{f: f, size: size, total: st.Size(), cursor: cursor{file: shown}}, nil
}

func (c *chunks) close() {
	if c.f != nil {
		c.f.Close()
	}
}

// more returns the kind of the next record; false at the end, or after an error.
func (c *chunks) more() (kind byte, ok bool) {
	for c.err == nil && !c.ended {
		if c.at >= len(c.b) {
			if c.load(); c.ended || c.err != nil {
				break
			}
			continue
		}
		switch kind := c.b[c.at]; kind {
		case endOfChunk:
			c.at = len(c.b)
		case endOfFile, endOfBuffer:
			c.ended = true
		default:
			c.at++
			return kind, true
		}
	}
	return 0, false
}

// load reads the next chunk.
func (c *chunks) load() {
	if c.next >= c.total {
		if c.ended = true; c.total > 0 {
			c.fail(fmt.Errorf("%w: no mark of its end", ErrTruncated))
		}
		return
	}
	n := int(min(int64(c.size), c.total-c.next))
	if cap(c.b) < n {
		c.b = make([]byte, n)
	}
	c.b, c.at, c.base = c.b[:n], 0, c.next
	if _, err := c.f.ReadAt(c.b, c.next); err != nil && !errors.Is(err, io.EOF) {
		c.fail(err)
		return
	}
	c.next += int64(n)
	switch {
	case n < headerSize:
		c.fail(fmt.Errorf("%w: within the header of a chunk", ErrTruncated))
	case c.b[0] != chunkHeader:
		c.fail(errors.New("no header of a chunk"))
	case c.b[1] == bigEndian:
		c.fail(fmt.Errorf("%w: written by a big-endian machine", ErrUnsupported))
	case c.b[1] != littleEndian:
		c.fail(errors.New("no header of a chunk"))
	default:
		c.at = headerSize
	}
}
