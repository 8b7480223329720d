package perfetto

import (
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// Calls have the paths of calls that led to them.
func TestCallPaths(t *testing.T) {
	run := testrun.Timed(t, testrun.Text(t, "../../../efg/runfile/testdata/paths/nested.txt"))
	trace := write(t, run, 1<<40)
	c := check(t, trace)
	got := map[string]int{} // by path
	for _, p := range trace["packet"] {
		packet := p.(decoded)
		sequence := packet.text("trusted_packet_sequence_id")
		for _, a := range packet.sub("track_event")["debug_annotations"] {
			if annotation := a.(decoded); c.interned[sequence+"debug_annotation_names"+annotation.text("name_iid")] == "path" {
				got[c.interned[sequence+"debug_annotation_string_values"+annotation.text("string_value_iid")]]++
			}
		}
	}
	if len(got) < 2 {
		t.Errorf("paths %v", got)
	}
	testrun.EachEvent(t, run, func(_ *reconstruct.Process, e *reconstruct.Event) {
		if path := e.Path(); path != nil {
			text := string(reconstruct.AppendJSONPath(nil, path))
			got[strings.Trim(strings.ReplaceAll(text, `"`, `\"`), `"`)]--
		}
	})
	for path, n := range got {
		if n != 0 {
			t.Errorf("%d times too often: %s", n, path)
		}
	}
}
