package analysis

import "testing"

func TestAreFirst(t *testing.T) {
	for _, c := range []struct {
		first int
		spans []span
		n     int
		want  bool
	}{
		{0, []span{{0, 0, 4, 1}}, 4, true},
		{0, []span{{0, 0, 4, 1}}, 5, false},
		{0, []span{{0, 0, 1, 0}}, 1, true},
		{0, []span{{0, 0, 1, 0}, {1, 1, 3, 1}}, 4, true},
		{0, []span{{0, 1, 4, 1}}, 4, false},
		{0, []span{{0, 0, 4, 2}}, 4, false},
		{0, []span{{0, 0, 2, 1}, {2, 3, 1, 0}, {3, 2, 1, 0}}, 4, false},
		{0, []span{{0, 0, 3, 1}, {3, foreign, 1, 0}}, 4, false},
		{4, []span{{0, 0, 4, 1}}, 4, false}, // of a second world
	} {
		g := group{spans: c.spans}
		for _, s := range c.spans {
			g.size += s.count
		}
		m := newMembers(&g, c.first)
		same := m.Size() == c.n
		for i := range c.n {
			same = same && m.At(i) == i
		}
		if got := m.AreFirst(c.n); got != c.want || got != same {
			t.Errorf("%d and %v: %v of %d, want %v", c.first, c.spans, got, c.n, c.want)
		}
	}
}
