package jsondoc

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/efg-tools/efg/internal/daemon"
)

// A list with the texts of its runs is written as one without.
func TestRunListTexts(t *testing.T) {
	for n := range 4 {
		l := NewRunList("/store")
		for i := range n {
			x := daemon.Summary{Version: 1, Name: fmt.Sprint("run", i), Command: []string{"a<b>", "\n  \"runs\": []"}, Started: time.Unix(int64(i), 5).UTC(), LeftOut: []string{"x", "y"}[:i]}
			if i == 2 {
				x.Command = nil
				x.Worlds = []daemon.World{{ID: 7, Size: 3, Ranks: [][2]int{{0, 1}}}}
			}
			l.Runs = append(l.Runs, x)
		}
		l.Jobs = append(l.Jobs, Job{Name: "\n  \"runs\": []"})
		l.Total, l.Next, l.Problems = n, "<&>", []string{"runs"}
		var want, got bytes.Buffer
		if err := Write(&want, l); err != nil {
			t.Fatal(err)
		}
		for i := range l.Runs {
			l.Texts = append(l.Texts, RunText(l.Runs[i]))
		}
		if err := l.Write(&got); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%d runs:\n%s\nwant\n%s", n, &got, &want)
		}
		got.Reset()
		l.Texts = nil
		if err := l.Write(&got); err != nil || got.String() != want.String() {
			t.Errorf("%d runs without texts: %v\n%s", n, err, &got)
		}
	}
}
