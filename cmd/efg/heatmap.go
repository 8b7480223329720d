package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/efg-tools/efg/internal/analysis"
)

const (
	// heatMapBins is how many rows the picture of a matrix has at most.
	heatMapBins = 768
	marginLeft  = 70
	marginTop   = 60
	marginRight = 150
	marginLow   = 30
	glyphWidth  = 7
)

// heatMap draws a matrix: a row for each sender, a column for each receiver,
// colours by the logarithm of the bytes.
type heatMap struct {
	canvas
	bins        *analysis.Bins
	cell        int // pixels
	least, most uint64
}

func encodeHeatMap(w io.Writer, b *analysis.Bins) error {
	h := &heatMap{bins: b, cell: max(1, heatMapBins/max(b.Rows, b.Columns, 1))}
	h.cell = min(h.cell, 64)
	side, height := h.cell*b.Columns, h.height()
	h.canvas.RGBA = image.NewRGBA(image.Rect(0, 0, marginLeft+side+marginRight, marginTop+height+marginLow))
	draw.Draw(h, h.Bounds(), image.White, image.Point{}, draw.Src)
	h.findRange()
	h.drawCells()
	h.drawAxes()
	h.drawScale(marginLeft + side + 20)
	return png.Encode(w, h)
}

// height is that of the cells, and at least that of the scale.
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

// level is where a number of bytes lies between least and most, from 0 to 1.
func (h *heatMap) level(n uint64) float64 {
	if h.least == h.most {
		return 1
	}
	low := math.Log(float64(h.least))
	return (math.Log(float64(n)) - low) / (math.Log(float64(h.most)) - low)
}

// palette goes from light to dark, so that it can be told apart in grey too.
var palette = []color.RGBA{
	{255, 247, 188, 255}, {254, 217, 118, 255}, {253, 141, 60, 255}, {227, 26, 28, 255}, {128, 0, 38, 255}, {40, 0, 40, 255},
}

func colorAt(level float64) color.RGBA {
	at := max(0, min(level, 1)) * float64(len(palette)-1)
	i := min(int(at), len(palette)-2)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (at-float64(i))*(float64(b)-float64(a)))) }
	a, b := palette[i], palette[i+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

var (
	empty = color.RGBA{240, 240, 240, 255}
	ink   = color.RGBA{32, 32, 32, 255}
)

// canvas is a picture that is being drawn.
type canvas struct{ *image.RGBA }

func (h canvas) fill(r image.Rectangle, c color.Color) {
	draw.Draw(h, r, image.NewUniform(c), image.Point{}, draw.Src)
}

func (h *heatMap) drawCells() {
	for i, row := range h.bins.Bytes {
		for j, n := range row {
			c := empty
			if n > 0 {
				c = colorAt(h.level(n))
			}
			x, y := marginLeft+j*h.cell, marginTop+i*h.cell
			gap := 0
			if h.cell > 4 {
				gap = 1
			}
			h.fill(image.Rect(x, y, x+h.cell-gap, y+h.cell-gap), c)
		}
	}
}

// text writes s, its end at x if right is set, around the height y.
func (h canvas) text(x, y int, right bool, s string) {
	if right {
		x -= glyphWidth * len([]rune(s))
	}
	d := font.Drawer{Dst: h, Src: image.NewUniform(ink), Face: basicfont.Face7x13, Dot: fixed.P(x, y+4)}
	d.DrawString(s)
}

func (h *heatMap) drawAxes() {
	h.text(marginLeft, 14, false, "bytes sent, row: from rank, column: to rank")
	step := 1
	for step*h.cell < 40 {
		step *= 2
	}
	for i := 0; i < h.bins.Rows; i += step {
		at := i*h.cell + h.cell/2
		h.text(marginLeft-8, marginTop+at, true, fmt.Sprint(h.bins.From.First+i*h.bins.Width))
		h.fill(image.Rect(marginLeft-5, marginTop+at, marginLeft-1, marginTop+at+1), ink)
	}
	for i := 0; i < h.bins.Columns; i += step {
		label := fmt.Sprint(h.bins.To.First + i*h.bins.Width)
		at := i*h.cell + h.cell/2
		h.text(marginLeft+at-glyphWidth*len(label)/2, marginTop-14, false, label)
		h.fill(image.Rect(marginLeft+at, marginTop-5, marginLeft+at+1, marginTop-1), ink)
	}
	if h.bins.Width > 1 {
		h.text(marginLeft, marginTop+h.height()+16, false, fmt.Sprintf("a cell: %d x %d ranks", h.bins.Width, h.bins.Width))
	}
}

// drawScale draws the colours and what they stand for.
func (h *heatMap) drawScale(x int) {
	const width, height, labels = 16, 180, 5
	for y := range height {
		h.fill(image.Rect(x, marginTop+y, x+width, marginTop+y+1), colorAt(1-float64(y)/(height-1)))
	}
	if h.most == 0 {
		return
	}
	for i := range labels {
		part := float64(i) / (labels - 1)
		n := math.Exp(math.Log(float64(h.least)) + part*(math.Log(float64(h.most))-math.Log(float64(h.least))))
		h.text(x+width+6, marginTop+int((1-part)*(height-1)), false, byteText(uint64(math.Round(n))))
	}
	h.fill(image.Rect(x, marginTop+height+8, x+width, marginTop+height+8+12), empty)
	h.text(x+width+6, marginTop+height+14, false, "nothing")
}
