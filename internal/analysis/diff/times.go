package diff

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/efg-tools/efg/internal/analysis"
)

// Distance says how differently durations are distributed.
type Distance struct {
	// Shift is the earth mover's (Wasserstein) distance in nanoseconds: by how much a call's
	// duration must change, on average, to turn one distribution into the other. Within a bin
	// durations are assumed to be uniform; the difference of the means, which is known exactly,
	// is a lower bound.
	Shift float64
	// KS is the Kolmogorov–Smirnov distance, the largest difference of the cumulative
	// distributions at the bounds of the bins: 0 for equal distributions, 1 for disjoint ones.
	KS float64
}

// DistanceOf compares durations; the distance to none is 0.
func DistanceOf(a, b *analysis.Times) Distance {
	if a.Count == 0 || b.Count == 0 {
		return Distance{}
	}
	x, y := piecesOf(a), piecesOf(b)
	var bounds []float64
	for _, p := range append(slices.Clone(x), y...) {
		bounds = append(bounds, p.from, p.to)
	}
	slices.Sort(bounds)
	area := 0.0
	for i := 1; i < len(bounds); i++ {
		from, to := bounds[i-1], bounds[i]
		if to > from {
			area += areaOf(share(x, from, true)-share(y, from, true), share(x, to, false)-share(y, to, false)) * (to - from)
		}
	}
	xs, ws := weighted(a)
	ys, vs := weighted(b)
	return Distance{max(area, math.Abs(a.Mean()-b.Mean())), stat.KolmogorovSmirnov(xs, ws, ys, vs)}
}

// areaOf is the mean absolute value of a linear function from u to v.
func areaOf(u, v float64) float64 {
	if u*v >= 0 {
		return (math.Abs(u) + math.Abs(v)) / 2
	}
	return (u*u + v*v) / (2 * (math.Abs(u) + math.Abs(v)))
}

// piece is a part of a distribution that is spread evenly, or is at one point.
type piece struct{ from, to, share float64 }

// piecesOf returns the bins, limited by minimum and maximum.
func piecesOf(t *analysis.Times) []piece {
	var list []piece
	total := 0.0
	for i, n := range t.Bins {
		if n == 0 {
			continue
		}
		from, to := math.Ldexp(8, i), math.Ldexp(16, i)
		if i == 0 {
			from = 0
		}
		if i == len(t.Bins)-1 {
			to = math.Inf(1)
		}
		from, to = max(from, float64(t.Min)), min(to, float64(t.Max))
		list = append(list, piece{min(from, to), max(from, to), float64(n)})
		total += float64(n)
	}
	for i := range list {
		list[i].share /= total
	}
	return list
}

// share is the fraction of a distribution that lies below x or, if at is set, at or below x.
func share(list []piece, x float64, at bool) (sum float64) {
	for _, p := range list {
		switch {
		case p.to < x || p.to == x && (at || p.from < p.to):
			sum += p.share
		case p.from < x:
			sum += p.share * (x - p.from) / (p.to - p.from)
		}
	}
	return sum
}

// weighted returns the numbers of the nonempty bins, and what they count.
func weighted(t *analysis.Times) (bins, weights []float64) {
	for i, n := range t.Bins {
		if n > 0 {
			bins, weights = append(bins, float64(i)), append(weights, float64(n))
		}
	}
	return bins, weights
}
