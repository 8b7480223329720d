package sim

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/efg-tools/efg/efg"
)

// addTimes adds time statistics: durations distributed like those of real calls, around a value
// of each node.
func addTimes(s *efg.Stream, random *rand.Rand) {
	visits := make([]uint64, len(s.Nodes))
	if len(visits) > 0 {
		visits[0] = 1
	}
	for i := range s.Nodes {
		for _, e := range s.Nodes[i].Edges {
			visits[e.To] += e.Weight
		}
	}
	for i := range s.Nodes {
		s.Nodes[i].Stats = &efg.Stats{
			Count: visits[i],
			Dur:   interval(visits[i], 300*math.Exp(5*random.Float64()), random),
			Gap:   interval(visits[i], 100*math.Exp(7*random.Float64()), random),
		}
	}
}

func interval(n uint64, typical float64, random *rand.Rand) efg.Interval {
	v := efg.Interval{Min: math.MaxUint64}
	for range n {
		addTo(&v, uint64(typical*math.Exp(0.5*random.NormFloat64())))
	}
	return v
}

// addTo counts one more time.
func addTo(v *efg.Interval, ns uint64) {
	v.Sum += ns
	v.Min = min(v.Min, ns)
	v.Max = max(v.Max, ns)
	v.Bins[min(max(bits.Len64(ns)-4, 0), len(v.Bins)-1)]++
}
