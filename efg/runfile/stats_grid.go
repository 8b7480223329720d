package runfile

import "math/bits"

// grid divides the numbers into cells, 1<<fine of them for each doubling; small numbers have a cell each.
type grid int

const (
	timeGrid   grid = 3 // of times
	coarseGrid grid = 2 // of numbers of events, and of differences
	roundGrid  grid = 1 // of rounded numbers of events
)

// shift is the number of bits of v that its cell does not say: the lowest ones.
func (g grid) shift(v uint64) int { return max(bits.Len64(v)-1-int(g), 0) }

// cell is the number of v's cell.
func (g grid) cell(v uint64) int64 {
	s := g.shift(v)
	return int64(s)<<g + int64(v>>s)
}

// last is the highest cell.
func (g grid) last() int64 { return g.cell(1<<64 - 1) }

// least is the least number in a cell.
func (g grid) least(cell int64) uint64 {
	s := max(cell>>g-1, 0)
	return uint64(cell-s<<g) << s
}

// rounding is how the times of a stream are rounded: 0 not at all. Otherwise minima are the least and maxima the greatest numbers
// of their cells; sums, and times of single events, are as well the least of cells, or multiples of 1<<(rounding-1), if that is less. Numbers of
// events in a bin are the least of their cells but for the one with most events.
type rounding uint64

const maxRounding = 64

// events is the grid of numbers of events.
func (r rounding) events() grid {
	if r == 0 {
		return coarseGrid
	}
	return roundGrid
}

// bits is the number of lowest bits of a value that are known, most often, of those that its cell does not say.
func (r rounding) bits(code, shift int) int {
	switch {
	case r == 0:
		return 0
	case code == codeSum || code == codeSingle:
		return min(shift, int(r)-1)
	}
	return shift
}
