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

func TestCutWaits(t *testing.T) {
	pairs := [][2]int64{{0, 9}, {3, 5}, {1, 2}}
	j := &Waits{Rows: make([]WaitRow, 4), Causes: make([]WaitCause, 2), Path: WaitPath{Rows: make([]WaitPathRow, 3), Ranks: pairs}}
	j.Rows[1].Ranks, j.Rows[1].ForRanks, j.Causes[0].Ranks = pairs, pairs[:1], pairs
	j.CutRows(3)
	CutRanges(j, 2)
	if len(j.Rows) != 3 || len(j.Causes) != 2 || len(j.Path.Rows) != 3 {
		t.Errorf("%d rows, %d causes, %d of the path", len(j.Rows), len(j.Causes), len(j.Path.Rows))
	}
	if len(j.Rows[1].Ranks) != 2 || len(j.Rows[1].ForRanks) != 1 || len(j.Causes[0].Ranks) != 2 || len(j.Path.Ranks) != 2 {
		t.Errorf("ranks are not cut: %+v", j)
	}
}
