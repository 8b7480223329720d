package efg

import (
	"fmt"
	"sort"
)

// ErrorUnit is what the error of traced times is counted in: parts of 10,000.
const ErrorUnit = 10_000

// MinError and MaxError bound the error of traced times.
const (
	MinError = 10    // 0.1 %
	MaxError = 2_500 // 25 %
)

// maxInterval is more than any interval, in ns: 146 years.
const maxInterval = 1 << 62

// TimeQuantizer turns intervals into bins and back. FORMAT.md, "Times", states what
// holds. hook/shim/core_trace.c is the same in C, to the bit.
type TimeQuantizer struct {
	parts uint64
	low   []uint64 // the smallest interval of each bin
	value []uint64 // what stands for all of them
}

// NewQuantum returns the bins for a relative error in parts of ErrorUnit.
func NewTimeQuantizer(parts uint32) (*TimeQuantizer, error) {
	if parts < MinError || parts > MaxError {
		return nil, fmt.Errorf("error of %d parts of %d, not %d to %d", parts, ErrorUnit, MinError, MaxError)
	}
	q := &TimeQuantizer{parts: uint64(parts)}
	for low := uint64(0); low < maxInterval; {
		v := low + q.share(low)
		q.low = append(q.low, low)
		q.value = append(q.value, v)
		low = v + v/(ErrorUnit-q.parts)*q.parts + v%(ErrorUnit-q.parts)*q.parts/(ErrorUnit-q.parts) + 1
	}
	return q, nil
}

// share is the error that an interval may have.
func (q *TimeQuantizer) share(ns uint64) uint64 {
	return ns/ErrorUnit*q.parts + ns%ErrorUnit*q.parts/ErrorUnit
}

// Bound is how far a reconstructed clock may be from the recorded one: the error
// that an interval of a millisecond may have.
func (q *TimeQuantizer) Bound() uint64 { return q.share(1_000_000) }

// Bin returns the bin of an interval.
func (q *TimeQuantizer) Bin(ns uint64) int {
	return sort.Search(len(q.low), func(i int) bool { return q.low[i] > ns }) - 1
}

// Bins is the number of bins.
func (q *TimeQuantizer) Bins() int { return len(q.low) }

// unit is what a bin's fine part counts.
func (q *TimeQuantizer) unit(bin int) uint64 {
	return max(1, min(q.Bound(), q.share(q.value[bin]))/4)
}

// TimeCode is a quantised interval: the value of a bin and, where Fine is not 0, so
// many units more.
type TimeCode struct {
	Bin  uint32
	Fine int64
}

// Value is the interval that a code stands for.
func (q *TimeQuantizer) Value(c TimeCode) (uint64, error) {
	if int(c.Bin) >= len(q.value) {
		return 0, fmt.Errorf("%w: bin %d of %d", ErrTimes, c.Bin, len(q.value))
	}
	v := q.value[c.Bin]
	if c.Fine != 0 {
		v += uint64(c.Fine) * q.unit(int(c.Bin))
	}
	return v, nil
}

// Encode returns the code of an interval. ahead is how far the clock made of
// codes is ahead of the recorded one before it (negative: behind), and, returned,
// after it.
func (q *TimeQuantizer) Encode(ns uint64, ahead int64) (TimeCode, int64) {
	ns = min(ns, maxInterval-1)
	bin, bound := q.Bin(ns), int64(q.Bound())
	v := q.value[bin]
	if after := ahead + int64(v-ns); after <= bound && -after <= bound {
		return TimeCode{Bin: uint32(bin)}, after
	}
	// As far as its error allows, the interval makes up for the clock's.
	unit, may := int64(q.unit(bin)), int64(q.share(ns))
	fine := roundDiv(int64(ns-v)+max(-may, min(may, -ahead)), unit)
	for off(int64(v-ns)+fine*unit) > may {
		if fine > 0 {
			fine--
		} else {
			fine++
		}
	}
	return TimeCode{uint32(bin), fine}, ahead + int64(v-ns) + fine*unit
}

func off(d int64) int64 { return max(d, -d) }

// roundDiv is a/b, rounded to the nearest; b > 0.
func roundDiv(a, b int64) int64 {
	if a < 0 {
		return -((-a + b/2) / b)
	}
	return (a + b/2) / b
}
