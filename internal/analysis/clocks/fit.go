package clocks

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/efg-tools/efg/efg"
)

// limit bounds what has to be added to a machine's clock at a time.
type limit struct {
	at, value int64
	upper     bool
}

// Window is a time in which a straight line describes the difference of two clocks.
type Window struct {
	// From and To are by the machine's own clock, ns since the run began.
	From, To int64
	// Offset is what the clock is ahead of the reference's at From, ns; Rate by how much it is
	// faster, as a fraction. Any clock that contradicts nothing is within Error of it, ns; -1: this
	// is bounded on one side only.
	Offset int64
	Rate   float64
	Error  int64
}

const (
	// mostRate bounds by how much the rates of two clocks differ: the kernel slews a clock by
	// at most 500 ppm.
	mostRate = 1e-3
	// looseRate: a rate that is not known better than this is taken as 0, or as near to that as
	// it can be.
	looseRate = 50e-6
)

// line is value + slope*(time - at).
type line struct {
	at           int64
	value, slope float64
}

func (l line) value64(at int64) int64 { return int64(math.Round(l.shift(at))) }

func (l line) shift(at int64) float64 { return l.value + l.slope*float64(at-l.at) }

// fit finds lines within limits: one as far as that is possible, then another one. The limits are
// sorted.
func fit(limits []limit) (windows []Window, shape efg.Line) {
	slices.SortFunc(limits, func(a, b limit) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.value, b.value)) })
	for len(limits) > 0 {
		n := longestFit(limits)
		s := newStrip(limits[:n])
		l, err := s.middle()
		from, to := limits[0].at, limits[n-1].at
		windows = append(windows, Window{From: from, To: to, Offset: -l.value64(from), Rate: 0 - l.slope, Error: err})
		shape = extend(shape, l, from, to)
		limits = limits[n:]
	}
	return windows, shape
}

// extend adds a line to a shape. Between two windows nothing is known: there the shape
// goes straight from one to the other.
func extend(shape efg.Line, l line, from, to int64) efg.Line {
	if from == to && l.slope != 0 {
		to += 1_000_000 // a second point, for the slope
	}
	for _, at := range []int64{from, to} {
		p := efg.Point{At: at, Shift: l.value64(at)}
		if n := len(shape); n > 0 {
			last := shape[n-1]
			if at <= last.At {
				continue
			}
			p.Shift = max(p.Shift, last.At+last.Shift-at) // time does not run backwards
		}
		shape = append(shape, p)
	}
	return shape
}

// longestFit is how many of the first limits one line can meet.
func longestFit(limits []limit) int {
	good, n := 1, 2
	for n < len(limits) && newStrip(limits[:n]).possible() {
		good, n = n, 2*n
	}
	n = min(n, len(limits))
	// The first good limits are possible; of n it is not known.
	return good + sort.Search(n-good, func(i int) bool { return !newStrip(limits[:good+i+1]).possible() })
}

// strip are limits relative to a point near them.
type strip struct {
	origin       limit
	upper, lower []struct{ x, y float64 }
	last         float64
}

func newStrip(limits []limit) *strip {
	s := &strip{origin: limits[0]}
	for _, l := range limits {
		p := struct{ x, y float64 }{float64(l.at - s.origin.at), float64(l.value - s.origin.value)}
		if l.upper {
			s.upper = append(s.upper, p)
		} else {
			s.lower = append(s.lower, p)
		}
		s.last = p.x
	}
	return s
}

// room returns, for lines of a slope, the range of their values at x.
func (s *strip) room(slope, x float64) (lowest, highest float64) {
	lowest, highest = math.Inf(-1), math.Inf(1)
	for _, p := range s.lower {
		lowest = max(lowest, p.y-slope*(p.x-x))
	}
	for _, p := range s.upper {
		highest = min(highest, p.y-slope*(p.x-x))
	}
	return lowest, highest
}

// width is how wide the range is: a concave function of the slope.
func (s *strip) width(slope float64) float64 {
	lowest, highest := s.room(slope, 0)
	return highest - lowest
}

// steps is how often ranges of slopes are divided: to far below what a ns in a year is.
const steps = 64

// widest finds the slope in a range at which a concave function is largest; it may stop where that is
// positive.
func widest(f func(float64) float64, from, to float64, enough bool) float64 {
	for range steps {
		a, b := from+(to-from)*0.45, from+(to-from)*0.55
		x, y := f(a), f(b)
		if enough && max(x, y) >= 0 {
			if x >= y {
				return a
			}
			return b
		}
		if x < y {
			from = a
		} else {
			to = b
		}
	}
	return (from + to) / 2
}

// possible reports whether a line meets all limits.
func (s *strip) possible() bool {
	return len(s.upper) == 0 || len(s.lower) == 0 || s.width(widest(s.width, -mostRate, mostRate, true)) >= 0
}

// slopes returns the range of the slopes of lines that meet all limits.
func (s *strip) slopes() (from, to float64) {
	best := widest(s.width, -mostRate, mostRate, false)
	edge := func(outside float64) float64 {
		if s.width(outside) >= 0 {
			return outside
		}
		inside := best
		for range steps {
			if m := (inside + outside) / 2; s.width(m) >= 0 {
				inside = m
			} else {
				outside = m
			}
		}
		return inside
	}
	return edge(-mostRate), edge(mostRate)
}

// middle returns the line in the middle of those that meet all limits, and how far others
// are from it at most; -1: any distance.
func (s *strip) middle() (line, int64) {
	if len(s.upper) == 0 || len(s.lower) == 0 {
		return s.oneSided(), -1
	}
	from, to := s.slopes()
	slope := (from + to) / 2
	if to-from > 2*looseRate {
		slope = min(max(0, from), to)
	}
	lowest, highest := s.room(slope, 0)
	y := (lowest + highest) / 2
	off := 0.0
	for _, x := range []float64{0, s.last} { // in between it is less
		top := func(r float64) float64 { _, high := s.room(r, x); return high }
		bottom := func(r float64) float64 { low, _ := s.room(r, x); return -low }
		at := y + slope*x
		off = max(off, top(widest(top, from, to, false))-at, at+bottom(widest(bottom, from, to, false)))
	}
	return line{s.origin.at, y + float64(s.origin.value), slope}, int64(math.Ceil(off))
}

// oneSided is the line of slope 0 that is nearest to nothing.
func (s *strip) oneSided() line {
	lowest, highest := s.room(0, 0)
	base := float64(s.origin.value)
	return line{s.origin.at, min(max(0, lowest+base), highest+base), 0}
}
