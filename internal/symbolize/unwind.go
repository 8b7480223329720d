package symbolize

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"sort"
)

// Programs without symbols have a table for exceptions and unwinders, which says where their functions begin:
// .eh_frame_hdr has the beginnings in order, .eh_frame the ranges (Linux Standard Base, Core, chapter 10.6).

// Encodings of addresses in these sections: a format, and what the value is relative to.
const (
	encodedFormat = 0x0f
	encodedSigned = 0x0b // of 4 bytes; 0x03 without a sign
	encodedShort  = 0x03
	encodedLong   = 0x04 // of 8 bytes; 0x0c with a sign
	encodedPC     = 0x10
	encodedTable  = 0x3b // of .eh_frame_hdr: 4 bytes relative to the section
)

// nameFromUnwindTable names functions that have no other name by their beginnings: "module+0x1180".
func nameFromUnwindTable(f *elf.File, module string, queries []query) {
	var t *unwindTable
	for _, q := range queries {
		if q.place.Func != "" {
			continue
		}
		if t == nil {
			if t = newUnwindTable(f); t == nil {
				return
			}
		}
		if begin, ok := t.function(q.addr); ok {
			q.place.Func = fmt.Sprintf("%s+%#x", module, begin)
		}
	}
}

// unwindTable is the table of a file.
type unwindTable struct {
	order   binary.ByteOrder
	entries []byte // pairs of a function's beginning and the address of its record, relative to at
	at      uint64
	records []byte // .eh_frame
	frame   uint64 // its address
}

const entrySize = 8

// newUnwindTable finds the table; nil if there is none, or none of the usual form.
func newUnwindTable(f *elf.File) *unwindTable {
	head, frame := f.Section(".eh_frame_hdr"), f.Section(".eh_frame")
	if head == nil || frame == nil || f.Class != elf.ELFCLASS64 {
		return nil
	}
	b, err := head.Data()
	// Version, encodings of the following address, the count and the entries.
	if err != nil || len(b) < 12 || b[0] != 1 || b[1]&encodedFormat != encodedSigned || b[2] != encodedShort || b[3] != encodedTable {
		return nil
	}
	n := uint64(f.ByteOrder.Uint32(b[8:]))
	if n > uint64(len(b)-12)/entrySize {
		return nil
	}
	records, err := frame.Data()
	if err != nil {
		return nil
	}
	return &unwindTable{f.ByteOrder, b[12 : 12+n*entrySize], head.Addr, records, frame.Addr}
}

// entry is where function i begins, and the address of its record.
func (t *unwindTable) entry(i int) (begin, record uint64) {
	b := t.entries[i*entrySize:]
	return t.at + uint64(int64(int32(t.order.Uint32(b)))), t.at + uint64(int64(int32(t.order.Uint32(b[4:]))))
}

// function returns where the function with an address begins.
func (t *unwindTable) function(addr uint64) (begin uint64, ok bool) {
	n := len(t.entries) / entrySize
	i := sort.Search(n, func(i int) bool {
		begin, _ := t.entry(i)
		return begin > addr
	}) - 1
	if i < 0 {
		return 0, false
	}
	begin, record := t.entry(i)
	size, ok := t.size(record)
	return begin, ok && addr-begin < size
}

// size is the length of the function with a record.
func (t *unwindTable) size(record uint64) (uint64, bool) {
	b := t.bytesAt(record - t.frame)
	if len(b) < 8 {
		return 0, false
	}
	back := uint64(t.order.Uint32(b[4:])) // from here to what records have in common
	encoding, ok := t.encoding(record - t.frame + 4 - back)
	width := widthOf(encoding)
	if b = b[8:]; !ok || width == 0 || len(b) < 2*width {
		return 0, false
	}
	if b = b[width:]; width == 4 {
		return uint64(t.order.Uint32(b)), true
	}
	return t.order.Uint64(b), true
}

// widthOf is how many bytes an address takes; 0: not known.
func widthOf(encoding byte) int {
	switch encoding & encodedFormat {
	case encodedSigned, encodedShort:
		return 4
	case 0, encodedLong, encodedLong | 8:
		return 8
	}
	return 0
}

func (t *unwindTable) bytesAt(offset uint64) []byte {
	if offset >= uint64(len(t.records)) {
		return nil
	}
	return t.records[offset:]
}

// encoding is that of addresses in records which have what is at an offset in common: a length, 0, a version, a
// text, two factors, the register of the return address, and what the text's letters stand for.
func (t *unwindTable) encoding(offset uint64) (byte, bool) {
	b := t.bytesAt(offset)
	if len(b) < 9 {
		return 0, false
	}
	version := b[8]
	text, rest, ok := bytes.Cut(b[9:], []byte{0})
	if !ok || len(text) == 0 || text[0] != 'z' {
		return 0, ok && len(text) == 0
	}
	r := bytes.NewReader(rest)
	binary.ReadUvarint(r)
	binary.ReadUvarint(r) // signed; as long
	if version == 1 {
		r.ReadByte()
	} else {
		binary.ReadUvarint(r)
	}
	binary.ReadUvarint(r)
	for _, letter := range text[1:] {
		switch letter {
		case 'R':
			encoding, err := r.ReadByte()
			return encoding, err == nil
		case 'L':
			r.ReadByte()
		case 'P':
			encoding, err := r.ReadByte()
			if width := widthOf(encoding); err != nil || width == 0 {
				return 0, false
			}
			r.Seek(int64(widthOf(encoding)), 1)
		}
	}
	return 0, true
}
