package diff_test

import (
	"encoding/json"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// twoWorlds makes two worlds of two ranks each. Their ranks call, as often as first and second
// say, at two callsites without names. The two ranks of a world differ from each other in the
// same way.
func twoWorlds(t *testing.T, first, second int) *runfile.Run {
	t.Helper()
	var list []*efg.Process
	for world := range 2 {
		for rank := range 2 {
			r := newRecorder(t, rank, 2)
			for site, n := range []int{first, second} {
				for range n + 2*(rank^site) + 3*(world^site) {
					r.barrier(uint64(1 + site))
				}
			}
			p := r.process()
			p.World += uint64(world)
			p.PID += 10 * world
			list = append(list, p)
		}
	}
	return testrun.Of(t, list, runfile.Meta{})
}

// Callsites that are alike in all that counts still have an order, and processes that are read
// in another order have the same sums: a document is the same each time.
func TestSameEachTime(t *testing.T) {
	a, b := twoWorlds(t, 3, 5), twoWorlds(t, 5, 3)
	documents := map[string]func() (any, error){
		"runs":     func() (any, error) { return diff.NewRuns(a, b, [2][]int{all(a), all(b)}, func(uint64) {}) },
		"overview": func() (any, error) { return diff.NewOverview(a, all(a), func(uint64) {}) },
		"pair":     func() (any, error) { return diff.NewPair(diff.Rank{Run: a, Proc: 0}, diff.Rank{Run: b, Proc: 0}) },
	}
	for name, compare := range documents {
		before := ""
		for range 20 {
			document, err := compare()
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(document)
			if err != nil {
				t.Fatal(err)
			}
			if before != "" && string(text) != before {
				t.Errorf("%s: %s\nand then %s", name, before, text)
				break
			}
			before = string(text)
		}
	}
}
