package block

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/efg-tools/efg/efg/mix"
)

// The columns of a block with few values may be mixed: package mix codes them one after
// another, so that what is learned from one helps with the next, and there is no directory.
// FORMAT.md, "Mixed blocks", specifies this.

const (
	// mixedBit marks the kind of a mixed block.
	mixedBit = 0x80
	// mixedValues is the maximum number of values of a mixed block: they are slow to decode.
	mixedValues = 1 << 15
	mixedTable  = 15
)

// IsMixed reports whether a block that begins with this byte is mixed.
func IsMixed(first byte) bool { return first&mixedBit != 0 }

// Contexts of a mixed block.
const (
	ctxColumns = 1 + iota
	ctxLength
	ctxMixed
	ctxIsText
	ctxText
)

// Kinds of values that are not of a column.
const (
	textKind   = mix.Kinds - 1
	lengthKind = mix.Kinds - 3
)

// mixedColumns encodes or decodes columns.
type mixedColumns struct {
	c    *mix.Coder
	left int // values
	cols Columns
	err  error
}

func encodeMixed(kind Kind, cols Columns) []byte {
	m := &mixedColumns{c: trained(kind).Encoder(), left: mixedValues, cols: cols}
	defer m.c.Close()
	m.columns()
	return m.c.Finish()
}

// decodeMixed reads at most that many values.
func decodeMixed(kind Kind, code []byte, values int) (Columns, error) {
	m := &mixedColumns{c: trained(kind).Decoder(code), left: min(values, mixedValues)}
	defer m.c.Close()
	m.columns()
	if m.err == nil && m.c.Rest() > 0 {
		m.err = errTrailing
	}
	return m.cols, m.err
}

// states are what coders begin with, by kind of block.
var states [mixedBit]struct {
	once sync.Once
	*mix.State
}

// Prepare readies what is needed to code a mixed block of a kind.
func Prepare(kind Kind) { trained(kind) }

// trained returns what a coder begins with that has learned from the examples of a kind of block.
func trained(kind Kind) *mix.State {
	s := &states[kind]
	s.once.Do(func() {
		m := &mixedColumns{c: mix.NewEncoder(mixedTable), left: math.MaxInt}
		m.c.Train(func() {
			for _, m.cols = range examplesOf()[kind] {
				m.columns()
			}
		})
		s.State = m.c.Learned()
	})
	return s.State
}

// examples are blocks of recordings of programs of testdata (nest, shapes, io, loops, icoll): a coder learns
// from those of the kind first. They are part of the format: another choice would be another format.
//
//go:embed columns.txt
var examples string

// primer is text similar to names and metadata of run files.
//
//go:embed primer.txt
var primer []byte

// examplesOf parses the examples: lines "block KIND", and one for each column; "text" is a column
// with the bytes of the primer.
var examplesOf = sync.OnceValue(func() map[Kind][]Columns {
	all := map[Kind][]Columns{}
	kind := Kind(0)
	for line := range strings.Lines(examples) {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[0] == "block" {
			kind = Kind(number(fields[1]))
			all[kind] = append(all[kind], nil)
			continue
		}
		var column []uint64
		if len(fields) == 1 && fields[0] == "text" {
			fields = nil
			for _, b := range primer {
				column = append(column, uint64(b))
			}
		}
		for _, f := range fields {
			column = append(column, number(f))
		}
		last := len(all[kind]) - 1
		all[kind][last] = append(all[kind][last], column)
	}
	return all
})

func number(s string) uint64 {
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		panic(err) // the examples are part of the program
	}
	return v
}

func (m *mixedColumns) columns() {
	n := m.c.Number(mix.Hash(ctxColumns), uint64(len(m.cols)))
	if n > MaxColumns {
		m.err = fmt.Errorf("%d columns", n)
		return
	}
	if !m.c.Encoding() {
		m.cols = make(Columns, n)
	}
	last := [2]uint64{} // lengths
	for i := range m.cols {
		length := m.length(uint64(i), last, uint64(len(m.cols[i])))
		last = [2]uint64{length, last[0]}
		if length > uint64(m.left) {
			m.err = errors.New("more values than its size allows")
			return
		}
		m.left -= int(length)
		if m.c.Bit(mix.Hash(ctxIsText, uint64(i)), isText(m.cols[i])) {
			m.text(i, int(length))
		} else {
			m.column(i, int(length))
		}
		if m.c.Overrun() {
			m.err = errors.New("mixed columns end early")
			return
		}
	}
}

// length codes the length of column i.
func (m *mixedColumns) length(i uint64, last [2]uint64, n uint64) uint64 {
	guesses := [...]mix.Guess{
		{Context: mix.Hash(ctxLength, 1, i, last[0])},
		{Context: mix.Hash(ctxLength, 2, Bit(last[0] == 0), Bit(last[1] == 0))},
		{Context: mix.Hash(ctxLength, 3, i)},
		{Value: last[0], Sure: 1},
	}
	return m.c.Value(lengthKind, guesses[:], mix.Hash(ctxLength), last[0], n)
}

// shortText is the minimum number of bytes of a column that counts as text.
const shortText = 48

// isText reports whether a column is bytes of which most are printable.
func isText(vals []uint64) bool {
	if len(vals) < shortText || slices.Max(vals) > 255 {
		return false
	}
	printable := 0
	for _, v := range vals {
		if v >= ' ' && v <= '~' {
			printable++
		}
	}
	return printable > len(vals)*2/3
}

// text codes the n bytes of a column.
func (m *mixedColumns) text(i, n int) {
	var last [5]uint64
	decoding := !m.c.Encoding()
	for k := range n {
		v := uint64(0)
		if !decoding {
			v = m.cols[i][k]
		}
		v = m.byte(&last, v)
		if decoding {
			m.cols[i] = append(m.cols[i], v)
		}
		if k&255 == 0 && m.c.Overrun() {
			return
		}
	}
}

// byte codes a byte after the last ones.
func (m *mixedColumns) byte(last *[5]uint64, v uint64) uint64 {
	v = m.c.Byte(textKind, []uint64{
		mix.Hash(ctxText, 0),
		mix.Hash(ctxText, 1, last[0]),
		mix.Hash(ctxText, 2, last[0], last[1]),
		mix.Hash(ctxText, 3, last[0], last[1], last[2]),
		mix.Hash(ctxText, 4, last[0], last[1], last[2], last[3]),
		mix.Hash(ctxText, 5, last[0], last[1], last[2], last[3], last[4]),
	}, v)
	copy(last[1:], last[:])
	last[0] = v
	return v
}

// column codes the n values of a column.
func (m *mixedColumns) column(i, n int) {
	var beside []uint64 // the previous column
	if i > 0 {
		beside = m.cols[i-1]
	}
	var last [3]uint64
	col := uint64(i)
	decoding := !m.c.Encoding()
	for k := range n {
		var v, near uint64
		if !decoding {
			v = m.cols[i][k]
		}
		if k < len(beside) {
			near = beside[k] + 1
		}
		guesses := [...]mix.Guess{
			{Context: mix.Hash(ctxMixed, 1, col, last[0])},
			{Context: mix.Hash(ctxMixed, 2, col, last[0], last[1])},
			{Context: mix.Hash(ctxMixed, 3, col, last[0], last[1], last[2])},
			{Context: mix.Hash(ctxMixed, 4, col)},
			{Value: 2*last[0] - last[1], Sure: 1},
			{Context: mix.Hash(ctxMixed, 5, col, near)},
			{Context: mix.Hash(ctxMixed, 6, col, near, last[0])},
			{Context: mix.Hash(ctxMixed, 7, last[0], last[1])},
		}
		v = m.c.Value(min(i, lengthKind-1), guesses[:], mix.Hash(ctxMixed, 8, col), last[0], v)
		if decoding {
			m.cols[i] = append(m.cols[i], v)
		}
		last = [3]uint64{v, last[0], last[1]}
		if k&255 == 0 && m.c.Overrun() {
			return
		}
	}
}
