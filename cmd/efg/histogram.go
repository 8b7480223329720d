package main

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/terminal"
	"github.com/efg-tools/efg/internal/units"
)

// histogram shows, for each procedure, how many calls took how long: columns
// are powers of two of the duration, joined in pairs.
func (w *reportWriter) histogram() {
	if !w.Timed {
		return
	}
	low, high := len(w.Total.Time.Bins), 0
	for i, n := range w.Total.Time.Bins {
		if n > 0 {
			low, high = min(low, i/2), max(high, i/2+1)
		}
	}
	t := &terminal.Table{}
	t.Left("procedure")
	for b := low; b < high; b++ {
		head := "<" + powerText(2*b+5)
		if b == len(w.Total.Time.Bins)/2-1 {
			head = "more"
		}
		t.Right(head)
	}
	for i := range w.shown(len(w.Procedures)) {
		r := &w.Procedures[i]
		cells := []string{r.Op}
		for b := low; b < high; b++ {
			n := r.Time.Bins[2*b] + r.Time.Bins[2*b+1]
			cells = append(cells, countCell(n))
		}
		t.Row(cells...)
	}
	fmt.Fprintf(w, "\nDurations: each bin counts the calls below its upper bound and at or above that of the bin before it\n")
	t.Write(w)
}

// powerText writes 2ⁿ nanoseconds.
func powerText(n int) string {
	return units.Nanoseconds(float64(uint64(1) << min(n, bits.UintSize-1)))
}

// sizes shows, for each callsite or procedure, how many messages and calls moved how many bytes:
// columns are powers of two, joined so that there are at most maxSizeColumns.
func (w *reportWriter) sizes(title string, rows []analysis.OpRow) {
	var all analysis.Sizes
	var moving []*analysis.OpRow
	for i := range rows {
		if r := &rows[i]; r.Sizes.Used() > 0 {
			moving = append(moving, r)
			all.Merge(&r.Sizes)
		}
	}
	if len(moving) == 0 {
		return
	}
	slices.SortStableFunc(moving, func(x, y *analysis.OpRow) int { return cmp.Compare(bytesOf(y), bytesOf(x)) })
	columns := sizeColumns(&all)
	t := &terminal.Table{}
	t.Names(title)
	if title == "callsite" {
		t.Left("procedure")
	}
	for _, c := range columns {
		t.Right(c.head())
	}
	for _, r := range moving[:w.shown(len(moving))] {
		cells := []string{r.Op}
		if title == "callsite" {
			cells = []string{r.Site, r.Op}
		}
		for _, c := range columns {
			cells = append(cells, countCell(c.sum(&r.Sizes)))
		}
		t.Row(cells...)
	}
	fmt.Fprintf(w, "\nSizes: how many messages and calls send, receive, read or write fewer bytes than the head says, and not fewer than that of the column before\n")
	t.Write(w)
}

// bytesOf is how many bytes the calls of a row move.
func bytesOf(r *analysis.OpRow) uint64 { return r.Sent + r.Received + r.Read + r.Written }

// maxSizeColumns is how many columns a table of sizes has at most, without that of empty messages.
const maxSizeColumns = 12

// sizeColumn is a range of bins, without the last one.
type sizeColumn struct{ low, high int }

// sizeColumns divides the bins that count something into columns of equal width.
func sizeColumns(s *analysis.Sizes) (list []sizeColumn) {
	if s[0] > 0 {
		list = append(list, sizeColumn{0, 1})
	}
	low, high := 1, s.Used()
	for s[low] == 0 {
		low++
	}
	width := (high - low + maxSizeColumns - 1) / maxSizeColumns
	for ; low < high; low += width {
		list = append(list, sizeColumn{low, min(low+width, len(s))})
	}
	return list
}

func (c sizeColumn) head() string {
	switch {
	case c.high == 1:
		return "empty"
	case c.high == len(analysis.Sizes{}):
		return "more"
	}
	return "<" + strings.Replace(units.Bytes(float64(uint64(1)<<(c.high-1))), ".00", "", 1)
}

func (c sizeColumn) sum(s *analysis.Sizes) (n uint64) {
	for _, k := range s[c.low:c.high] {
		n += k
	}
	return n
}

// countCell is a number in a histogram, where 0 would only distract.
func countCell(n uint64) string {
	if n == 0 {
		return "."
	}
	return grouped(n)
}
