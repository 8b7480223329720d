package generate

import (
	"strings"
	"testing"
)

// Worlds belong to the calls during which they began. Which of several calls at the same time started one does not matter if
// what they started makes the same calls.
func TestByTime(t *testing.T) {
	one := []*process{{}}
	for _, c := range []struct {
		what     string
		began    []int64
		programs []int
		calls    [][2]int64
		want     []int // the world that each call started
		fails    string
	}{
		{"one after another", []int64{0, 5, 15}, []int{0, 1, 2}, [][2]int64{{10, 20}, {1, 9}}, []int{2, 1}, ""},
		{"at the same time, the same calls", []int64{0, 5, 6}, []int{0, 1, 1}, [][2]int64{{1, 9}, {2, 8}}, []int{2, 1}, ""},
		{"at the same time, other calls", []int64{0, 5, 6}, []int{0, 1, 2}, [][2]int64{{1, 9}, {2, 8}}, []int{2, 1}, "it is unknown which call started which"},
		{"one of the worlds may have been started by either call", []int64{0, 3, 6}, []int{0, 1, 2}, [][2]int64{{1, 4}, {2, 8}}, []int{1, 2}, "it is unknown which call started which"},
		{"no call", []int64{0, 5}, []int{0, 1}, [][2]int64{{6, 9}}, nil, "it is unknown which call started it"},
	} {
		var worlds []*world
		for k, began := range c.began {
			worlds = append(worlds, &world{procs: one, began: began, program: c.programs[k]})
		}
		var all []start
		for _, at := range c.calls {
			all = append(all, start{from: at[0], to: at[1], most: 1})
		}
		err := byTime(worlds, all)
		if err == nil {
			err = ambiguous(worlds)
		}
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: %v, want %q", c.what, err, c.fails)
		}
		for i, k := range c.want {
			if all[i].started != k {
				t.Errorf("%s: call %d started world %d, want %d", c.what, i, all[i].started, k)
			}
		}
	}
}
