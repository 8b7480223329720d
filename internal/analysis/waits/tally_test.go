package waits

import (
	"math/rand/v2"
	"testing"
)

// A tally has the values that a map has, whether it has few causes or many.
func TestTally(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var tally tally[float64]
	for round := range 300 {
		want := map[cause]float64{}
		tally.clear()
		few := 1 + random.Int32N(30)
		for range random.IntN(2000) {
			c := cause{random.Int32N(few) - 1, random.Int32N(few), random.Int32N(3)}
			v := float64(random.IntN(10))
			want[c] += v
			*tally.at(c) += v
		}
		if len(tally.list) != len(want) {
			t.Fatalf("round %d: %d causes, not %d", round, len(tally.list), len(want))
		}
		for _, x := range tally.list {
			if v, ok := want[x.cause]; !ok || v != x.value {
				t.Fatalf("round %d: %v is %v, not %v (%t)", round, x.cause, x.value, v, ok)
			}
		}
	}
}
