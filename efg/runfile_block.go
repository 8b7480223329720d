package efg

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// A block is kind, encoding, uvarint length of the payload as stored, uvarint
// length of the content if it is compressed, the payload, and the XXH64 of all
// of this.

const (
	encodingRaw  = 0
	encodingZstd = 1

	// maxRatio bounds what a compressed block may expand to, so that a reader's
	// memory is bounded by the size of the file. The writer stores a block that
	// would compress further as it is.
	maxRatio     = 1024
	maxBlock     = 1 << 30
	checksumSize = 8
)

var zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
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

// appendBlock appends a block with the given content.
func appendBlock(dst []byte, kind blockKind, content []byte) []byte {
	start := len(dst)
	packed := content
	encoding := byte(encodingRaw)
	if len(content) <= maxBlock {
		z := zstdEncoder().EncodeAll(content, nil)
		if len(z)+4 < len(content) && len(content)/maxRatio < len(z) {
			packed, encoding = z, encodingZstd
		}
	}
	dst = append(dst, byte(kind), encoding)
	dst = appendUvarint(dst, uint64(len(packed)))
	if encoding == encodingZstd {
		dst = appendUvarint(dst, uint64(len(content)))
	}
	dst = append(dst, packed...)
	return appendU64(dst, xxhash.Sum64(dst[start:]))
}

// readBlock reads a block and returns its content.
func readBlock(r io.ReaderAt, ref blockRef, section string) ([]byte, error) {
	corrupt := func(cause error) ([]byte, error) {
		return nil, &CorruptError{Section: section, Offset: ref.offset, Cause: cause}
	}
	if ref.length < checksumSize+3 {
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
	content, err := unpackBlock(c)
	if err != nil {
		return corrupt(err)
	}
	return content, nil
}

// unpackBlock decodes what follows a block's kind.
func unpackBlock(c *cursor) ([]byte, error) {
	encoding := c.byte()
	stored := c.uvarint()
	size := stored
	if encoding == encodingZstd {
		size = c.uvarint()
	}
	payload := c.bytes(stored)
	if err := c.close(); err != nil {
		return nil, err
	}
	switch encoding {
	case encodingRaw:
		return payload, nil
	case encodingZstd:
		return unpackZstd(payload, size)
	}
	return nil, fmt.Errorf("unknown encoding %d", encoding)
}

func unpackZstd(payload []byte, size uint64) ([]byte, error) {
	if size > maxBlock || size/maxRatio > uint64(len(payload)) {
		return nil, fmt.Errorf("%d bytes expand to %d", len(payload), size)
	}
	// The decoder trusts the frame's own size for its first allocation.
	var h zstd.Header
	if err := h.Decode(payload); err != nil {
		return nil, err
	}
	if !h.HasFCS || h.FrameContentSize != size {
		return nil, fmt.Errorf("frame of %d bytes in a block of %d", h.FrameContentSize, size)
	}
	out, err := zstdDecoder().DecodeAll(payload, make([]byte, 0, size))
	if err != nil {
		return nil, err
	}
	if uint64(len(out)) != size {
		return nil, fmt.Errorf("%d bytes in a block of %d", len(out), size)
	}
	return out, nil
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
