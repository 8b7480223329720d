package table

// BatchRows is the number of rows of a full batch.
const BatchRows = 122_880

// batchText is the size in bytes of the texts of a batch, equal ones once, above which it ends with
// fewer rows.
const batchText = 64 << 20

// Batch is a part of a table, of up to BatchRows rows.
type Batch struct {
	*Schema
	Rows    int
	Vectors []Vector // by column
}

// Vector has the values of a column.
type Vector struct {
	// Of is, for each row, the number of its value; nil: row i has value i.
	Of    []uint32
	Ints  []int64
	Texts []string
	// Nulls says which values are absent; nil: none.
	Nulls []bool
	// Distinct: so few values are equal that to look for these does not pay.
	Distinct bool
}

// Value returns the number of a row's value.
func (v *Vector) Value(row int) int {
	if v.Of == nil {
		return row
	}
	return int(v.Of[row])
}

// Null reports whether a value, by its number, is absent.
func (v *Vector) Null(value int) bool { return v.Nulls != nil && v.Nulls[value] }

// Value is a value of a column: an integer or a text, or absent.
type Value struct {
	Int  int64
	Text string
	Null bool
}

// absent is the value where there is none.
var absent = Value{Null: true}

func integer[I ~int | ~int32 | ~int64 | ~uint32 | ~uint64](v I) Value { return Value{Int: int64(v)} }

func boolean(b bool) Value {
	if b {
		return Value{Int: 1}
	}
	return Value{}
}

// text is absent if it is empty.
func text(s string) Value { return Value{Text: s, Null: s == ""} }

// known is v, or absent.
func known(ok bool, v Value) Value {
	if ok {
		return v
	}
	return absent
}

// column is a column of rows that are made from values of type T.
type column[T any] struct {
	Column
	value func(*T) Value
}

// definition is a table whose rows are made from values of type T.
type definition[T any] struct {
	Schema
	values []func(*T) Value
}

func define[T any](s Schema, columns ...column[T]) *definition[T] {
	d := &definition[T]{Schema: s}
	for _, c := range columns {
		d.Columns = append(d.Columns, c.Column)
		d.values = append(d.values, c.value)
	}
	return d
}

// Sink takes batches. A batch is valid during the call.
type Sink func(*Batch) error

// builder collects rows of a table and hands them on in batches.
type builder[T any] struct {
	table *definition[T]
	batch Batch
	texts []map[string]uint32 // by column: the numbers of the texts in the batch
	size  int                 // bytes of these
	sink  Sink
}

func newBuilder[T any](d *definition[T], sink Sink) *builder[T] {
	if sink == nil {
		return nil
	}
	b := &builder[T]{table: d, sink: sink, texts: make([]map[string]uint32, len(d.Columns))}
	b.batch = Batch{Schema: &d.Schema, Vectors: make([]Vector, len(d.Columns))}
	for i := range d.Columns {
		if d.Columns[i].Type.Textual() {
			b.texts[i] = map[string]uint32{}
		}
	}
	return b
}

// add adds a row. A nil builder ignores it.
func (b *builder[T]) add(from *T) error {
	if b == nil {
		return nil
	}
	for i, value := range b.table.values {
		v := value(from)
		if b.texts[i] != nil {
			b.addText(i, v)
			continue
		}
		to := &b.batch.Vectors[i]
		to.Ints = append(to.Ints, v.Int)
		if b.table.Columns[i].Nullable {
			to.Nulls = append(to.Nulls, v.Null)
		}
	}
	if b.batch.Rows++; b.batch.Rows == BatchRows || b.size > batchText {
		return b.flush()
	}
	return nil
}

// addText adds a text, of which the batch has each once.
func (b *builder[T]) addText(i int, v Value) {
	to := &b.batch.Vectors[i]
	if v.Null {
		v.Text = ""
	}
	n, ok := b.texts[i][v.Text]
	if !ok {
		n = uint32(len(to.Texts))
		b.texts[i][v.Text] = n
		to.Texts = append(to.Texts, v.Text)
		b.size += len(v.Text)
		if b.table.Columns[i].Nullable {
			to.Nulls = append(to.Nulls, v.Null)
		}
	}
	to.Of = append(to.Of, n)
}

// flush hands on the rows that there are.
func (b *builder[T]) flush() error {
	if b == nil || b.batch.Rows == 0 {
		return nil
	}
	err := b.sink(&b.batch)
	b.batch.Rows, b.size = 0, 0
	for i := range b.batch.Vectors {
		b.batch.Vectors[i].clear()
		clear(b.texts[i])
	}
	return err
}

// add adds a value.
func (v *Vector) add(c *Column, x Value) {
	if c.Type.Textual() {
		v.Texts = append(v.Texts, x.Text)
	} else {
		v.Ints = append(v.Ints, x.Int)
	}
	if c.Nullable {
		v.Nulls = append(v.Nulls, x.Null)
	}
}

func (v *Vector) clear() {
	clear(v.Texts)
	v.Ints, v.Texts, v.Nulls = v.Ints[:0], v.Texts[:0], v.Nulls[:0]
	if v.Of != nil {
		v.Of = v.Of[:0]
	}
}
