package timeline

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/timeline"
	"github.com/efg-tools/efg/internal/analysis/visits"
	"github.com/efg-tools/efg/internal/palette"
)

// Bands are in the rows of their ranks, nested, and those of a second thread below those of the first; if
// rows are too low, the first rank's are above all of them.
func TestRegions(t *testing.T) {
	for _, ranks := range []int{2, 300} {
		v := &timeline.View{End: 100, Pixel: 1, Width: 100, Pixels: make([]byte, 100*ranks), Complete: true}
		for rank := range ranks {
			v.Rows = append(v.Rows, timeline.Row{First: rank, Last: rank, Ranks: 1, Read: 1})
		}
		x := &visits.View{To: 100, Pixel: 1, Depth: 2, Complete: true,
			Regions: []visits.Region{{Names: []string{"a<b"}}, {Names: []string{"a<b", "inner"}}, {Names: []string{"other"}}},
			Tracks: []visits.Track{
				{Rank: 0, Visits: []visits.Visit{{Region: 0, Begin: 10, End: 60, Visits: 1, Time: 50}, {Region: 1, Depth: 1, Begin: 20, End: 40, Visits: 3, Time: 5, Mixed: true}}},
				{Rank: 0, Thread: 2, Visits: []visits.Visit{{Region: 2, Begin: 30, End: 90, Visits: 1, Time: 60, Open: true}}},
				{Rank: 1, Visits: []visits.Visit{{Region: 2, Begin: 70, End: 80, Visits: 1, Time: 10}}},
			}}
		p := Picture{View: v, Visits: x}
		var picture, svg bytes.Buffer
		if err := PNG(&picture, p); err != nil {
			t.Fatal(err)
		}
		if err := SVG(&svg, p); err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(&picture)
		if err != nil {
			t.Fatal(err)
		}
		s := newSheet(p)
		shown := 0
		s.visits(func(part image.Rectangle, _ *visits.Track, x *visits.Visit) {
			shown++
			at := m.At(part.Max.X-2, part.Min.Y+1)
			if want := palette.Region(p.Visits.Regions[x.Region].Name()); at != want {
				t.Errorf("%d ranks: %+v is %v, want %v", ranks, x, at, want)
			}
		})
		if want := map[int]int{2: 4, 300: 3}[ranks]; shown != want || (s.bands.height > 0) != (ranks == 2) || strings.Count(svg.String(), `class="region"`) != want {
			t.Errorf("%d ranks: %d bands, %+v", ranks, shown, s.bands)
		}
		for _, want := range []string{
			"<title>rank 0, 0.00000001 s to 0.00000006 s: region a&lt;b</title>", "region a&lt;b/inner most of the time; 3 visits of several regions, 5 ns in all</title>",
			"<title>rank 0, thread 2, 0.00000003 s to 0.00000009 s: region other, not ended</title>", ">region other</text>",
		} {
			if !strings.Contains(svg.String(), want) {
				t.Errorf("%d ranks: no %s in %s", ranks, want, svg.String()[:min(3000, svg.Len())])
			}
		}
	}
}
