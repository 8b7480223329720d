package timeline

import (
	"bytes"
	"image/png"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/flows"
	"github.com/efg-tools/efg/internal/analysis/timeline"
	"github.com/efg-tools/efg/internal/draw/raster"
)

// A collective call of ranks 0 and 2 shades their rows from where each enters to where it leaves, and not
// that of rank 1. Too many of them are not drawn.
func TestCollectives(t *testing.T) {
	v := &timeline.View{End: 100, Pixel: 1, Width: 100, Pixels: make([]byte, 300), Complete: true}
	for rank := range 3 {
		v.Rows = append(v.Rows, timeline.Row{First: rank, Last: rank, Ranks: 1, Read: 1})
	}
	f := &flows.Flows{To: 100, CollectiveCount: 1, Collectives: []flows.Collective{{Op: "MPI_Ibarrier", Comm: "comm:1", Parts: []flows.Part{{Rank: 0, Begin: 20, End: 60}, {Rank: 2, Begin: 40, End: 70}}}}}
	for _, count := range []int{1, MostArrows + 1} {
		f.CollectiveCount = count
		var picture, svg bytes.Buffer
		if err := PNG(&picture, Picture{View: v, Flows: f}); err != nil {
			t.Fatal(err)
		}
		if err := SVG(&svg, Picture{View: v, Flows: f}); err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(&picture)
		if err != nil {
			t.Fatal(err)
		}
		s := newSheet(Picture{View: v, Flows: f})
		for _, c := range []struct {
			rank, time int
			shaded     bool
		}{{0, 10, false}, {0, 30, true}, {0, 50, true}, {0, 65, false}, {1, 50, false}, {2, 30, false}, {2, 50, true}, {2, 65, true}, {2, 80, false}} {
			at := m.At(int(s.x(int64(c.time))), raster.Top+c.rank*s.line+s.line/2)
			if plain := at == Color(v, timeline.Outside); plain == (c.shaded && count == 1) {
				t.Errorf("%d calls: rank %d at %d ns is %v", count, c.rank, c.time, at)
			}
		}
		if bytes.Contains(svg.Bytes(), []byte("<title>MPI_Ibarrier of 2 ranks on comm:1, 0.00000002 s to 0.00000007 s</title>")) != (count == 1) {
			t.Errorf("%d calls: %s", count, svg.Bytes())
		}
	}
}
