package httpapi

import (
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

// Streams are listed as many as are requested.
func TestStreamsListed(t *testing.T) {
	s := New(Options{Runs: sampleFiles(t), Token: testToken})
	defer s.Close()
	for query, want := range map[string]int{"": 8, "?limit=3": 3, "?limit=30": 8, "?streams=none": 0, "?streams=incomplete": 0, "?streams=incomplete&limit=2": 0} {
		info := decode[jsondoc.Info](t, answerOf(t, s, "/v1/runs/halo"+query))
		if len(info.Streams) != want || info.Threads != 8 {
			t.Errorf("%s: %d streams of %d, want %d", query, len(info.Streams), info.Threads, want)
		}
	}
}
