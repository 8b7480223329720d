package jsondoc

import "testing"

// Lists of ranges contain at most the requested number, the first ones.
func TestCutRanges(t *testing.T) {
	list := func() [][3]int { return [][3]int{{0, 2, 1}, {5, 1, 0}, {9, 3, 4}} }
	overview := &Overview{Classes: []Class{{Ranks: list()}}, Outliers: []Outlier{{Ranks: list()}}}
	runs := &RunsDiff{Classes: []ClassPair{{Ranks: [2][][3]int{list(), list()[:1]}}}}
	loops := &Loops{Groups: []LoopGroup{{Ranks: list()}}}
	for most, want := range map[int][2]int{9: {3, 1}, 3: {3, 1}, 2: {2, 1}, 1: {1, 1}} {
		for _, v := range []any{overview, runs, loops, &Check{}} {
			CutRanges(v, most)
		}
		for i, n := range []int{
			len(overview.Classes[0].Ranks), len(overview.Outliers[0].Ranks), len(runs.Classes[0].Ranks[0]), len(loops.Groups[0].Ranks), len(runs.Classes[0].Ranks[1]),
		} {
			if n != want[i/4] {
				t.Errorf("at most %d: list %d has %d", most, i, n)
			}
		}
		overview.Classes[0].Ranks, overview.Outliers[0].Ranks, runs.Classes[0].Ranks[0], loops.Groups[0].Ranks = list(), list(), list(), list()
	}
}
