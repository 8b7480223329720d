// Package arrow writes a table of package table as a file of Apache Arrow (the IPC file format,
// Feather version 2). FORMAT.md in package table describes it.
//
// The format is a few structures around the columns as they are in memory. They are written here with
// the library of FlatBuffers alone: the general library brings readers, arithmetic and Parquet along.
package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/table"
)

// magic is at the beginning and the end of a file.
const magic = "ARROW1"

// Constants of the format's structures, by the names in Message.fbs and Schema.fbs.
const (
	version5 = 4

	headerSchema      = 1
	headerRecordBatch = 3

	typeInt       = 2
	typeUtf8      = 5
	typeBool      = 6
	typeTimestamp = 10

	nanoseconds = 3
)

// Write writes the table that the job wants.
func Write(out io.Writer, job *export.Job) error {
	w := &writer{out: out, schema: table.Wanted(job)}
	w.begin()
	err := table.Each(job, w.schema, w.batch)
	w.end()
	return errors.Join(err, w.err)
}

// writer writes a file; the first error is kept.
type writer struct {
	out    io.Writer
	offset int64
	err    error
	schema *table.Schema
	blocks []location
	body   []byte
}

// location is where in the file a batch is.
type location struct {
	offset, body int64
	metadata     int32
}

func (w *writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(b)
	w.offset += int64(n)
	w.err = err
}

func (w *writer) begin() {
	w.write([]byte(magic + "\x00\x00"))
	b := flatbuffers.NewBuilder(4096)
	w.message(b, headerSchema, describe(b, w.schema), nil)
}

func (w *writer) end() {
	w.write([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	b := flatbuffers.NewBuilder(4096)
	schema := describe(b, w.schema)
	const size, alignment = 24, 8
	b.StartVector(size, len(w.blocks), alignment)
	for i := len(w.blocks) - 1; i >= 0; i-- {
		b.Prep(alignment, size)
		b.PrependInt64(w.blocks[i].body)
		b.Pad(4)
		b.PrependInt32(w.blocks[i].metadata)
		b.PrependInt64(w.blocks[i].offset)
	}
	blocks := b.EndVector(len(w.blocks))
	b.StartObject(4)
	b.PrependInt16Slot(0, version5, 0)
	b.PrependUOffsetTSlot(1, schema, 0)
	b.PrependUOffsetTSlot(3, blocks, 0)
	b.Finish(b.EndObject())
	footer := b.FinishedBytes()
	w.write(footer)
	w.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	w.write([]byte(magic))
}

// message writes a structure with its body, and returns where it is.
func (w *writer) message(b *flatbuffers.Builder, kind byte, header flatbuffers.UOffsetT, body []byte) location {
	b.StartObject(5)
	b.PrependInt16Slot(0, version5, 0)
	b.PrependByteSlot(1, kind, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependInt64Slot(3, int64(len(body)), 0)
	b.Finish(b.EndObject())
	metadata := b.FinishedBytes()
	for len(metadata)%8 != 0 {
		metadata = append(metadata, 0)
	}
	at := location{offset: w.offset, metadata: int32(8 + len(metadata)), body: int64(len(body))}
	prefix := []byte{0xff, 0xff, 0xff, 0xff}
	w.write(binary.LittleEndian.AppendUint32(prefix, uint32(len(metadata))))
	w.write(metadata)
	w.write(body)
	return at
}

// describe adds the schema.
func describe(b *flatbuffers.Builder, schema *table.Schema) flatbuffers.UOffsetT {
	fields := make([]flatbuffers.UOffsetT, len(schema.Columns))
	for i := range schema.Columns {
		fields[i] = field(b, &schema.Columns[i])
	}
	list := vector(b, fields)
	keys := vector(b, []flatbuffers.UOffsetT{
		pair(b, "efg.table", schema.Name), pair(b, "efg.tables.version", fmt.Sprint(table.Version)),
	})
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, list, 0)
	b.PrependUOffsetTSlot(2, keys, 0)
	return b.EndObject()
}

// vector adds a list of structures.
func vector(b *flatbuffers.Builder, elements []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(flatbuffers.SizeUOffsetT, len(elements), flatbuffers.SizeUOffsetT)
	for i := len(elements) - 1; i >= 0; i-- {
		b.PrependUOffsetT(elements[i])
	}
	return b.EndVector(len(elements))
}

func pair(b *flatbuffers.Builder, key, value string) flatbuffers.UOffsetT {
	k, v := b.CreateString(key), b.CreateString(value)
	b.StartObject(2)
	b.PrependUOffsetTSlot(0, k, 0)
	b.PrependUOffsetTSlot(1, v, 0)
	return b.EndObject()
}

func field(b *flatbuffers.Builder, c *table.Column) flatbuffers.UOffsetT {
	name := b.CreateString(c.Name)
	kind, details := typeOf(b, c.Type)
	children := vector(b, nil)
	b.StartObject(7)
	b.PrependUOffsetTSlot(0, name, 0)
	b.PrependBoolSlot(1, c.Nullable, false)
	b.PrependByteSlot(2, kind, 0)
	b.PrependUOffsetTSlot(3, details, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	return b.EndObject()
}

// typeOf adds a type.
func typeOf(b *flatbuffers.Builder, t table.Type) (kind byte, details flatbuffers.UOffsetT) {
	switch t {
	case table.Boolean:
		b.StartObject(0)
		return typeBool, b.EndObject()
	case table.Text, table.JSON:
		b.StartObject(0)
		return typeUtf8, b.EndObject()
	case table.Timestamp:
		zone := b.CreateString("UTC")
		b.StartObject(2)
		b.PrependInt16Slot(0, nanoseconds, 0)
		b.PrependUOffsetTSlot(1, zone, 0)
		return typeTimestamp, b.EndObject()
	}
	b.StartObject(2)
	b.PrependInt32Slot(0, 64, 0)
	b.PrependBoolSlot(1, true, false)
	return typeInt, b.EndObject()
}

// batchBytes is about how many bytes of texts a batch has, unless a row alone has more.
const batchBytes = 16 << 20

// batch writes rows, as many at a time as have few texts: rows may share them in memory, but not in
// the file.
func (w *writer) batch(b *table.Batch) error {
	for from := 0; from < b.Rows; {
		to, size := from, 0
		for to < b.Rows && (to == from || size < batchBytes) {
			for i := range b.Vectors {
				if v := &b.Vectors[i]; b.Columns[i].Type.Textual() {
					size += len(v.Texts[v.Value(to)])
				}
			}
			to++
		}
		w.rows(b, from, to)
		from = to
	}
	return w.err
}

// part is a buffer of the body of a batch.
type part struct{ offset, length int64 }

// rows writes some rows of a batch.
func (w *writer) rows(b *table.Batch, from, to int) {
	w.body = w.body[:0]
	var parts []part
	nulls := make([]int64, len(b.Vectors))
	end := func(begin int) {
		parts = append(parts, part{int64(begin), int64(len(w.body) - begin)})
		for len(w.body)%8 != 0 {
			w.body = append(w.body, 0)
		}
	}
	for i := range b.Vectors {
		v, begin := &b.Vectors[i], len(w.body)
		nulls[i] = w.validity(v, from, to)
		end(begin)
		switch begin = len(w.body); {
		case b.Columns[i].Type.Textual():
			w.offsets(v, from, to)
			end(begin)
			begin = len(w.body)
			for row := from; row < to; row++ {
				w.body = append(w.body, v.Texts[v.Value(row)]...)
			}
		case b.Columns[i].Type == table.Boolean:
			w.bits(from, to, func(row int) bool { return v.Ints[v.Value(row)] != 0 })
		default:
			for row := from; row < to; row++ {
				w.body = binary.LittleEndian.AppendUint64(w.body, uint64(v.Ints[v.Value(row)]))
			}
		}
		end(begin)
	}
	w.blocks = append(w.blocks, w.recordBatch(int64(to-from), nulls, parts))
}

// validity appends which rows have a value, unless all have, and returns how many have none.
func (w *writer) validity(v *table.Vector, from, to int) (nulls int64) {
	for row := from; row < to; row++ {
		if v.Null(v.Value(row)) {
			nulls++
		}
	}
	if nulls > 0 {
		w.bits(from, to, func(row int) bool { return !v.Null(v.Value(row)) })
	}
	return nulls
}

// bits appends a bit for each row.
func (w *writer) bits(from, to int, bit func(row int) bool) {
	for row := from; row < to; row++ {
		if (row-from)%8 == 0 {
			w.body = append(w.body, 0)
		}
		if bit(row) {
			w.body[len(w.body)-1] |= 1 << ((row - from) % 8)
		}
	}
}

// offsets appends where the text of each row begins, and where the last one ends.
func (w *writer) offsets(v *table.Vector, from, to int) {
	at := uint32(0)
	for row := from; row < to; row++ {
		w.body = binary.LittleEndian.AppendUint32(w.body, at)
		at += uint32(len(v.Texts[v.Value(row)]))
	}
	w.body = binary.LittleEndian.AppendUint32(w.body, at)
}

// recordBatch writes the body with its description.
func (w *writer) recordBatch(rows int64, nulls []int64, parts []part) location {
	b := flatbuffers.NewBuilder(4096)
	const size, alignment = 16, 8
	b.StartVector(size, len(parts), alignment)
	for i := len(parts) - 1; i >= 0; i-- {
		b.Prep(alignment, size)
		b.PrependInt64(parts[i].length)
		b.PrependInt64(parts[i].offset)
	}
	buffers := b.EndVector(len(parts))
	b.StartVector(size, len(nulls), alignment)
	for i := len(nulls) - 1; i >= 0; i-- {
		b.Prep(alignment, size)
		b.PrependInt64(nulls[i])
		b.PrependInt64(rows)
	}
	nodes := b.EndVector(len(nulls))
	b.StartObject(4)
	b.PrependInt64Slot(0, rows, 0)
	b.PrependUOffsetTSlot(1, nodes, 0)
	b.PrependUOffsetTSlot(2, buffers, 0)
	return w.message(b, headerRecordBatch, b.EndObject(), w.body)
}
