package main

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The first items are those of the sorted list, and equal ones keep their order.
func TestFirst(t *testing.T) {
	type item struct{ key, place int }
	compare := func(x, y *item) int { return x.key - y.key }
	r := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		list := make([]item, r.IntN(40))
		for i := range list {
			list[i] = item{r.IntN(8), i}
		}
		n := r.IntN(45)
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(x, y item) int { return compare(&x, &y) })
		want = want[:min(n, len(want))]
		if got := first(list, n, compare); !slices.Equal(got, want) {
			t.Fatalf("%v: the first %d are %v, want %v", list, n, got, want)
		}
	}
}
