package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"github.com/efg-tools/efg/internal/export/table"
)

// magic is at the beginning and the end of a file.
const magic = "PAR1"

// Constants of the format's metadata.
const (
	physicalBoolean   = 0
	physicalInt64     = 2
	physicalByteArray = 6

	encodingPlain      = 0
	encodingRLE        = 3
	encodingDelta      = 5
	encodingDictionary = 8

	pageData       = 0
	pageDictionary = 2

	required = 0
	optional = 1

	convertedUTF8 = 0
	convertedJSON = 19

	logicalString    = 1
	logicalTimestamp = 8
	logicalJSON      = 12

	codecZstd = 6
)

// file writes a table. Each batch becomes a row group, whose columns have one data page each.
type file struct {
	w      io.Writer
	offset int64
	schema *table.Schema
	zip    *zstd.Encoder
	rows   int64
	groups [][]byte // metadata of row groups
	room   scratch
}

// scratch is memory that is used again.
type scratch struct {
	page, zipped []byte
	entries      []byte // of a dictionary
	levels       []uint32
	codes        []uint32
	ints         []int64
}

// newEncoder makes an encoder that files may share, one at a time.
func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(1<<20))
}

func newFile(w io.Writer, schema *table.Schema, zip *zstd.Encoder) (*file, error) {
	f := &file{w: w, schema: schema, zip: zip}
	return f, f.write([]byte(magic))
}

func (f *file) write(b []byte) error {
	n, err := f.w.Write(b)
	f.offset += int64(n)
	return err
}

// chunk is what the metadata says about a column of a row group.
type chunk struct {
	begin, dictionary, data int64 // offsets; dictionary is 0 if there is none
	size, zipped            int64
	encodings               []int32
	nulls                   int64
	least, most             []byte // nil: unknown
}

// add writes a row group.
func (f *file) add(b *table.Batch) error {
	begin := f.offset
	chunks := make([]chunk, len(b.Vectors))
	total := int64(0)
	for i := range b.Vectors {
		c := &chunks[i]
		c.begin = f.offset
		if err := f.column(c, &b.Columns[i], &b.Vectors[i], b.Rows); err != nil {
			return err
		}
		total += c.size
	}
	f.rows += int64(b.Rows)
	f.groups = append(f.groups, f.describe(chunks, int64(b.Rows), begin, total))
	return nil
}

// column writes a column of a row group.
func (f *file) column(c *chunk, column *table.Column, v *table.Vector, rows int) error {
	page := f.levels(c, column, v, rows, f.room.page[:0])
	values, encoding := f.values(v, column, rows)
	var err error
	switch {
	case column.Type == table.Boolean:
		page = appendBits(page, truths(values))
		c.describe(encodeInts(values))
		encoding = encodingPlain
	case encoding == encodingDictionary:
		page, err = f.coded(c, column, v, page)
	case column.Type.Textual():
		page = f.plain(c, v, page)
	default:
		page = appendDelta(page, values)
		c.describe(encodeInts(values))
	}
	if err != nil {
		return err
	}
	f.room.page = page
	c.data = f.offset
	c.encodings = append(c.encodings, int32(encoding), encodingRLE)
	return f.page(c, pageData, page, func(t *thrift) {
		t.structure(5)
		t.i32(1, int32(rows))
		t.i32(2, int32(encoding))
		t.i32(3, encodingRLE)
		t.i32(4, encodingRLE)
		t.close()
	})
}

// levels appends which rows have a value, of columns that may have none.
func (f *file) levels(c *chunk, column *table.Column, v *table.Vector, rows int, page []byte) []byte {
	if !column.Nullable {
		return page
	}
	levels := f.room.levels[:0]
	for i := range rows {
		level := uint32(1)
		if v.Null(v.Value(i)) {
			level = 0
			c.nulls++
		}
		levels = append(levels, level)
	}
	f.room.levels = levels
	at := len(page)
	page = appendHybrid(append(page, 0, 0, 0, 0), levels, 1)
	binary.LittleEndian.PutUint32(page[at:], uint32(len(page)-at-4))
	return page
}

// values chooses the encoding of a column, and returns the integers of the rows that have one if
// that is not the dictionary's. Few values that rows refer to become a dictionary.
func (f *file) values(v *table.Vector, column *table.Column, rows int) ([]int64, int) {
	of := max(len(v.Texts), len(v.Ints))
	if v.Of != nil && 2*of <= rows+1 && column.Type != table.Boolean {
		return nil, encodingDictionary
	}
	if column.Type.Textual() {
		return nil, encodingPlain
	}
	ints := f.room.ints[:0]
	for i := range rows {
		if n := v.Value(i); !v.Null(n) {
			ints = append(ints, v.Ints[n])
		}
	}
	f.room.ints = ints
	return ints, encodingDelta
}

// coded writes the dictionary of a column, and appends the numbers of the values in it.
func (f *file) coded(c *chunk, column *table.Column, v *table.Vector, page []byte) ([]byte, error) {
	var codes []uint32
	entries := f.room.entries[:0]
	var n int
	if column.Type.Textual() {
		codes, n = number(v, len(v.Texts), findText(v.Texts), func(i int) { entries = appendText(entries, v.Texts[i]) })
		c.describe(textBounds(v))
	} else {
		codes, n = number(v, len(v.Ints), findInt(v.Ints), func(i int) { entries = binary.LittleEndian.AppendUint64(entries, uint64(v.Ints[i])) })
		c.describe(intBounds(v))
	}
	f.room.entries = entries
	c.dictionary = f.offset
	c.encodings = append(c.encodings, encodingPlain)
	err := f.page(c, pageDictionary, entries, func(t *thrift) {
		t.structure(7)
		t.i32(1, int32(n))
		t.i32(2, encodingPlain)
		t.close()
	})
	list := f.room.codes[:0]
	for _, of := range v.Of {
		if !v.Null(int(of)) {
			list = append(list, codes[of])
		}
	}
	f.room.codes = list
	width := bits.Len(uint(max(n-1, 0)))
	return appendHybrid(append(page, byte(width)), list, width), err
}

// number returns the number of each value of a vector among those that are taken to be different, and how many these are.
// find says which number a value has, and whether it is new.
func number(v *table.Vector, values int, find func(i int) (n uint32, added bool), entry func(i int)) (codes []uint32, distinct int) {
	codes = make([]uint32, values)
	for i := range codes {
		if v.Null(i) {
			continue
		}
		n, added := uint32(distinct), v.Distinct
		if !added {
			n, added = find(i)
		}
		if added {
			distinct++
			entry(i)
		}
		codes[i] = n
	}
	return codes, distinct
}

// findText finds texts. Most are equal to the one before.
func findText(texts []string) func(i int) (uint32, bool) {
	known := map[string]uint32{}
	last, number := "", uint32(0)
	return func(i int) (uint32, bool) {
		if texts[i] == last && len(known) > 0 {
			return number, false
		}
		n, ok := known[texts[i]]
		if !ok {
			n = uint32(len(known))
			known[texts[i]] = n
		}
		last, number = texts[i], n
		return n, !ok
	}
}

// findInt finds integers, in a table with open addressing.
func findInt(ints []int64) func(i int) (uint32, bool) {
	type slot struct {
		value  int64
		number uint32 // from 1
	}
	width := bits.Len(uint(2 * len(ints)))
	slots := make([]slot, 1<<width)
	known := uint32(0)
	return func(i int) (uint32, bool) {
		v := ints[i]
		at := uint64(v) * 0x9e3779b97f4a7c15 >> (64 - width)
		for ; slots[at].number != 0; at = (at + 1) & (1<<width - 1) {
			if slots[at].value == v {
				return slots[at].number - 1, false
			}
		}
		known++
		slots[at] = slot{v, known}
		return known - 1, true
	}
}

// plain appends the texts themselves.
func (f *file) plain(c *chunk, v *table.Vector, page []byte) []byte {
	for _, of := range v.Of {
		if !v.Null(int(of)) {
			page = appendText(page, v.Texts[of])
		}
	}
	c.describe(textBounds(v))
	return page
}

func truths(values []int64) []bool {
	list := make([]bool, len(values))
	for i, v := range values {
		list[i] = v != 0
	}
	return list
}

// describe sets the bounds of the values.
func (c *chunk) describe(least, most []byte) { c.least, c.most = least, most }

// longestBound is the length up to which texts are written as bounds.
const longestBound = 64

func textBounds(v *table.Vector) (least, most []byte) {
	first := true
	var low, high string
	for i, t := range v.Texts {
		if v.Null(i) {
			continue
		}
		if first || t < low {
			low = t
		}
		if first || t > high {
			high = t
		}
		first = false
	}
	if first || len(low) > longestBound || len(high) > longestBound {
		return nil, nil
	}
	return []byte(low), []byte(high)
}

func intBounds(v *table.Vector) (least, most []byte) {
	var values []int64
	for i, x := range v.Ints {
		if !v.Null(i) {
			values = append(values, x)
		}
	}
	return encodeInts(values)
}

// encodeInts returns the bounds of integers as they are stored.
func encodeInts(values []int64) (least, most []byte) {
	if len(values) == 0 {
		return nil, nil
	}
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(low)), binary.LittleEndian.AppendUint64(nil, uint64(high))
}

// page writes a page. header writes the part of its header that depends on its kind.
func (f *file) page(c *chunk, kind int32, content []byte, header func(*thrift)) error {
	f.room.zipped = f.zip.EncodeAll(content, f.room.zipped[:0])
	var t thrift
	t.open()
	t.i32(1, kind)
	t.i32(2, int32(len(content)))
	t.i32(3, int32(len(f.room.zipped)))
	header(&t)
	t.close()
	c.size += int64(len(t.b) + len(content))
	c.zipped += int64(len(t.b) + len(f.room.zipped))
	if err := f.write(t.b); err != nil {
		return err
	}
	return f.write(f.room.zipped)
}

// describe returns the metadata of a row group.
func (f *file) describe(chunks []chunk, rows, begin, size int64) []byte {
	var t thrift
	t.open()
	t.list(1, thriftStruct, len(chunks))
	for i := range chunks {
		chunks[i].write(&t, &f.schema.Columns[i], rows)
	}
	t.i64(2, size)
	t.i64(3, rows)
	if f.schema.Order > 0 {
		t.list(4, thriftStruct, f.schema.Order)
		for i := range f.schema.Order {
			t.open()
			t.i32(1, int32(i))
			t.boolean(2, false)
			t.boolean(3, false)
			t.close()
		}
	}
	t.i64(5, begin)
	t.i64(6, f.offset-begin)
	if n := len(f.groups); n <= 1<<15-1 {
		t.i16(7, int16(n))
	}
	t.close()
	return t.b
}

func (c *chunk) write(t *thrift, column *table.Column, rows int64) {
	t.open()
	t.i64(2, c.begin)
	t.structure(3)
	t.i32(1, physicalType(column))
	t.list(2, thriftI32, len(c.encodings))
	for _, e := range c.encodings {
		t.b = binary.AppendVarint(t.b, int64(e))
	}
	t.list(3, thriftBinary, 1)
	t.element(column.Name)
	t.i32(4, codecZstd)
	t.i64(5, rows)
	t.i64(6, c.size)
	t.i64(7, c.zipped)
	t.i64(9, c.data)
	if c.dictionary > 0 {
		t.i64(11, c.dictionary)
	}
	t.structure(12)
	t.i64(3, c.nulls)
	if c.least != nil {
		least, most := c.least, c.most
		if column.Type == table.Boolean {
			least, most = least[:1], most[:1]
		}
		t.text(5, string(most))
		t.text(6, string(least))
	}
	t.close()
	t.close()
	t.close()
}

func physicalType(c *table.Column) int32 {
	switch {
	case c.Type.Textual():
		return physicalByteArray
	case c.Type == table.Boolean:
		return physicalBoolean
	}
	return physicalInt64
}

// close writes the metadata.
func (f *file) close() error {
	var t thrift
	t.open()
	t.i32(1, 2)
	t.list(2, thriftStruct, len(f.schema.Columns)+1)
	t.open()
	t.text(4, f.schema.Name)
	t.i32(5, int32(len(f.schema.Columns)))
	t.close()
	for i := range f.schema.Columns {
		describeColumn(&t, &f.schema.Columns[i])
	}
	t.i64(3, f.rows)
	t.list(4, thriftStruct, len(f.groups))
	for _, g := range f.groups {
		t.b = append(t.b, g...)
	}
	keys := [][2]string{{"efg.table", f.schema.Name}, {"efg.tables.version", fmt.Sprint(table.Version)}}
	t.list(5, thriftStruct, len(keys))
	for _, k := range keys {
		t.open()
		t.text(1, k[0])
		t.text(2, k[1])
		t.close()
	}
	t.text(6, "efg")
	t.list(7, thriftStruct, len(f.schema.Columns))
	for range f.schema.Columns {
		t.open()
		t.empty(1)
		t.close()
	}
	t.close()
	t.b = binary.LittleEndian.AppendUint32(t.b, uint32(len(t.b)))
	return f.write(append(t.b, magic...))
}

// describeColumn writes the schema of a column.
func describeColumn(t *thrift, c *table.Column) {
	t.open()
	t.i32(1, physicalType(c))
	repetition := int32(required)
	if c.Nullable {
		repetition = optional
	}
	t.i32(3, repetition)
	t.text(4, c.Name)
	switch c.Type {
	case table.Text:
		t.i32(6, convertedUTF8)
		t.structure(10)
		t.empty(logicalString)
		t.close()
	case table.JSON:
		t.i32(6, convertedJSON)
		t.structure(10)
		t.empty(logicalJSON)
		t.close()
	case table.Timestamp:
		t.structure(10)
		t.structure(logicalTimestamp)
		t.boolean(1, true)
		t.structure(2)
		t.empty(3) // nanoseconds
		t.close()
		t.close()
		t.close()
	}
	t.close()
}
