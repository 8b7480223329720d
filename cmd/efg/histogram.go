package main

import (
	"fmt"
	"math/bits"

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
			if n == 0 {
				cells = append(cells, ".")
				continue
			}
			cells = append(cells, grouped(n))
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
