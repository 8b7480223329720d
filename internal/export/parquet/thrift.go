package parquet

import "encoding/binary"

// Types of the compact protocol of Apache Thrift.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// thrift writes structures in the compact protocol of Apache Thrift, in which Parquet has its
// metadata. Fields of a structure must be written in the order of their numbers.
type thrift struct {
	b    []byte
	last []int16 // field of each open structure
}

// open begins a structure that is not a field: the outermost, or an element of a list.
func (t *thrift) open() { t.last = append(t.last, 0) }

// close ends a structure.
func (t *thrift) close() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

func (t *thrift) field(id int16, kind byte) {
	last := &t.last[len(t.last)-1]
	if delta := id - *last; delta > 0 && delta < 16 {
		t.b = append(t.b, byte(delta)<<4|kind)
	} else {
		t.b = binary.AppendVarint(append(t.b, kind), int64(id))
	}
	*last = id
}

func (t *thrift) i16(id int16, v int16) {
	t.field(id, thriftI16)
	t.b = binary.AppendVarint(t.b, int64(v))
}

func (t *thrift) i32(id int16, v int32) {
	t.field(id, thriftI32)
	t.b = binary.AppendVarint(t.b, int64(v))
}

func (t *thrift) i64(id int16, v int64) {
	t.field(id, thriftI64)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) boolean(id int16, v bool) {
	kind := byte(thriftFalse)
	if v {
		kind = thriftTrue
	}
	t.field(id, kind)
}

func (t *thrift) text(id int16, v string) {
	t.field(id, thriftBinary)
	t.element(v)
}

// element is a text in a list.
func (t *thrift) element(v string) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(v))), v...)
}

// structure begins a structure that is a field.
func (t *thrift) structure(id int16) {
	t.field(id, thriftStruct)
	t.open()
}

// empty is a structure without fields.
func (t *thrift) empty(id int16) {
	t.structure(id)
	t.close()
}

// list begins a list of a number of elements, which follow.
func (t *thrift) list(id int16, kind byte, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|kind)
		return
	}
	t.b = binary.AppendUvarint(append(t.b, 0xf0|kind), uint64(n))
}
