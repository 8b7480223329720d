package runfile

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"

	"github.com/efg-tools/efg/efg/block"
)

// appendTrailer appends the trailer of a file with these features and an index of some bytes.
func appendTrailer(b []byte, features uint32, index, length uint64) []byte {
	if features&featureMixed != 0 {
		b = binary.LittleEndian.AppendUint32(b, uint32(length))
		return append(binary.LittleEndian.AppendUint32(b, shortSum(features, uint32(length))), trailerMagic...)
	}
	t := block.AppendU64(block.AppendU64(nil, index), length)
	return append(append(b, block.AppendU64(t, xxhash.Sum64(t))...), trailerMagic...)
}

// shortSum is the checksum in a short trailer: of the header and the length of the index.
func shortSum(features, length uint32) uint32 {
	return uint32(xxhash.Sum64(binary.LittleEndian.AppendUint32(appendHeader(nil, features), length)))
}

// trailer finds the index block.
func (r *Run) trailer() (block.Ref, error) {
	size := uint64(trailerSize)
	if r.features&featureMixed != 0 {
		size = shortTrailer
	}
	if r.size < headerSize+size {
		return block.Ref{}, ErrTruncated
	}
	at := r.size - size
	b, err := block.ReadAt(r.r, at, size)
	if err != nil {
		return block.Ref{}, err
	}
	if string(b[size-8:]) != trailerMagic {
		return block.Ref{}, ErrTruncated
	}
	c := &block.Cursor{Section: "trailer", Buf: b}
	var ref block.Ref
	var sound bool
	if size == shortTrailer {
		length := binary.LittleEndian.Uint32(b)
		ref = block.Ref{Offset: at - uint64(length), Length: uint64(length)}
		sound = binary.LittleEndian.Uint32(b[4:]) == shortSum(r.features, length)
	} else {
		ref = block.Ref{Offset: c.U64(), Length: c.U64()}
		sound = c.U64() == xxhash.Sum64(b[:16])
	}
	switch {
	case !sound:
		err = errors.New("checksum differs")
	case ref.Offset < headerSize || ref.Offset > at || ref.Length != at-ref.Offset:
		err = errors.New("index out of place")
	default:
		return ref, nil
	}
	return block.Ref{}, &CorruptError{Section: "trailer", Offset: at, Cause: err}
}
