package efg

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Anchor relates the clock ticks of a machine to its system clocks: readings of one moment.
type Anchor struct {
	Tick  uint64
	Mono  uint64 // CLOCK_MONOTONIC ns
	Real  int64  // Unix ns
	Width uint64 // ticks within which the clocks were read
}

// MachineClock turns the clock ticks of a machine into nanoseconds of its CLOCK_MONOTONIC. In
// the zero MachineClock ticks are these nanoseconds.
type MachineClock struct {
	Tick, Mono uint64 // of one moment
	Rate       uint64 // ns of a tick, times 2^RateBits; 0: ticks are ns of CLOCK_MONOTONIC
}

// RateBits is the position of the binary point in MachineClock.Rate.
const RateBits = 56

// At returns the CLOCK_MONOTONIC ns of a tick.
func (c MachineClock) At(tick uint64) uint64 {
	switch {
	case c.Rate == 0:
		return tick
	case int64(tick-c.Tick) < 0:
		return c.Mono - c.Since(c.Tick-tick, math.MaxUint64>>(64-RateBits))
	}
	return c.Mono + c.Since(tick-c.Tick, 0)
}

// Since returns the ns that a number of ticks take, rounded down, after a fraction of a ns, in
// units of 2^-RateBits.
func (c MachineClock) Since(ticks, fraction uint64) uint64 {
	if c.Rate == 0 {
		return ticks
	}
	high, low := bits.Mul64(ticks, c.Rate)
	low, carry := bits.Add64(low, fraction, 0)
	return (high+carry)<<(64-RateBits) | low>>RateBits
}

// fraction is the part of a ns by which the time of a tick exceeds At(tick), in units of
// 2^-RateBits.
func (c MachineClock) fraction(tick uint64) uint64 {
	return (tick - c.Tick) * c.Rate & (1<<RateBits - 1)
}

// Distance is how far an anchor is from the clock, ns.
func (c MachineClock) Distance(a Anchor) uint64 {
	at := c.At(a.Tick)
	return min(at-a.Mono, a.Mono-at)
}

// Ticks returns the ticks in ns, rounded down.
func (c MachineClock) Ticks(ns uint64) uint64 {
	if c.Rate == 0 {
		return ns
	}
	if ns>>(64-RateBits) >= c.Rate {
		return math.MaxUint64
	}
	q, _ := bits.Div64(ns>>(64-RateBits), ns<<RateBits, c.Rate)
	return q
}

// FitClock fits a clock to the anchors of the processes of one machine: a straight line, to
// which an anchor counts the more the faster it was taken, and those that contradict the
// majority hardly count. It reports whether that is possible: two different ticks are needed.
func FitClock(anchors []Anchor) (MachineClock, bool) {
	list := slices.Clone(anchors)
	slices.SortFunc(list, func(a, b Anchor) int { return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Mono, b.Mono)) })
	f, ok := newClockFit(list)
	if !ok {
		return MachineClock{}, false
	}
	f.byMedians()
	for range clockFitRounds {
		f.byLeastSquares()
	}
	return f.clock(), true
}

const (
	clockFitRounds = 8
	// anchorNoise is the error, in ns, of an anchor that was taken without any delay.
	anchorNoise = 5
)

// clockFit fits mono = first.Mono + rate*(tick-first.Tick) + offset + slope*(tick-first.Tick):
// offset and slope are small, so that floating point numbers hold them.
type clockFit struct {
	first         Anchor
	rate          uint64
	x             []float64 // ticks since the first
	y             []float64 // ns that mono is more than by rate alone
	weight        []float64
	offset, slope float64
}

func newClockFit(list []Anchor) (*clockFit, bool) {
	if len(list) == 0 {
		return nil, false
	}
	first, last := list[0], list[len(list)-1]
	ticks, ns := last.Tick-first.Tick, last.Mono-first.Mono
	if ticks == 0 || ns == 0 || int64(ns) < 0 || int64(ticks) < 0 || ns>>(64-RateBits) >= ticks {
		return nil, false
	}
	f := &clockFit{first: first}
	f.rate, _ = bits.Div64(ns>>(64-RateBits), ns<<RateBits, ticks)
	if f.rate == 0 {
		return nil, false
	}
	around := MachineClock{first.Tick, first.Mono, f.rate}
	for _, a := range list {
		f.x = append(f.x, float64(a.Tick-first.Tick))
		f.y = append(f.y, float64(int64(a.Mono-around.At(a.Tick))))
		sigma := anchorNoise + float64(f.rate)/(1<<RateBits)*float64(a.Width)/2
		f.weight = append(f.weight, 1/(sigma*sigma))
	}
	return f, true
}

// byMedians takes as slope the median of those between anchors of the first and of the second
// half, and as offset that of what is left.
func (f *clockFit) byMedians() {
	var slopes, rest []weighted
	half := len(f.x) / 2
	for i := range half {
		k := len(f.x) - half + i
		if d := f.x[k] - f.x[i]; d > 0 {
			slopes = append(slopes, weighted{(f.y[k] - f.y[i]) / d, d * d / (1/f.weight[i] + 1/f.weight[k])})
		}
	}
	f.slope = weightedMedian(slopes)
	for i := range f.x {
		rest = append(rest, weighted{f.y[i] - f.slope*f.x[i], f.weight[i]})
	}
	f.offset = weightedMedian(rest)
}

// byLeastSquares improves offset and slope: what is far from the line hardly counts.
func (f *clockFit) byLeastSquares() {
	const far = 9 // squares of standard deviations
	var n, x, y float64
	w := make([]float64, len(f.x))
	for i := range f.x {
		r := f.y[i] - f.offset - f.slope*f.x[i]
		w[i] = f.weight[i] / (1 + r*r*f.weight[i]/far)
		w[i] *= w[i] / f.weight[i]
		n, x, y = n+w[i], x+w[i]*f.x[i], y+w[i]*f.y[i]
	}
	x, y = x/n, y/n
	var xx, xy float64
	for i := range f.x {
		dx := f.x[i] - x
		xx, xy = xx+w[i]*dx*dx, xy+w[i]*dx*(f.y[i]-y)
	}
	if xx > 0 {
		f.slope = xy / xx
	}
	f.offset = y - f.slope*x
}

func (f *clockFit) clock() MachineClock {
	return MachineClock{
		Tick: f.first.Tick, Mono: f.first.Mono + uint64(int64(math.Round(f.offset))),
		Rate: f.rate + uint64(int64(math.Round(f.slope*(1<<RateBits)))),
	}
}

type weighted struct{ value, weight float64 }

// weightedMedian is the value below which half of the weight is, 0 of none.
func weightedMedian(list []weighted) float64 {
	slices.SortFunc(list, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	total, sum := 0.0, 0.0
	for _, v := range list {
		total += v.weight
	}
	for _, v := range list {
		if sum += v.weight; 2*sum >= total {
			return v.value
		}
	}
	return 0
}
