package visits

import (
	"testing"
)

// What a thread visits more often than can be kept apart is joined, and nothing of it is lost.
func TestThin(t *testing.T) {
	defer func(n int) { mostSpans = n }(mostSpans)
	mostSpans = 1000
	c := &collector{}
	const n = 100_000
	time := int64(0)
	for i := range int64(n) {
		length := i % 7 * 10
		if i == n/2 {
			length = 50_000
		}
		at := i * 100
		if i > n/2 {
			at += 50_000
		}
		c.open = append(c.open, span{begin: at, region: int32(i % 3), visits: 1})
		c.close(0, at+length, false)
		time += length
	}
	list := c.finish(0)
	visits, long := uint32(0), 0
	for _, s := range list {
		visits += s.visits
		time -= s.time
		if s.end-s.begin == 50_000 && s.visits == 1 {
			long++
		}
	}
	if len(list) > mostSpans || len(list) < mostSpans/8 || visits != n || time != 0 || long != 1 {
		t.Errorf("%d left, of %d visits, %d ns are missing, %d long ones", len(list), visits, time, long)
	}
}

// The part of the time of what is joined that lies in an interval.
func TestPart(t *testing.T) {
	for _, c := range []struct {
		s        span
		from, to int64
		want     int64
	}{
		{span{begin: 10, end: 30, time: 20}, 0, 100, 20}, {span{begin: 10, end: 30, time: 20}, 20, 25, 5},
		{span{begin: 10, end: 30, time: 10}, 20, 40, 5}, {span{begin: 10, end: 10}, 0, 20, 0},
	} {
		if got := c.s.part(c.from, c.to); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
