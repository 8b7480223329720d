// Package timeline draws views of timelines as pictures.
package timeline

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"

	"github.com/efg-tools/efg/internal/analysis/timeline"
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

// plotArea is the layout of a timeline in a picture.
type plotArea struct {
	*timeline.View
	cell, line int // width of a pixel and height of a row
}

const (
	sheetWidth  = 1200 // the width that is aimed at
	sheetHeight = 560
	legendWidth = 260
	legendStep  = 18
	maxLegend   = 24
)

func newSheet(v *timeline.View) *plotArea {
	return &plotArea{v, max(1, sheetWidth/max(v.Width, 1)), max(1, min(24, sheetHeight/max(len(v.Rows), 1)))}
}

// size is the size of the whole picture.
func (s *plotArea) size() (width, height int) {
	return raster.Left + s.Width*s.cell + 20 + legendWidth, raster.Top + max(len(s.Rows)*s.line, legendStep*(min(len(s.Legend), maxLegend)+2)) + raster.Bottom + 20
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

// PNG draws a view: a row of pixels for each row of ranks, time from left to right.
func PNG(w io.Writer, v *timeline.View) error {
	s := newSheet(v)
	width, height := s.size()
	c := raster.New(width, height)
	c.Text(raster.Left, 14, false, timelineTitle)
	gap := 0
	if s.line > 6 {
		gap = 1
	}
	for y := range v.Rows {
		top := raster.Top + y*s.line
		s.stretches(y, func(from, until int, p byte) {
			c.Fill(image.Rect(raster.Left+from*s.cell, top, raster.Left+until*s.cell, top+s.line-gap), Color(v, p))
		})
		if y%s.rowStep() == 0 {
			c.Text(raster.Left-8, top+s.line/2, true, v.Rows[y].Label())
		}
	}
	low := raster.Top + len(v.Rows)*s.line
	s.ticks(func(x int, text string) {
		c.Fill(image.Rect(x, low, x+1, low+5), raster.Ink)
		c.Text(x-raster.GlyphWidth*len(text)/2, low+14, false, text)
	})
	s.legend(func(line int, p byte, text string) {
		x, y := raster.Left+v.Width*s.cell+20, raster.Top+line*legendStep
		c.Fill(image.Rect(x, y, x+12, y+12), Color(v, p))
		c.Text(x+18, y+6, false, text)
	})
	return png.Encode(w, c)
}

// SVG draws a view like PNG, with the names of calls as tooltips.
func SVG(w io.Writer, v *timeline.View) error {
	s := newSheet(v)
	width, height := s.size()
	fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n", width, height, width, height)
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
	low := raster.Top + len(v.Rows)*s.line
	s.ticks(func(x int, text string) {
		fmt.Fprintf(w, "<rect x=\"%d\" y=\"%d\" width=\"1\" height=\"5\"/><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x, low, x, low+18, text)
	})
	s.legend(func(line int, p byte, text string) {
		x, y := raster.Left+v.Width*s.cell+20, raster.Top+line*legendStep
		fmt.Fprintf(w, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n", x, y, palette.Hex(Color(v, p)), x+18, y+11, html.EscapeString(text))
	})
	_, err := fmt.Fprintln(w, "</svg>")
	return err
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
