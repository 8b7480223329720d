// Package heatmap draws communication matrices as pictures.
package heatmap

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/draw/raster"
	"github.com/efg-tools/efg/internal/units"
)

// Bins is the maximum number of rows in the picture of a matrix.
const Bins = 768

// marginRight is the room for the scale, in pixels.
const marginRight = 150

// heatMap is a picture that is being drawn.
type heatMap struct {
	raster.Canvas
	bins        *analysis.Bins
	cell        int // pixels
	least, most uint64
}

// PNG draws bytes sent, as binned by analysis.Matrix.Bin: a row for each sender or
// block of senders, a column for each receiver, colours by the logarithm.
func PNG(w io.Writer, b *analysis.Bins) error {
	h := &heatMap{bins: b, cell: max(1, Bins/max(b.Rows, b.Columns, 1))}
	h.cell = min(h.cell, 64)
	side, height := h.cell*b.Columns, h.height()
	h.Canvas = raster.New(raster.Left+side+marginRight, raster.Top+height+raster.Bottom)
	h.findRange()
	h.drawCells()
	h.drawAxes()
	h.drawScale(raster.Left + side + 20)
	return png.Encode(w, h)
}

// height is the height of the cells, or that of the scale if it is larger.
func (h *heatMap) height() int { return max(h.cell*h.bins.Rows, 200) }

func (h *heatMap) findRange() {
	for _, row := range h.bins.Bytes {
		for _, n := range row {
			if n > 0 && (h.least == 0 || n < h.least) {
				h.least = n
			}
			h.most = max(h.most, n)
		}
	}
}

// level is the position of a number of bytes between the smallest and the largest, from 0 to 1.
func (h *heatMap) level(n uint64) float64 {
	if h.least == h.most {
		return 1
	}
	low := math.Log(float64(h.least))
	return (math.Log(float64(n)) - low) / (math.Log(float64(h.most)) - low)
}

// palette goes from light to dark, so that it can be distinguished in greyscale too.
var palette = []color.RGBA{
	{255, 247, 188, 255}, {254, 217, 118, 255}, {253, 141, 60, 255}, {227, 26, 28, 255}, {128, 0, 38, 255}, {40, 0, 40, 255},
}

// Color is the colour of a level from 0, light, to 1, dark.
func Color(level float64) color.RGBA {
	at := max(0, min(level, 1)) * float64(len(palette)-1)
	i := min(int(at), len(palette)-2)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (at-float64(i))*(float64(b)-float64(a)))) }
	a, b := palette[i], palette[i+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// Empty is the colour of cells without bytes.
var Empty = color.RGBA{240, 240, 240, 255}

func (h *heatMap) drawCells() {
	for i, row := range h.bins.Bytes {
		for j, n := range row {
			c := Empty
			if n > 0 {
				c = Color(h.level(n))
			}
			x, y := raster.Left+j*h.cell, raster.Top+i*h.cell
			gap := 0
			if h.cell > 4 {
				gap = 1
			}
			h.Fill(image.Rect(x, y, x+h.cell-gap, y+h.cell-gap), c)
		}
	}
}

func (h *heatMap) drawAxes() {
	h.Text(raster.Left, 14, false, "bytes sent, row: from rank, column: to rank")
	step := 1
	for step*h.cell < 40 {
		step *= 2
	}
	for i := 0; i < h.bins.Rows; i += step {
		at := i*h.cell + h.cell/2
		h.Text(raster.Left-8, raster.Top+at, true, fmt.Sprint(h.bins.Matrix.RankAt(h.bins.From.First+i*h.bins.Width)))
		h.Fill(image.Rect(raster.Left-5, raster.Top+at, raster.Left-1, raster.Top+at+1), raster.Ink)
	}
	for i := 0; i < h.bins.Columns; i += step {
		label := fmt.Sprint(h.bins.Matrix.RankAt(h.bins.To.First + i*h.bins.Width))
		at := i*h.cell + h.cell/2
		h.Text(raster.Left+at-raster.GlyphWidth*len(label)/2, raster.Top-14, false, label)
		h.Fill(image.Rect(raster.Left+at, raster.Top-5, raster.Left+at+1, raster.Top-1), raster.Ink)
	}
	if h.bins.Width > 1 {
		h.Text(raster.Left, raster.Top+h.height()+16, false, fmt.Sprintf("a cell: %d x %d ranks", h.bins.Width, h.bins.Width))
	}
}

// drawScale draws the colours with the amounts they stand for.
func (h *heatMap) drawScale(x int) {
	const width, height, labels = 16, 180, 5
	for y := range height {
		h.Fill(image.Rect(x, raster.Top+y, x+width, raster.Top+y+1), Color(1-float64(y)/(height-1)))
	}
	if h.most == 0 {
		return
	}
	for i := range labels {
		part := float64(i) / (labels - 1)
		n := math.Exp(math.Log(float64(h.least)) + part*(math.Log(float64(h.most))-math.Log(float64(h.least))))
		h.Text(x+width+6, raster.Top+int((1-part)*(height-1)), false, units.Bytes(math.Round(n)))
	}
	h.Fill(image.Rect(x, raster.Top+height+8, x+width, raster.Top+height+8+12), Empty)
	h.Text(x+width+6, raster.Top+height+14, false, "nothing")
}
