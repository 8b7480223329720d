package httpapi

import (
	"bytes"
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

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
