package efg

import (
	"bytes"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// identMask selects the bits of a hash that are in an identity word.
const identMask = uint64(1)<<62 - 1

// Identity is the identity word that a definition's content determines: a hash; for modules
// that of the build-id, or of the file's name if there is none. A definition that the recorder
// names differently has another word.
func (d *Def) Identity() uint64 {
	if d.Kind == DefModule {
		path, build, _ := bytes.Cut(d.Data, []byte{0})
		if len(build) == 0 {
			build = path[bytes.LastIndexByte(path, '/')+1:]
		}
		return xxhash.Sum64(build) & identMask
	}
	var h xxhash.Digest
	h.Reset()
	var b [8]byte
	for _, w := range d.Words {
		binary.LittleEndian.PutUint64(b[:], w)
		h.Write(b[:])
	}
	h.Write(d.Data)
	return h.Sum64() & identMask
}
