package diff

import "testing"

// Objects that another thread made are the same if some event of both runs made them.
func TestMakings(t *testing.T) {
	of := func(events ...uint64) *makings {
		m := &makings{}
		for _, e := range events {
			m.add(e, true)
		}
		return m
	}
	for _, c := range []struct {
		a, b *makings
		want bool
	}{
		{of(1, 5, 9), of(5), true},
		{of(9), of(1, 5, 9), true},
		{of(1, 5, 9), of(2, 6), false},
		{of(1), of(1, 2), true},
		{of(3), of(4), false},
	} {
		if got := c.a.meets(c.b); got != c.want {
			t.Errorf("%v and %v: %v", c.a.all, c.b.all, got)
		}
	}
}
