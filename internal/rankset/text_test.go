package rankset

import "testing"

func TestText(t *testing.T) {
	for _, c := range []struct {
		list []int
		want string
	}{
		{nil, ""},
		{[]int{3}, "3"},
		{[]int{0, 1}, "0-1"},
		{[]int{0, 1, 2, 3, 7, 9, 10}, "0-3,7,9-10"},
	} {
		if got := Text(c.list); got != c.want {
			t.Errorf("Text(%v) = %q, want %q", c.list, got, c.want)
		}
	}
}
