package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/internal/units"
)

// table aligns columns of text.
type table struct {
	heads  []string
	rights []bool
	rows   [][]string
}

func (t *table) left(heads ...string)  { t.column(false, heads) }
func (t *table) right(heads ...string) { t.column(true, heads) }

func (t *table) column(right bool, heads []string) {
	for _, h := range heads {
		t.heads = append(t.heads, h)
		t.rights = append(t.rights, right)
	}
}

// row adds a row. Line breaks in cells are escaped.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = printable.Line(c)
	}
	t.rows = append(t.rows, cells)
}

// write writes the table, or nothing if it has no rows.
func (t *table) write(w io.Writer) {
	if len(t.rows) == 0 {
		return
	}
	width := make([]int, len(t.heads))
	for _, r := range append(t.rows, t.heads) {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, r := range append([][]string{t.heads}, t.rows...) {
		var b strings.Builder
		for i, c := range r {
			space := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if i > 0 {
				b.WriteString("  ")
			}
			if t.rights[i] {
				b.WriteString(space + c)
			} else {
				b.WriteString(c + space)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// grouped writes a number with commas: 1,234,567.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// byteText writes a number of bytes: "1.50 KiB".
func byteText(n uint64) string { return units.Bytes(float64(n)) }

// byteCell is byteText for tables, where 0 would only distract.
func byteCell(n uint64) string {
	if n == 0 {
		return "-"
	}
	return byteText(n)
}

func meanBytes(sum, n uint64) string {
	if sum == 0 || n == 0 {
		return "-"
	}
	return units.Bytes(float64(sum) / float64(n))
}
