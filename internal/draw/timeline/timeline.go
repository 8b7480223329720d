// Package timeline draws views of timelines as pictures, with waiting and messages.
package timeline

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"

	"github.com/efg-tools/efg/internal/analysis/flows"
	"github.com/efg-tools/efg/internal/analysis/timeline"
	"github.com/efg-tools/efg/internal/analysis/visits"
	"github.com/efg-tools/efg/internal/draw/raster"
	"github.com/efg-tools/efg/internal/palette"
	"github.com/efg-tools/efg/internal/units"
)

// Color is the colour of a pixel of a view.
func Color(v *timeline.View, p byte) color.RGBA {
	switch p {
	case timeline.Nothing:
		return color.RGBA{255, 255, 255, 255}
	case timeline.Outside:
		return color.RGBA{228, 228, 228, 255}
	case timeline.Unread:
		return color.RGBA{250, 240, 200, 255}
	case timeline.Other:
		return color.RGBA{150, 150, 150, 255}
	}
	return palette.Of(v.Legend[p-1].Op)
}

// Picture is what a picture shows.
type Picture struct {
	*timeline.View
	// Flows are the waits, which are hatched, the messages, which are arrows, and the collective
	// calls, which are bands, each if there are at most MostArrows. Those of ranks that share a row are not shown. Without them, it is nil.
	Flows *flows.Flows
	// Visits are those of the regions that the program names, of the first rank of each row: bands above
	// its calls, or above all rows if these are too low. nil: there are none.
	Visits *visits.View
}

// MostArrows bounds how many messages, and collective calls, are drawn: more would hide what they connect.
const MostArrows = 400

// Waiting is the colour of the hatching.
var Waiting = color.RGBA{179, 38, 30, 255}

// mostLine is the height of rows of a few ranks.
const mostLine = 36

// leastLine is the height of rows below which no flows are shown.
const leastLine = 4

// plotArea is the layout of a timeline in a picture.
type plotArea struct {
	Picture
	cell, line int         // width of a pixel and height of a row
	rows       map[int]int // rows by rank, of rows with one rank
	bands      bands
}

const (
	sheetWidth  = 1200 // the width that is aimed at
	sheetHeight = 560
	legendWidth = 260
	legendStep  = 18
	maxLegend   = 24
)

func newSheet(p Picture) *plotArea {
	s := &plotArea{Picture: p, cell: max(1, sheetWidth/max(p.Width, 1)), line: max(1, min(mostLine, sheetHeight/max(len(p.Rows), 1))), rows: map[int]int{}}
	s.layBands()
	for i, r := range p.Rows {
		if r.Ranks == 1 && s.line >= leastLine {
			s.rows[r.First] = i
		}
	}
	return s
}

// area is the part of the picture that time and rows have.
func (s *plotArea) area() image.Rectangle {
	return image.Rect(raster.Left, raster.Top, raster.Left+s.Width*s.cell, raster.Top+len(s.Rows)*s.line)
}

// x is where a time is.
func (s *plotArea) x(t int64) float64 {
	return raster.Left + float64(t-s.From)/float64(s.Pixel)*float64(s.cell)
}

// waits calls show for the waits with a row: the part of the picture that each has, and what it is.
func (s *plotArea) waits(show func(part image.Rectangle, w *flows.Wait)) {
	if s.Flows == nil {
		return
	}
	for i := range s.Flows.Waits {
		w := &s.Flows.Waits[i]
		row, ok := s.rows[w.Of.Rank]
		if !ok {
			continue
		}
		top, from := raster.Top+row*s.line, int(s.x(w.Begin))
		part := image.Rect(from, top, max(from+1, int(s.x(w.End))), top+s.line-s.gap()).Intersect(s.area())
		if !part.Empty() {
			show(part, w)
		}
	}
}

// collectives calls show for the parts of collective calls that have rows of their own.
func (s *plotArea) collectives(show func(part image.Rectangle, c *flows.Collective)) {
	if s.Flows == nil || s.Flows.CollectiveCount > MostArrows {
		return
	}
	for i := range s.Flows.Collectives {
		c := &s.Flows.Collectives[i]
		for _, p := range c.Parts {
			row, ok := s.rows[p.Rank]
			if !ok {
				continue
			}
			top, from := raster.Top+row*s.line, int(s.x(p.Begin))
			part := image.Rect(from, top, max(from+1, int(s.x(p.End))), top+s.line).Intersect(s.area())
			if !part.Empty() {
				show(part, c)
			}
		}
	}
}

// messages calls show for the messages between rows: where they begin and end, and what they are.
func (s *plotArea) messages(show func(from, to [2]float64, m *flows.Message)) {
	if s.Flows == nil || s.Flows.MessageCount > MostArrows {
		return
	}
	middle := func(row int) float64 { return raster.Top + (float64(row)+0.5)*float64(s.line) }
	for i := range s.Flows.Messages {
		m := &s.Flows.Messages[i]
		from, ok := s.rows[m.From.Rank]
		to, both := s.rows[m.To.Rank]
		if ok && both {
			show([2]float64{s.x(m.Sent), middle(from)}, [2]float64{s.x(m.Received), middle(to)}, m)
		}
	}
}

// gap is the space between rows.
func (s *plotArea) gap() int {
	if s.line > 6 {
		return 1
	}
	return 0
}

// hatch calls show for the lines of hatching within a part of the picture, from lower left to upper right.
func hatch(part image.Rectangle, show func(from, to [2]float64)) {
	const step = 6
	low, high := part.Min.X+part.Min.Y, part.Max.X+part.Max.Y // of x+y, which is constant on a line
	for k := (low + step - 1) / step * step; k < high; k += step {
		show([2]float64{float64(k - part.Max.Y), float64(part.Max.Y)}, [2]float64{float64(k - part.Min.Y), float64(part.Min.Y)})
	}
}

// size is the size of the whole picture.
func (s *plotArea) size() (width, height int) {
	return raster.Left + s.Width*s.cell + 20 + legendWidth, raster.Top + max(len(s.Rows)*s.line, legendStep*(min(len(s.Legend), maxLegend)+3+s.regionsInLegend())) + raster.Bottom + 20
}

// stretches calls show for the runs of equal pixels of a row.
func (s *plotArea) stretches(row int, show func(from, until int, pixel byte)) {
	line := s.Pixels[row*s.Width : (row+1)*s.Width]
	for from := 0; from < len(line); {
		until := from + 1
		for until < len(line) && line[until] == line[from] {
			until++
		}
		show(from, until, line[from])
		from = until
	}
}

// legend calls show for the entries of the legend.
func (s *plotArea) legend(show func(line int, pixel byte, text string)) {
	total := s.InMPI()
	line := 0
	for i, p := range s.Legend[:min(len(s.Legend), maxLegend)] {
		ofMPI := "apart"
		if !p.Apart {
			ofMPI = units.Percent(p.Time, total)
		}
		show(line, byte(i+1), p.Op+" "+ofMPI)
		line++
	}
	show(line, timeline.Outside, "outside MPI")
	if s.Flows != nil {
		show(line+1, waitingPixel, "waiting "+units.Nanoseconds(float64(s.waiting())))
	}
}

// waitingPixel stands for waiting in the legend.
const waitingPixel = timeline.Nothing

// waiting is the time of the waits that are shown.
func (s *plotArea) waiting() (total int64) {
	s.waits(func(_ image.Rectangle, w *flows.Wait) { total += min(w.End, s.To()) - max(w.Begin, s.From) })
	return total
}

// ticks calls show for the ticks of the time axis, at round times.
func (s *plotArea) ticks(show func(x int, text string)) {
	span := float64(s.To() - s.From)
	step := int64(1)
	for _, f := range []int64{1, 2, 5} {
		for base := int64(1); base < 1<<59; base *= 10 {
			if d := f * base; float64(d)*8 <= span*1.0001 && d > step {
				step = d
			}
		}
	}
	for at := (s.From + step - 1) / step * step; at < s.To(); at += step {
		show(raster.Left+int(float64(at-s.From)/float64(s.Pixel)*float64(s.cell)), units.Seconds(at))
	}
}

// rowStep is the distance of rows with a label.
func (s *plotArea) rowStep() int {
	step := 1
	for step*s.line < 14 {
		step *= 2
	}
	return step
}

const timelineTitle = "where ranks spend their time: a row for each rank, time from left to right"

// PNG draws a row of pixels for each row of ranks, time from left to right.
func PNG(w io.Writer, p Picture) error {
	s, v := newSheet(p), p.View
	width, height := s.size()
	c := raster.New(width, height)
	c.Text(raster.Left, 14, false, timelineTitle)
	for y := range v.Rows {
		top := raster.Top + y*s.line
		s.stretches(y, func(from, until int, p byte) {
			c.Fill(image.Rect(raster.Left+from*s.cell, top, raster.Left+until*s.cell, top+s.line-s.gap()), Color(v, p))
		})
		if y%s.rowStep() == 0 {
			c.Text(raster.Left-8, top+s.line/2, true, v.Rows[y].Label())
		}
	}
	s.waits(func(part image.Rectangle, _ *flows.Wait) { hatched(c, part) })
	s.collectives(func(part image.Rectangle, _ *flows.Collective) { band(c, part) })
	s.messages(func(from, to [2]float64, _ *flows.Message) { c.Arrow(s.area(), raster.Ink, from, to, arrowHead) })
	s.visits(func(part image.Rectangle, t *visits.Track, x *visits.Visit) { s.fillBand(c, part, x) })
	low := raster.Top + len(v.Rows)*s.line
	s.ticks(func(x int, text string) {
		c.Fill(image.Rect(x, low, x+1, low+5), raster.Ink)
		c.Text(x-raster.GlyphWidth*len(text)/2, low+14, false, text)
	})
	s.legend(func(line int, p byte, text string) {
		x, y := raster.Left+v.Width*s.cell+20, raster.Top+line*legendStep
		c.Fill(image.Rect(x, y, x+12, y+12), Color(v, p))
		if p == waitingPixel {
			hatched(c, image.Rect(x, y, x+12, y+12))
		}
		c.Text(x+18, y+6, false, text)
	})
	s.regionLegend(func(line int, r *visits.Region, text string) {
		x, y := raster.Left+v.Width*s.cell+20, raster.Top+line*legendStep
		c.Fill(image.Rect(x, y, x+12, y+12), palette.Region(r.Name()))
		c.Text(x+18, y+6, false, text)
	})
	return png.Encode(w, c)
}

// arrowHead is the length of the heads of arrows.
const arrowHead = 6

// shade is laid over what is part of a collective call.
var shade = color.NRGBA{31, 35, 40, 46}

// band shades a part of a canvas, with edges at its ends.
func band(c raster.Canvas, part image.Rectangle) {
	box := func(from, to int, col color.Color) {
		a, b, top, low := float64(from), float64(to), float64(part.Min.Y), float64(part.Max.Y)
		c.Polygon(part, col, [2]float64{a, top}, [2]float64{b, top}, [2]float64{b, low}, [2]float64{a, low})
	}
	box(part.Min.X, part.Max.X, shade)
	box(part.Min.X, part.Min.X+1, raster.Ink)
	box(part.Max.X-1, part.Max.X, raster.Ink)
}

// hatched hatches a part of a canvas.
func hatched(c raster.Canvas, part image.Rectangle) {
	hatch(part, func(from, to [2]float64) {
		for _, l := range []struct {
			col color.Color
			at  float64
		}{{color.White, 1.5}, {Waiting, 0}} {
			c.Polygon(part, l.col, [2]float64{from[0] + l.at - 1, from[1]}, [2]float64{from[0] + l.at + 1, from[1]}, [2]float64{to[0] + l.at + 1, to[1]}, [2]float64{to[0] + l.at - 1, to[1]})
		}
	})
}

// SVG draws the same as PNG, with what calls, waits and messages are as tooltips.
func SVG(w io.Writer, p Picture) error {
	s, v := newSheet(p), p.View
	width, height := s.size()
	fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n", width, height, width, height)
	io.WriteString(w, svgPatterns)
	area := s.area()
	fmt.Fprintf(w, "<clipPath id=\"area\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n", area.Min.X, area.Min.Y, area.Dx(), area.Dy())
	fmt.Fprintf(w, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"20\">%s</text>\n", raster.Left, timelineTitle)
	for y := range v.Rows {
		top := raster.Top + y*s.line
		s.stretches(y, func(from, until int, p byte) {
			if p == timeline.Nothing {
				return
			}
			fmt.Fprintf(w, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"><title>rank %s, %s to %s: %s</title></rect>\n",
				raster.Left+from*s.cell, top, (until-from)*s.cell, max(1, s.line-s.line/8), palette.Hex(Color(v, p)), v.Rows[y].Label(),
				units.Seconds(v.From+int64(from)*v.Pixel), units.Seconds(v.From+int64(until)*v.Pixel), html.EscapeString(s.pixelText(p)))
		})
		if y%s.rowStep() == 0 {
			fmt.Fprintf(w, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", raster.Left-8, top+s.line/2+4, v.Rows[y].Label())
		}
	}
	s.waits(func(part image.Rectangle, wait *flows.Wait) {
		fmt.Fprintf(w, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"url(#waiting)\"><title>%s</title></rect>\n",
			part.Min.X, part.Min.Y, part.Dx(), part.Dy(), html.EscapeString(waitText(wait)))
	})
	s.collectives(func(part image.Rectangle, c *flows.Collective) {
		fmt.Fprintf(w, "<path d=\"M%d %dv%dM%d %dv%d\" stroke=\"#202020\" stroke-dasharray=\"5 3\"/><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" fill-opacity=\"%.2f\"><title>%s</title></rect>\n",
			part.Min.X, part.Min.Y, part.Dy(), part.Max.X, part.Min.Y, part.Dy(), part.Min.X, part.Min.Y, part.Dx(), part.Dy(),
			palette.Hex(color.RGBA{shade.R, shade.G, shade.B, 255}), float64(shade.A)/255, html.EscapeString(collectiveText(c)))
	})
	s.messages(func(from, to [2]float64, m *flows.Message) {
		fmt.Fprintf(w, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#202020\" marker-end=\"url(#head)\" clip-path=\"url(#area)\"><title>%s</title></path>\n",
			from[0], from[1], to[0], to[1], html.EscapeString(messageText(m)))
	})
	s.visits(func(part image.Rectangle, t *visits.Track, x *visits.Visit) { s.svgBand(w, part, t, x) })
	low := raster.Top + len(v.Rows)*s.line
	s.ticks(func(x int, text string) {
		fmt.Fprintf(w, "<rect x=\"%d\" y=\"%d\" width=\"1\" height=\"5\"/><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x, low, x, low+18, text)
	})
	s.legend(func(line int, p byte, text string) {
		x, y := raster.Left+v.Width*s.cell+20, raster.Top+line*legendStep
		fill := palette.Hex(Color(v, p))
		if p == waitingPixel {
			fill = "url(#waiting)"
		}
		fmt.Fprintf(w, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n", x, y, fill, x+18, y+11, html.EscapeString(text))
	})
	s.regionLegend(func(line int, r *visits.Region, text string) {
		x, y := raster.Left+v.Width*s.cell+20, raster.Top+line*legendStep
		fmt.Fprintf(w, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n", x, y, palette.Hex(palette.Region(r.Name())), x+18, y+11, html.EscapeString(text))
	})
	_, err := fmt.Fprintln(w, "</svg>")
	return err
}

// svgPatterns are the hatching and the heads of arrows.
var svgPatterns = fmt.Sprintf(`<defs>
<pattern id="waiting" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0.5 7L8.5 -1M0.5 1L2.5 -1M-5.5 7L2.5 -1" stroke="white" stroke-width="1.5"/><path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="%s" stroke-width="1.5"/></pattern>
<marker id="head" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="%[2]d" markerHeight="%[2]d" orient="auto"><path d="M0 0L6 3L0 6z"/></marker>
</defs>
`, palette.Hex(Waiting), arrowHead)

// waitText says what a wait is.
func waitText(w *flows.Wait) string {
	text := fmt.Sprintf("rank %d, %s to %s: %s in %s", w.Of.Rank, units.Seconds(w.Begin), units.Seconds(w.End), w.State, placeText(&w.Of))
	if w.For.Rank >= 0 {
		text += fmt.Sprintf(", for rank %d in %s", w.For.Rank, placeText(&w.For))
	}
	return text
}

// messageText says what a message is.
func messageText(m *flows.Message) string {
	return fmt.Sprintf("%s, tag %d on %s, from rank %d, %s in %s, to rank %d, %s in %s", units.Bytes(float64(m.Bytes)), m.Tag, m.Comm,
		m.From.Rank, units.Seconds(m.Sent), placeText(&m.From), m.To.Rank, units.Seconds(m.Received), placeText(&m.To))
}

// collectiveText says what a collective call is.
func collectiveText(c *flows.Collective) string {
	begin, end := c.Parts[0].Begin, c.Parts[0].End
	for _, p := range c.Parts {
		begin, end = min(begin, p.Begin), max(end, p.End)
	}
	text := fmt.Sprintf("%s of %d ranks", c.Op, len(c.Parts))
	if c.Comm != "" {
		text += " on " + c.Comm
	}
	return fmt.Sprintf("%s, %s to %s", text, units.Seconds(begin), units.Seconds(end))
}

func placeText(s *flows.Side) string {
	return strings.TrimSpace(s.Place.Op + " " + s.Place.Site)
}

// pixelText names what a pixel stands for.
func (s *plotArea) pixelText(p byte) string {
	switch {
	case p == timeline.Outside:
		return "outside MPI"
	case p == timeline.Unread:
		return "not looked at"
	case int(p) <= len(s.Legend):
		return s.Legend[p-1].Op
	}
	return "another procedure"
}
