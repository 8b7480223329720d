package generate

import (
	"slices"
	"testing"
)

// TestFoldKeepsRepeats checks that what a repeat refers to is not folded itself.
func TestFoldKeepsRepeats(t *testing.T) {
	s := series{{Value: 1, Count: 1}, {Value: 5, Count: 1}, {Value: 1, Count: 1}, {Value: 5, Count: 1}, {Value: 1, Count: 1}, {Value: 5, Count: 1}, {Back: 6, Times: 2}, {Value: 9, Count: 1}}
	folded := s.fold()
	if !slices.Equal(folded.expand(), s.expand()) {
		t.Errorf("%v becomes %v", s, folded)
	}
	for i, r := range folded {
		for k := 1; r.Count == 0 && k <= int(r.Back); k++ {
			if i < k || folded[i-k].Count == 0 {
				t.Errorf("%v: nested repeats", folded)
			}
		}
	}
}
