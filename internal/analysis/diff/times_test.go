package diff_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/diff"
)

func timesOf(list []uint64) *analysis.Times {
	v := efg.Interval{Min: math.MaxUint64}
	for _, ns := range list {
		v.Sum += ns
		v.Min, v.Max = min(v.Min, ns), max(v.Max, ns)
		v.Bins[binOf(ns)]++
	}
	var t analysis.Times
	t.Add(uint64(len(list)), &v)
	return &t
}

// The distance of durations that are known one by one is the mean difference of sorted lists of
// equal length. The bins yield it within 15 %.
func TestDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for round := range 300 {
		n := 2000
		var x, y []uint64
		for range n {
			x = append(x, uint64(1000*math.Exp(r.NormFloat64()*float64(round%3))))
			y = append(y, uint64((1000+50*float64(round))*math.Exp(r.NormFloat64()*float64(round%4))))
		}
		slices.Sort(x)
		slices.Sort(y)
		exact, mean := 0.0, 0.0
		for i := range x {
			exact += math.Abs(float64(x[i])-float64(y[i])) / float64(n)
			mean += (float64(x[i]) + float64(y[i])) / 2 / float64(n)
		}
		d := diff.DistanceOf(timesOf(x), timesOf(y))
		if math.Abs(d.Shift-exact) > 0.15*max(mean, exact)+1 {
			t.Errorf("round %d: %g, want %g (mean %g)", round, d.Shift, exact, mean)
		}
		if d.KS < 0 || d.KS > 1 || d != diff.DistanceOf(timesOf(y), timesOf(x)) {
			t.Errorf("round %d: %+v", round, d)
		}
	}
	same := []uint64{5, 100, 2000, 2000, 1 << 50}
	if d := diff.DistanceOf(timesOf(same), timesOf(same)); d.Shift != 0 || d.KS != 0 {
		t.Errorf("equal durations: %+v", d)
	}
	if d := diff.DistanceOf(timesOf([]uint64{10}), timesOf([]uint64{1 << 40})); d.KS != 1 || d.Shift != 1<<40-10 {
		t.Errorf("durations apart: %+v", d)
	}
	if d := diff.DistanceOf(&analysis.Times{}, timesOf(same)); d != (diff.Distance{}) {
		t.Errorf("no durations: %+v", d)
	}
}
