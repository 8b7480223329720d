package mtf

import (
	"math/rand"
	"slices"
	"testing"
)

// unfolded are the events that a patternFinder's items stand for.
func unfolded(f *patternFinder) []uint32 {
	var list []uint32
	u := newPatternExpander(f.items, f.patterns)
	for class, ok := u.next(); ok; class, ok = u.next() {
		list = append(list, class)
	}
	return list
}

func fold(events []uint32) *patternFinder {
	f := newPatternFinder()
	for _, e := range events {
		f.push(e)
	}
	return f
}

// loops makes a random program of nested loops.
func loops(rng *rand.Rand, depth int) []uint32 {
	var list []uint32
	for range 1 + rng.Intn(4) {
		if depth == 0 || rng.Intn(3) == 0 {
			list = append(list, uint32(rng.Intn(4)))
			continue
		}
		body := loops(rng, depth-1)
		for range rng.Intn(5) {
			list = append(list, body...)
		}
	}
	return list
}

// Folding is reversible.
func TestFolding(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 3000 {
		events := loops(rng, rng.Intn(5))
		if len(events) > 5000 {
			continue
		}
		if f := fold(events); !slices.Equal(unfolded(f), events) {
			t.Fatalf("%v became %v", events, unfolded(f))
		}
	}
	for _, classes := range []int{1, 2, 3, 50} {
		events := make([]uint32, 20000)
		for i := range events {
			events[i] = uint32(rng.Intn(classes))
		}
		if f := fold(events); !slices.Equal(unfolded(f), events) {
			t.Fatalf("%d random classes do not come back", classes)
		}
	}
}

// Nested loops become patterns of patterns.
func TestLoopsAreFound(t *testing.T) {
	var events []uint32
	for range 40 {
		for range 9 {
			events = append(events, 1, 2, 3)
		}
		events = append(events, 4)
	}
	events = append(events, 5)
	f := fold(events)
	if len(f.items) != 2 || f.items[0].count != 40 || f.items[1] != (item{n: 5}) {
		t.Fatalf("%v of %v", f.items, f.patterns)
	}
	outer := f.patterns[f.items[0].n]
	if len(outer) != 2 || outer[0].count != 9 || !slices.Equal(f.patterns[outer[0].n], []item{{n: 1}, {n: 2}, {n: 3}}) || outer[1] != (item{n: 4}) {
		t.Errorf("%v of %v", outer, f.patterns)
	}
}

func BenchmarkFolding(b *testing.B) {
	f := newPatternFinder()
	for i := range b.N {
		f.push(uint32(i % 9))
	}
}
