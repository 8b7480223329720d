package efg

import (
	"math"
	"math/rand/v2"
	"testing"
)

// anchorsOf are anchors of processes on one machine, whose ticks take that many ns, for so many
// seconds: those that were taken slowly are late.
func anchorsOf(r *rand.Rand, processes int, rate, seconds float64) []Anchor {
	const first, mono = 1 << 52, 1 << 40
	var list []Anchor
	for range processes {
		for _, at := range []float64{r.Float64() * 1e7, seconds*1e9 - r.Float64()*1e7} {
			width := 100 + uint64(r.ExpFloat64()*20)
			late := float64(width) * rate / 2 * (2*r.Float64() - 1)
			list = append(list, Anchor{Tick: first + uint64(at/rate), Mono: mono + uint64(at+late), Width: width})
		}
	}
	return list
}

func checkFit(t *testing.T, name string, anchors []Anchor, rate, seconds, mostPPM float64) {
	t.Helper()
	c, ok := FitClock(anchors)
	if !ok {
		t.Fatalf("%s: no clock", name)
	}
	got := float64(c.Rate) / (1 << RateBits)
	if ppm := (got/rate - 1) * 1e6; math.Abs(ppm) > mostPPM {
		t.Errorf("%s: the rate is off by %.3f ppm", name, ppm)
	}
	for _, at := range []float64{0, seconds * 1e9 / 3, seconds * 1e9} {
		tick := uint64(1<<52 + at/rate)
		if d := int64(c.At(tick) - uint64(1<<40+float64(tick-1<<52)*rate)); d > 100 || d < -100 {
			t.Errorf("%s: %d ns off after %.0f ns", name, d, at)
		}
	}
}

// The rate of a machine is that of its processes' anchors, whatever one of them says.
func TestFitClock(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rate = 0.434782624
	for _, processes := range []int{1, 2, 4, 100} {
		for _, seconds := range []float64{1, 60, 40_000} {
			anchors := anchorsOf(r, processes, rate, seconds)
			checkFit(t, "good ones", anchors, rate, seconds, 0.1/seconds+1e-6)
			if processes < 4 {
				continue
			}
			bad := &anchors[r.IntN(len(anchors))]
			bad.Mono += 3_000_000
			checkFit(t, "one taken while others ran", anchors, rate, seconds, 0.1/seconds+1e-6)
			bad.Width = 7_000_000
			checkFit(t, "which says so", anchors, rate, seconds, 0.1/seconds+1e-6)
		}
	}
}

// An anchor that was taken slowly counts little also where there are two processes.
func TestSlowAnchor(t *testing.T) {
	anchors := anchorsOf(rand.New(rand.NewPCG(7, 8)), 2, 0.5, 10)
	anchors[3].Mono += 400_000
	anchors[3].Width = 1_000_000
	checkFit(t, "two processes", anchors, 0.5, 10, 0.01)
}

// Without two ticks there is no clock.
func TestNoClock(t *testing.T) {
	for _, anchors := range [][]Anchor{nil, {{Tick: 5, Mono: 7}}, {{Tick: 5, Mono: 7}, {Tick: 5, Mono: 9}}, {{Tick: 5, Mono: 7}, {Tick: 6, Mono: 7}}, {{Tick: 5, Mono: 1 << 62}, {Tick: 6, Mono: 0}}} {
		if c, ok := FitClock(anchors); ok {
			t.Errorf("%v: %+v", anchors, c)
		}
	}
}

// Times of a clock are sums of ticks, rounded down once, also beyond 2^64.
func TestMachineClock(t *testing.T) {
	c := MachineClock{Tick: 1000, Mono: 5_000_000, Rate: 3 << (RateBits - 1)} // 1.5 ns
	for tick, want := range map[uint64]uint64{1000: 5_000_000, 1001: 5_000_001, 1002: 5_000_003, 999: 4_999_998, 998: 4_999_997} {
		if got := c.At(tick); got != want {
			t.Errorf("tick %d is %d, not %d", tick, got, want)
		}
	}
	if got := c.Ticks(3_000); got != 2000 {
		t.Errorf("3 µs are %d ticks", got)
	}
	trace := Trace{Begin: 1001, Clock: c}
	for ticks, want := range map[uint64]uint64{0: 0, 1: 2, 2: 3, 3: 5} {
		if got := trace.after(ticks, 0, nil); got != want || c.At(trace.Begin+ticks)-trace.BeginMono() != want {
			t.Errorf("%d ticks after the beginning are %d ns, not %d", ticks, got, want)
		}
	}
}
