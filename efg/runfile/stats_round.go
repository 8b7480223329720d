package runfile

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/efg-tools/efg/efg"
)

// Rounded statistics take less space: see FORMAT.md, "Rounded statistics".

// roundingPart is, in bits, what part of all times of a stream the unit is at most that large sums are multiples of.
const roundingPart = 10

// roundingError is, in bits, what part of a sum it may be off at most.
const roundingError = 3

// roundStats returns the statistics of a stream, rounded.
func roundStats(list []*efg.Stats) []*efg.Stats {
	out := make([]*efg.Stats, len(list))
	total := uint64(0)
	var of [2][]roundedSum
	for k, st := range list {
		if out[k] = st; formOf(st) == statNone || formOf(st) == statWhole {
			continue
		}
		own := *st
		out[k] = &own
		for i, v := range intervals(&own) {
			total += v.Sum
			of[i] = append(of[i], roundedSum{v, own.Count})
			if own.Count > 1 {
				roundLimits(v)
				roundBins(v)
			}
		}
	}
	unit := max(bits.Len64(total>>roundingPart)-1, 0)
	for _, sums := range of {
		roundSums(sums, unit)
	}
	return out
}

// roundLimits lowers the minimum to the least number of its cell, and raises the maximum to the greatest one.
func roundLimits(v *efg.Interval) {
	v.Min = v.Min &^ below(timeGrid.shift(v.Min))
	v.Max |= below(timeGrid.shift(v.Max))
}

// below is a number with so many lowest bits set.
func below(n int) uint64 { return 1<<n - 1 }

// roundBins rounds numbers of events but that of the bin with the most, which gets the rest.
func roundBins(v *efg.Interval) {
	most := mostEvents(&v.Bins)
	for _, up := range []bool{true, false} {
		bins, rest := v.Bins, uint64(v.Bins[most])
		for b, c := range v.Bins {
			if b != most {
				bins[b] = roundedEvents(c, up)
				rest += uint64(c) - uint64(bins[b])
			}
		}
		bins[most] = 0
		if greatest := uint64(slices.Max(bins[:])); rest <= 1<<32-1 && rest > greatest {
			bins[most] = uint32(rest)
			v.Bins = bins
			return
		}
	}
}

// mostEvents is the first of the bins with the most events.
func mostEvents(bins *[len(efg.Interval{}.Bins)]uint32) int {
	most := 0
	for b, c := range bins {
		if c > bins[most] {
			most = b
		}
	}
	return most
}

// roundedEvents is the nearest number of events that has no position in its cell, or the next lower one.
func roundedEvents(c uint32, up bool) uint32 {
	n := roundGrid.shift(uint64(c))
	r := nearestMultiple(uint64(c), n)
	if !up || r > 1<<32-1 {
		return c &^ uint32(below(n))
	}
	return uint32(r)
}

// nearestMultiple is the multiple of 1<<n nearest to v.
func nearestMultiple(v uint64, n int) uint64 {
	if n == 0 {
		return v
	}
	return (v + 1<<(n-1)) &^ below(n)
}

// roundedSum is a sum of so many events that is to be rounded.
type roundedSum struct {
	*efg.Interval
	events uint64
}

// roundSums rounds sums, the smallest first. Each makes up for what the ones before are off.
func roundSums(sums []roundedSum, unit int) {
	slices.SortStableFunc(sums, func(a, b roundedSum) int { return cmp.Compare(a.Sum, b.Sum) })
	ahead := int64(0)
	for _, s := range sums {
		n := min(timeGrid.shift(s.Sum), unit)
		least, most := product(s.events, s.Min), product(s.events, s.Max)
		if s.events == 1 {
			// It stays in its bin.
			top := bits.Len64(s.Sum)
			least, most = 0, below(top)&^below(n)
			if top > 0 {
				least = 1 << (top - 1)
			}
		}
		if s.Sum >= maxSharedSum {
			continue
		}
		want := int64(s.Sum) - ahead
		r := nearestMultiple(uint64(max(want, 0)), n)
		if r = min(max(r, ceilMultiple(least, n)), most&^below(n)); r < least || r > most {
			r = s.Sum // there is no multiple
		}
		if r > s.Sum+s.Sum>>roundingError || r < s.Sum-s.Sum>>roundingError {
			r = s.Sum // too much to make up for
		}
		ahead = int64(r) - want
		if s.Sum = r; s.events == 1 {
			s.Min, s.Max = r, r
		}
	}
}

func ceilMultiple(v uint64, n int) uint64 { return (v + below(n)) &^ below(n) }

// roundingOf finds how statistics are rounded, as it seems.
func roundingOf(list []*efg.Stats) rounding {
	limits, rounded := 0, 0
	var cost [65]int // by rounding: bits that have to be stored
	for _, st := range list {
		form := formOf(st)
		if form != statSingle && form != statCompact {
			continue
		}
		for _, v := range intervals(st) {
			shift := timeGrid.shift(v.Sum)
			for r := 1; r < len(cost); r++ {
				if known := min(shift, r-1); v.Sum&below(known) == 0 {
					cost[r] -= known
				} else {
					cost[r] += roundedOtherwise
				}
			}
			if form == statCompact {
				low, high := below(timeGrid.shift(v.Min)), below(timeGrid.shift(v.Max))
				limits++
				if v.Min&low == 0 && v.Max&high == high {
					rounded++
				}
			}
		}
	}
	if 4*rounded < 3*limits || limits == 0 {
		return 0
	}
	return rounding(1 + slices.Index(cost[1:], slices.Min(cost[1:])))
}

// roundedOtherwise is what it costs about, in bits, to say that a value is not rounded like most are.
const roundedOtherwise = 4
