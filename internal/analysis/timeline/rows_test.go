package timeline

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// membersOf returns the processes of each row, one after another, and checks that each is in one row.
func membersOf(t *testing.T, run *runfile.Run, v *View) [][]int {
	t.Helper()
	var rows [][]int
	seen := map[int]bool{}
	for _, row := range v.Rows {
		set, err := rankset.Parse(row.Members)
		if err != nil {
			t.Fatal(err)
		}
		procs, err := set.Find(run)
		if err != nil || len(procs) != row.Ranks {
			t.Fatalf("%+v: %d ranks, %v", row, len(procs), err)
		}
		for _, i := range procs {
			if seen[i] {
				t.Errorf("process %d is in two rows", i)
			}
			seen[i] = true
		}
		rows = append(rows, procs)
	}
	return rows
}

// Rows of classes have the times of all their ranks, which made the same calls.
func TestByClass(t *testing.T) {
	for program, want := range map[string]int{"halo": 9, "mesh": 16, "farm": 0} {
		t.Run(program, func(t *testing.T) {
			c := sim.Config{Program: program, Ranks: 16, Steps: 12, Seed: 5}
			run := simulated(t, c)
			all := threadsOf(t, run)
			tl, err := New(run)
			if err != nil {
				t.Fatal(err)
			}
			for _, most := range []int{20, 3, 1} {
				v, err := tl.View(t.Context(), Query{Width: 80, Rows: most, By: ByClass, Share: true})
				if err != nil {
					t.Fatal(err)
				}
				rows := membersOf(t, run, v)
				if len(rows) > most || most == 20 && want > 0 && len(rows) != want {
					t.Errorf("%d rows, want %d, at most %d", len(rows), want, most)
				}
				var procs []int
				for y, list := range rows {
					procs = append(procs, list...)
					for _, i := range list[1:] {
						if y < most-1 && !reflect.DeepEqual(places(all[i]), places(all[list[0]])) {
							t.Errorf("ranks %d and %d share a row, but not their calls", list[0], i)
						}
					}
				}
				compare(t, all, procs, v)
			}
			v, err := tl.View(t.Context(), Query{Width: 80, Rows: 5, By: ByHost})
			if err != nil || len(v.Rows) != 1 || v.Rows[0].Members != "0-15" {
				t.Errorf("by host: %+v, %v", v, err)
			}
		})
	}
}

// places are the calls of a process.
func places(threads []thread) (list []string) {
	for _, th := range threads {
		for _, c := range th.calls {
			list = append(list, fmt.Sprint(c.thread, c.op, c.site))
		}
	}
	return list
}

func TestFewer(t *testing.T) {
	groups := func() [][]int { return [][]int{{0}, {1, 4, 5}, {2}, {3, 7}, {6}} }
	for rows, want := range map[int]string{
		9: "[[0] [1 4 5] [2] [3 7] [6]]", 5: "[[0] [1 4 5] [2] [3 7] [6]]", 4: "[[0] [1 4 5] [3 7] [2 6]]", 3: "[[1 4 5] [3 7] [0 2 6]]", 2: "[[1 4 5] [0 2 3 6 7]]", 1: "[[0 1 2 3 4 5 6 7]]",
	} {
		if got := fmt.Sprint(fewer(groups(), rows)); got != want {
			t.Errorf("%d rows: %s, want %s", rows, got, want)
		}
	}
}

func TestRowLabels(t *testing.T) {
	for want, row := range map[string]Row{
		"3": {First: 3, Last: 3, Ranks: 1}, "8-15": {First: 8, Last: 15, Ranks: 8}, "4": {First: 4, Last: 4, Ranks: 1, Members: "4"}, "1 +2": {First: 1, Last: 9, Ranks: 3, Members: "1,7,9"},
	} {
		if got := row.Label(); got != want {
			t.Errorf("%+v: %q, want %q", row, got, want)
		}
	}
}
