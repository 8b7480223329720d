package httpapi

import (
	"bytes"
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

// Regions of ranks that share a row are the first one's; short ones are joined.
func TestRegionsInTimeline(t *testing.T) {
	s := New(Options{Runs: sampleFiles(t, namedFile(t)), Token: testToken})
	defer s.Close()
	ask := func(query string) *jsondoc.Visits {
		return decode[jsondoc.Visits](t, answerOf(t, s, "/v1/runs/named/timeline/regions"+query))
	}
	for _, c := range []struct {
		query                         string
		tracks, visits, regions, deep int
		pixel                         int64
	}{
		{"?width=8000", 2, 8, 3, 2, 0}, {"?width=8000&rows=1", 1, 8, 3, 2, 0}, {"?width=8000&ranks=1&depth=1", 1, 4, 3, 2, 0}, {"?width=1", 2, 2, 3, 2, 0},
		{"?width=8000&most=4", 2, 2, 3, 2, 0}, {"?from=1001700000&to=1001900000", 2, 0, 0, 0, 250},
	} {
		v := ask(c.query)
		if len(v.Tracks) != c.tracks || len(v.Tracks[0].Visits) != c.visits || len(v.Regions) != c.regions || v.Depth != c.deep || !v.Complete || c.pixel > 0 && v.Pixel != c.pixel {
			t.Errorf("%s: %+v", c.query, v)
		}
	}
	v := ask("?width=1&ranks=0&depth=1")
	x := v.Tracks[0].Visits[0]
	if near := func(ns, us int64) bool { return max(ns-us*1000, us*1000-ns) < 10_000 }; x[4] != 4 || !near(x[3]-x[2], 3601) || !near(x[5], 4*601) || x[6] != 0 || v.Regions[x[1]].Region[0] != "step" {
		t.Errorf("%+v", v)
	}
	if got := answerOf(t, s, "/v1/runs/traced/timeline/regions"); len(decode[jsondoc.Visits](t, got).Tracks) != 0 {
		t.Errorf("%s", got)
	}
}

// A timeline that is not complete continues when it is requested again, and ends as it would
// have been without a limit.
func TestTimelineGoesOn(t *testing.T) {
	s := New(Options{Runs: sampleFiles(t), Token: testToken})
	defer s.Close()
	var last *jsondoc.Timeline
	asked := 0
	for read := 0; last == nil || !last.Complete; asked++ {
		last = decode[jsondoc.Timeline](t, answerOf(t, s, "/v1/runs/traced/timeline?format=json&width=300&events=100"))
		now := 0
		for _, row := range last.Rows {
			now += row[3]
		}
		if now < read || asked > 1000 {
			t.Fatalf("%d ranks were read, before %d, asked %d times", now, read, asked)
		}
		read = now
	}
	if asked < 2 {
		t.Error("all was read at once")
	}
	other := New(Options{Runs: sampleFiles(t), Token: testToken})
	defer other.Close()
	want := decode[jsondoc.Timeline](t, answerOf(t, other, "/v1/runs/traced/timeline?format=json&width=300"))
	if !want.Complete || !bytes.Equal(last.Pixels, want.Pixels) {
		t.Error("it is another in the end")
	}
}
