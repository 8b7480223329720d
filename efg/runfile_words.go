package efg

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// An event has from minWords (header, callsite, object) to MaxWords words.
const (
	minWords = 3
	MaxWords = 32
)

// Forms of a word in the run file: the low two bits of a uvarint.
const (
	formNumber = 0 // zigzag number
	formConst  = 1 // number of a constant
	formOther  = 2 // one of the three below
	formDef    = 3 // number of the definition whose word it is

	otherLiteral = 0 // eight bytes follow
	otherID      = 1 // thread, node, slot follow
	otherFamily  = 2 // number of a definition and sequence number follow

	constBit  = uint64(1) << 63
	idBit     = uint64(1) << 62
	identMask = idBit - 1
	seqBits   = 24
	seqMask   = uint64(1)<<seqBits - 1
)

// wordCoder translates words into numbers of definitions where it can.
type wordCoder struct {
	byWord map[uint64]uint32 // word → number of the first definition with it
}

// append appends a word's code. Only definitions below limit are used.
func (wc *wordCoder) append(b []byte, w uint64, limit uint32) []byte {
	if w>>62 == 2 && w&identMask < 1<<32 {
		return appendUvarint(b, w&identMask<<2|formConst)
	}
	if d, ok := wc.byWord[w]; ok && d < limit && w>>62 == 0 && w > 1<<20 {
		return appendUvarint(b, uint64(d)<<2|formDef)
	}
	if d, ok := wc.byWord[w&^seqMask]; ok && d < limit && w>>62 == 0 && w > 1<<32 {
		b = appendUvarint(b, otherFamily<<2|formOther)
		return appendUvarint(appendUvarint(b, uint64(d)), w&seqMask)
	}
	if z := zigzag(int64(w)); z < 1<<54 {
		return appendUvarint(b, z<<2|formNumber)
	}
	if w>>62 == 1 {
		b = appendUvarint(b, otherID<<2|formOther)
		b = appendUvarint(b, w&identMask>>50)
		b = appendUvarint(b, w>>24&(1<<26-1))
		return appendUvarint(b, w&seqMask)
	}
	return appendU64(appendUvarint(b, otherLiteral<<2|formOther), w)
}

// word reads what append wrote. defs are the definitions known so far.
func (c *cursor) word(defs []Def) uint64 {
	u := c.uvarint()
	v := u >> 2
	switch u & 3 {
	case formNumber:
		return uint64(unzigzag(v))
	case formConst:
		return constBit | v
	case formDef:
		return c.defWord(defs, v)
	}
	switch v {
	case otherLiteral:
		return c.u64()
	case otherID:
		thread, node, slot := c.uvarint(), c.uvarint(), c.uvarint()
		if thread >= 1<<12 || node >= 1<<26 || slot > seqMask {
			c.failf("id %d:%d.%d out of range", thread, node, slot)
		}
		return idBit | thread<<50 | node<<24 | slot
	case otherFamily:
		w := c.defWord(defs, c.uvarint())
		return w&^seqMask | c.uvarint()&seqMask
	}
	c.failf("unknown form %d of a word", v)
	return 0
}

func (c *cursor) defWord(defs []Def, n uint64) uint64 {
	if n >= uint64(len(defs)) {
		c.failf("definition %d of %d", n, len(defs))
		return 0
	}
	return defs[n].Word
}

// tableKey identifies an entry of a shared table by its content.
func tableKey(kind byte, word uint64, words []uint64, data []byte) string {
	b := make([]byte, 0, 16+8*len(words)+len(data))
	b = append(b, kind)
	b = appendU64(b, word)
	b = appendUvarint(b, uint64(len(words)))
	for _, w := range words {
		b = appendU64(b, w)
	}
	return string(append(b, data...))
}

// derivedWord is the identity word that a definition's content gives.
func derivedWord(d *Def) uint64 {
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

// defTable is the shared table of definitions.
type defTable struct {
	wordCoder
	defs  []Def
	byKey map[string]uint32
}

func newDefTable() *defTable {
	return &defTable{wordCoder: wordCoder{byWord: map[uint64]uint32{}}, byKey: map[string]uint32{}}
}

// add returns the number of a definition.
func (t *defTable) add(d Def) uint32 {
	key := tableKey(byte(d.Kind), d.Word, d.Words, d.Data)
	if n, ok := t.byKey[key]; ok {
		return n
	}
	n := uint32(len(t.defs))
	t.byKey[key] = n
	if _, ok := t.byWord[d.Word]; !ok {
		t.byWord[d.Word] = n
	}
	t.defs = append(t.defs, d)
	return n
}

// A definition is kind with bit 7 set if its word follows from its content,
// number of words, number of data bytes, the word if needed, words, data.
func (t *defTable) append(b []byte) []byte {
	b = appendUvarint(b, uint64(len(t.defs)))
	for i := range t.defs {
		d := &t.defs[i]
		derived := derivedWord(d) == d.Word
		kind := byte(d.Kind)
		if derived {
			kind |= 0x80
		}
		b = append(b, kind)
		b = appendUvarint(b, uint64(len(d.Words)))
		b = appendUvarint(b, uint64(len(d.Data)))
		if !derived {
			b = appendU64(b, d.Word)
		}
		for _, w := range d.Words {
			b = t.wordCoder.append(b, w, uint32(i))
		}
		b = append(b, d.Data...)
	}
	return b
}

func decodeDefs(section string, content []byte) ([]Def, error) {
	c := &cursor{section: section, buf: content}
	n := c.count(3)
	defs := make([]Def, 0, n)
	for i := 0; i < n && c.err == nil; i++ {
		kind := c.byte()
		nwords := c.count(1)
		ndata := c.uvarint()
		d := Def{Kind: DefKind(kind &^ 0x80)}
		if kind&0x80 == 0 {
			d.Word = c.u64()
		}
		if d.Kind > DefNamed {
			c.failf("unknown kind %d of a definition", d.Kind)
		}
		if c.err == nil && nwords > 0 {
			d.Words = make([]uint64, nwords)
		}
		for k := range d.Words {
			d.Words[k] = c.word(defs)
		}
		if ndata > 0 {
			d.Data = c.bytes(ndata)
		}
		if kind&0x80 != 0 {
			d.Word = derivedWord(&d)
		}
		defs = append(defs, d)
	}
	return defs, c.close()
}

// sigTable is the shared table of signatures.
type sigTable struct {
	sigs  [][]uint64
	byKey map[string]uint32
}

func (t *sigTable) add(words []uint64) (uint32, error) {
	if len(words) < minWords || len(words) > MaxWords {
		return 0, fmt.Errorf("signature of %d words", len(words))
	}
	key := tableKey(0, 0, words, nil)
	n, ok := t.byKey[key]
	if !ok {
		n = uint32(len(t.sigs))
		t.byKey[key] = n
		t.sigs = append(t.sigs, words)
	}
	return n, nil
}

// A signature is its number of words and the words.
func (t *sigTable) append(b []byte, wc *wordCoder) []byte {
	b = appendUvarint(b, uint64(len(t.sigs)))
	for _, s := range t.sigs {
		b = append(b, byte(len(s)))
		for _, w := range s {
			b = wc.append(b, w, none)
		}
	}
	return b
}

func decodeSignatures(section string, content []byte, defs []Def) ([][]uint64, error) {
	c := &cursor{section: section, buf: content}
	n := c.count(2)
	sigs := make([][]uint64, 0, n)
	for i := 0; i < n && c.err == nil; i++ {
		k := int(c.byte())
		if k < minWords || k > MaxWords {
			c.failf("signature of %d words", k)
			break
		}
		s := make([]uint64, k)
		for j := range s {
			s[j] = c.word(defs)
		}
		sigs = append(sigs, s)
	}
	return sigs, c.close()
}
