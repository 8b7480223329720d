package timeline

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"io"

	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/internal/analysis/visits"
	"github.com/efg-tools/efg/internal/draw/raster"
	"github.com/efg-tools/efg/internal/palette"
	"github.com/efg-tools/efg/internal/units"
)

// Heights of the bands of regions: a band is as high as possible, and bands take part of a row's height.
const (
	mostBand    = 13
	leastBand   = 3
	withBands   = 800 // the height of the picture that is aimed at if there are bands
	callsHeight = 24  // of a row, below its bands
)

// mostRegions bounds the regions in a legend.
const mostRegions = 16

// bands is where bands are. A thread has a lane for each depth; the lanes of a rank's threads are below
// each other.
type bands struct {
	height int   // of a lane; 0: there is no room in the rows
	lanes  int   // that are drawn
	first  []int // lane of each track
	row    []int // of each track, -1: none
}

// BandsInRows reports whether a picture of so many rows has room for bands in them.
func BandsInRows(rows int) bool { return withBands/max(rows, 1)*2/3 >= leastBand*2 }

// layBands finds room for bands: in the rows, which become higher, or above them for the first rank.
func (s *plotArea) layBands() {
	if s.Visits == nil || len(s.Visits.Tracks) == 0 {
		return
	}
	b := &s.bands
	rowOf, used := map[int]int{}, map[int]int{}
	for i, r := range s.Rows {
		rowOf[r.First] = i
	}
	for i := range s.Visits.Tracks {
		t := &s.Visits.Tracks[i]
		row, ok := rowOf[t.Rank]
		if !ok {
			row = -1
		}
		b.row, b.first = append(b.row, row), append(b.first, used[t.Rank])
		used[t.Rank] += depthOf(t)
		b.lanes = max(b.lanes, used[t.Rank])
	}
	if b.lanes == 0 {
		return
	}
	if BandsInRows(len(s.Rows)) {
		line := min(callsHeight+b.lanes*mostBand, withBands/len(s.Rows))
		room := line * 2 / 3
		s.line = max(s.line, line)
		b.height = max(leastBand, min(mostBand, room/b.lanes))
		b.lanes = min(b.lanes, room/b.height)
		return
	}
	b.lanes = min(b.lanes, stripHeight/leastBand)
}

// stripHeight is the room above all rows.
const stripHeight = raster.Top - 26

func depthOf(t *visits.Track) (n int) {
	for i := range t.Visits {
		n = max(n, t.Visits[i].Depth+1)
	}
	return n
}

// visits calls show for the bands, outer ones first.
func (s *plotArea) visits(show func(part image.Rectangle, t *visits.Track, x *visits.Visit)) {
	b := &s.bands
	if b.lanes == 0 {
		return
	}
	area := s.area()
	for i := range s.Visits.Tracks {
		t := &s.Visits.Tracks[i]
		top, height := raster.Top+b.row[i]*s.line, b.height
		if b.height == 0 {
			height = min(mostBand, stripHeight/b.lanes)
			top = raster.Top - 2 - b.lanes*height
			area = image.Rect(area.Min.X, top, area.Max.X, raster.Top)
		}
		if b.row[i] < 0 || b.height == 0 && b.row[i] > 0 {
			continue
		}
		for k := range t.Visits {
			x := &t.Visits[k]
			lane := b.first[i] + x.Depth
			if lane >= b.lanes {
				continue
			}
			from := int(s.x(x.Begin))
			part := image.Rect(from, top+lane*height, max(from+1, int(s.x(x.End))), top+(lane+1)*height).Intersect(area)
			if !part.Empty() {
				show(part, t, x)
			}
		}
	}
}

// edge separates bands from each other and from calls.
var edge = color.RGBA{90, 96, 104, 255}

// fillBand draws a band with the name of its region, if that has room.
func (s *plotArea) fillBand(c raster.Canvas, part image.Rectangle, x *visits.Visit) {
	r := &s.Visits.Regions[x.Region]
	c.Fill(part, palette.Region(r.Name()))
	c.Fill(image.Rect(part.Min.X, part.Max.Y-1, part.Max.X, part.Max.Y), edge)
	if part.Dx() > 2 {
		c.Fill(image.Rect(part.Min.X, part.Min.Y, part.Min.X+1, part.Max.Y), edge)
	}
	if part.Dy() >= mostBand && raster.GlyphWidth*len([]rune(r.Name()))+6 <= part.Dx() {
		c.Text(part.Min.X+4, part.Min.Y+6, false, r.Name())
	}
}

func (s *plotArea) svgBand(w io.Writer, part image.Rectangle, t *visits.Track, x *visits.Visit) {
	r := &s.Visits.Regions[x.Region]
	fmt.Fprintf(w, "<rect class=\"region\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"", part.Min.X, part.Min.Y, part.Dx(), part.Dy(), palette.Hex(palette.Region(r.Name())))
	if part.Dx() > 2 {
		fmt.Fprintf(w, " stroke=\"%s\" stroke-width=\"0.5\"", palette.Hex(edge))
	}
	fmt.Fprintf(w, "><title>%s</title></rect>\n", html.EscapeString(s.visitText(t, x)))
	size := min(11, part.Dy()-1)
	if size >= 8 && size*6/10*len([]rune(r.Name()))+6 <= part.Dx() {
		fmt.Fprintf(w, "<text x=\"%d\" y=\"%d\" font-size=\"%d\" pointer-events=\"none\">%s</text>\n", part.Min.X+4, part.Max.Y-2, size, html.EscapeString(r.Name()))
	}
}

// visitText says what a band is.
func (s *plotArea) visitText(t *visits.Track, x *visits.Visit) string {
	text := fmt.Sprintf("rank %d", t.Rank)
	if t.Thread != 0 {
		text += fmt.Sprintf(", thread %d", t.Thread)
	}
	text += fmt.Sprintf(", %s to %s: region %s", units.Seconds(x.Begin), units.Seconds(x.End), regions.PathText(s.Visits.Regions[x.Region].Names))
	switch {
	case x.Mixed:
		text += fmt.Sprintf(" most of the time; %d visits of several regions, %s in all", x.Visits, units.Nanoseconds(float64(x.Time)))
	case x.Visits > 1:
		text += fmt.Sprintf("; %d visits, %s in all", x.Visits, units.Nanoseconds(float64(x.Time)))
	}
	if x.Open {
		text += ", not ended"
	}
	return text
}

// regionsInLegend is the number of lines that the legend needs for regions.
func (s *plotArea) regionsInLegend() int {
	if s.bands.lanes == 0 {
		return 0
	}
	return 1 + len(s.legendRegions())
}

// legendRegions are the regions in the legend: one of each name, those with most time first.
func (s *plotArea) legendRegions() (list []*visits.Region) {
	seen := map[string]bool{}
	for i := range s.Visits.Regions {
		r := &s.Visits.Regions[i]
		if len(list) < mostRegions && !seen[r.Name()] {
			seen[r.Name()] = true
			list = append(list, r)
		}
	}
	return list
}

// regionLegend calls show for the regions in the legend, below what else is in it.
func (s *plotArea) regionLegend(show func(line int, r *visits.Region, text string)) {
	if s.bands.lanes == 0 {
		return
	}
	line := min(len(s.Legend), maxLegend) + 3
	for _, r := range s.legendRegions() {
		show(line, r, "region "+r.Name())
		line++
	}
}
