package block

import (
	_ "embed"
	"errors"
	"fmt"
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

const textKind = mix.Kinds - 1

// mixedColumns encodes or decodes columns.
type mixedColumns struct {
	c      *mix.Coder
	left   int  // values
	primed bool // the coder has learned from the primer
	cols   Columns
	err    error
}

func encodeMixed(kind Kind, cols Columns) []byte {
	m := &mixedColumns{c: mix.NewEncoder(mixedTable), left: mixedValues}
	defer m.c.Close()
	m.train(kind)
	m.cols = cols
	m.columns()
	return m.c.Finish()
}

// decodeMixed reads at most that many values.
func decodeMixed(kind Kind, code []byte, values int) (Columns, error) {
	m := &mixedColumns{c: mix.NewDecoder(code, mixedTable), left: min(values, mixedValues)}
	defer m.c.Close()
	m.train(kind)
	m.columns()
	if m.err == nil && m.c.Rest() > 0 {
		m.err = errTrailing
	}
	return m.cols, m.err
}

// examples are blocks of recordings of three programs of testdata (nest, io, shapes): a coder learns
// from those of the kind first. They are part of the format: another choice would be another format.
//
//go:embed columns.txt
var examples string

// examplesOf parses the examples: lines "block KIND", and one for each column.
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

// train has the coder learn from the examples of a kind of block.
func (m *mixedColumns) train(kind Kind) {
	left := m.left
	m.c.Train(func() {
		for _, m.cols = range examplesOf()[kind] {
			m.columns()
		}
	})
	m.left, m.cols = left, nil
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
	empty := uint64(0) // whether the last two columns were
	for i := range m.cols {
		length := m.c.Number(mix.Hash(ctxLength, empty), uint64(len(m.cols[i])))
		empty = empty<<1&3 | Bit(length == 0)
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

// primer is text similar to names and metadata of run files: a text coder learns from it first.
//
//go:embed primer.txt
var primer []byte

// text codes the n bytes of a column.
func (m *mixedColumns) text(i, n int) {
	if !m.primed {
		m.primed = true
		m.c.Train(func() {
			var last [5]uint64
			for _, b := range primer {
				m.byte(&last, uint64(b))
			}
		})
	}
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
	guesses := [...]mix.Guess{
		{Context: mix.Hash(ctxText, 1, last[0])},
		{Context: mix.Hash(ctxText, 2, last[0], last[1])},
		{Context: mix.Hash(ctxText, 3, last[0], last[1], last[2])},
		{Context: mix.Hash(ctxText, 4, last[0], last[1], last[2], last[3])},
		{Context: mix.Hash(ctxText, 5, last[0], last[1], last[2], last[3], last[4])},
	}
	v = m.c.Byte(textKind, guesses[:], mix.Hash(ctxText, 6, last[0]), mix.Hash(ctxText, 7), v)
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
		v = m.c.Value(min(i, textKind-1), guesses[:], mix.Hash(ctxMixed, 8, col), last[0], v)
		if decoding {
			m.cols[i] = append(m.cols[i], v)
		}
		last = [3]uint64{v, last[0], last[1]}
		if k&255 == 0 && m.c.Overrun() {
			return
		}
	}
}
