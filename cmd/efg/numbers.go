package main

import (
	"strconv"

	"github.com/efg-tools/efg/internal/units"
)

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
