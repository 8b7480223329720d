package analysis

import (
	"cmp"
	"slices"
)

// Spread says how the values of a column are distributed over rows of a table.
type Spread struct {
	Sum                 uint64
	Least, Most         uint64
	LeastRank, MostRank int
	// Quantiles are those at 5, 25, 50, 75 and 95 percent.
	Quantiles [5]uint64
}

var quantiles = [...]int{5, 25, 50, 75, 95} // percent

// Spread sums rows of a column. There must be at least one row.
func (t *RankTable) Spread(values []uint64, rows []int) Spread {
	s := Spread{Least: values[rows[0]], Most: values[rows[0]], LeastRank: t.Ranks[rows[0]], MostRank: t.Ranks[rows[0]]}
	sorted := make([]uint64, len(rows))
	for i, row := range rows {
		v := values[row]
		sorted[i] = v
		s.Sum += v
		if v < s.Least {
			s.Least, s.LeastRank = v, t.Ranks[row]
		}
		if v > s.Most {
			s.Most, s.MostRank = v, t.Ranks[row]
		}
	}
	slices.Sort(sorted)
	for i, p := range quantiles {
		s.Quantiles[i] = sorted[(len(sorted)*p+99)/100-1]
	}
	return s
}

// BinRows splits rows into at most most groups of equal size; the last one may be smaller.
func BinRows(rows []int, most int) [][]int {
	width := max(1, (len(rows)+most-1)/most)
	return slices.Collect(slices.Chunk(rows, width))
}

// ByShare and ByCall are what rows can be ordered by besides columns: the part of the time
// in MPI, and the bytes that a call sends on average.
const (
	ByShare = "share"
	ByCall  = "per_call"
)

// Order sorts rows by a column, by ByShare, by ByCall or, for any other name, by rank; ties by
// rank.
func (t *RankTable) Order(rows []int, by string, down bool) {
	compare := t.comparison(by)
	slices.SortStableFunc(rows, func(x, y int) int {
		if down {
			return compare(y, x)
		}
		return compare(x, y)
	})
}

func (t *RankTable) comparison(by string) func(x, y int) int {
	ratio := func(of, to string) func(x, y int) int {
		part, whole := t.Column(of), t.Column(to)
		value := func(i int) float64 { return float64(part[i]) / float64(max(whole[i], 1)) }
		return func(x, y int) int { return cmp.Compare(value(x), value(y)) }
	}
	switch by {
	case ByShare:
		return ratio("time", "app")
	case ByCall:
		return ratio("sent", "calls")
	}
	if values := t.Column(by); values != nil {
		return func(x, y int) int { return cmp.Compare(values[x], values[y]) }
	}
	return func(x, y int) int { return cmp.Compare(uint(t.Ranks[x]), uint(t.Ranks[y])) }
}
