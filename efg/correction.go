package efg

import (
	"math"
	"math/bits"
	"sort"
)

// Correction maps the times of a stream's events, as the clock of its machine has them, to times
// that agree with those of other machines. It never maps a later time to an earlier one.
//
// Times of both are ns since the run began.
type Correction struct {
	// Offset is the time since the run began minus CLOCK_MONOTONIC of the machine: Process.Clock.
	Offset int64
	// Machine is the same for all streams of a machine; Stream is for the times after that.
	Machine Line
	Stream  Warp
}

// Time maps a time at a position, see Knot.
func (c *Correction) Time(at, position int64) int64 {
	return c.Stream.Time(c.Machine.Time(at), position)
}

// mono maps CLOCK_MONOTONIC of the machine, ns.
func (c *Correction) mono(at uint64, position int64) uint64 {
	return uint64(c.Time(int64(at)+c.Offset, position) - c.Offset)
}

// Point says what is added to a time.
type Point struct{ At, Shift int64 }

// Line is the correction of a machine's clock: what is added to a time is interpolated between
// points, in order of time, and extrapolated outside them. The zero Line changes nothing.
type Line []Point

// Time maps a time.
func (l Line) Time(at int64) int64 {
	switch len(l) {
	case 0:
		return at
	case 1:
		return at + l[0].Shift
	}
	i := sort.Search(len(l)-2, func(i int) bool { return at < l[i+1].At })
	return at + between(l[i], l[i+1], at)
}

// between is the shift at a time on the line through two points, rounded down.
func between(a, b Point, at int64) int64 {
	if a.At == b.At {
		return a.Shift
	}
	return a.Shift + scale(at-a.At, b.Shift-a.Shift, b.At-a.At)
}

// scale returns x*y/z, rounded down; z is positive. What is too large for an int64 is 0: nothing that
// was measured is.
func scale(x, y, z int64) int64 {
	high, low := bits.Mul64(magnitude(x), magnitude(y))
	if high >= uint64(z) {
		return 0
	}
	q, rest := bits.Div64(high, low, uint64(z))
	switch {
	case q >= math.MaxInt64:
		return 0
	case x < 0 == (y < 0):
		return int64(q)
	case rest > 0:
		q++
	}
	return -int64(q)
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// Knot is a point of a Warp. Events may take no time, so that its place is a position in the
// stream: the beginning of event n is at 2n, its end at 2n+1, and the beginning of the recording
// at -1.
type Knot struct {
	Position int64
	Point
	// Stretch: up to the next knot, the shift grows evenly to that of the next one. Otherwise it
	// fades out.
	Stretch bool
}

// FadeBits says how fast a shift fades out: by 1 ns in 2^FadeBits ns.
const FadeBits = 6

// Warp shifts times of a stream to later ones, so that no effect precedes its cause. The zero Warp
// changes nothing.
type Warp []Knot

// Time maps a time at a position.
func (w Warp) Time(at, position int64) int64 {
	i := sort.Search(len(w), func(i int) bool { return position < w[i].Position }) - 1
	if i < 0 {
		return at
	}
	k := &w[i]
	if k.Stretch && i+1 < len(w) {
		return at + between(k.Point, w[i+1].Point, at)
	}
	return at + max(0, k.Shift-(at-k.At)>>FadeBits)
}
