package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
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

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

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

// scaled writes a number with three digits, or all in front of the point, and
// the unit that fits. Units are step apart.
func scaled(v, step float64, units ...string) string {
	i := 0
	for i < len(units)-1 && v >= step*0.9995 {
		v /= step
		i++
	}
	digits := 0
	if i > 0 && v > 0 {
		digits = max(0, 2-int(math.Floor(math.Log10(v)+0.0005)))
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + " " + units[i]
}

// nanoText writes a duration given in nanoseconds.
func nanoText(v float64) string { return scaled(v, 1000, "ns", "µs", "ms", "s") }

// byteText writes a number of bytes: "1.50 KiB".
func byteText(n uint64) string {
	return scaled(float64(n), 1024, "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
}

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
	return scaled(float64(sum)/float64(n), 1024, "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
}

func percent(part, whole uint64) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}
