// Package units writes human-readable quantities: bytes, durations and shares, with three
// significant digits and the unit that fits.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// scaled formats v with three significant digits, or with all digits before the point, and a
// suitable unit. Neighbouring units differ by a factor of step.
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

// Nanoseconds writes a duration given in nanoseconds: "1.50 ms".
func Nanoseconds(v float64) string { return scaled(v, 1000, "ns", "µs", "ms", "s") }

// Bytes writes a number of bytes: "1.50 KiB".
func Bytes(v float64) string {
	return scaled(v, 1024, "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
}

// Count formats a number of things: "950", "1.20 M".
func Count(v float64) string { return strings.TrimSuffix(scaled(v, 1000, "", "k", "M", "G"), " ") }

// Seconds writes a time of a run, given in nanoseconds, in seconds without
// rounding it: "0.0125 s".
func Seconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', -1, 64) + " s" }

// Percent formats part of whole with one decimal, or "-" if whole is 0.
func Percent(part, whole uint64) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}
