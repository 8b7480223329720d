package waits

import (
	"slices"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/match"
)

// samePairs checks that pairs add up to what rows say of the ranks that wait, and of those that are
// waited for.
func samePairs(t *testing.T, r *Report) {
	t.Helper()
	want, got := [2]map[int]int64{{}, {}}, [2]map[int]int64{{}, {}}
	for _, row := range r.Rows {
		if row.State.Apart() || len(row.Culprits) == 0 {
			continue
		}
		for side, list := range [][]RankTime{row.Ranks, row.Culprits} {
			for _, x := range list {
				want[side][x.Rank/r.Pairs.Width*r.Pairs.Width] += x.Time
			}
		}
	}
	for _, c := range r.Pairs.Cells {
		got[0][c.Waiting] += c.Time
		got[1][c.Culprit] += c.Time
	}
	for side := range want {
		for rank, time := range want[side] {
			if got[side][rank] != time {
				t.Errorf("pairs, side %d, rank %d: %d, want %d", side, rank, got[side][rank], time)
			}
		}
	}
}

// Of many ranks there are few blocks.
func TestPairsOfMany(t *testing.T) {
	trace := &match.Trace{Processes: []*match.Process{{Rank: 0}, {Rank: 999}}}
	p := newPairs(trace)
	p.add(999, 0, 5)
	p.add(998, 15, 2)
	p.add(16, 32, 1)
	p.add(-1, 3, 7)
	got := p.finish()
	if want := []PairTime{{16, 32, 1}, {992, 0, 7}}; got.Width != 16 || !slices.Equal(got.Cells, want) {
		t.Errorf("%+v", got)
	}
	if one := newPairs(&match.Trace{}); one.width != 1 || len(one.finish().Cells) != 0 {
		t.Errorf("%+v", one)
	}
}
