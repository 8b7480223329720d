// Package raster has what bitmap pictures share: a canvas that is filled with rectangles and
// text, and the margins around what is drawn.
package raster

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// Margins of pictures in pixels, and the width of a character.
const (
	Left       = 70
	Top        = 60
	Bottom     = 30
	GlyphWidth = 7
)

// Ink is the colour of text and axes.
var Ink = color.RGBA{32, 32, 32, 255}

// Canvas is a picture that is being drawn.
type Canvas struct{ *image.RGBA }

// New returns a white canvas.
func New(width, height int) Canvas {
	c := Canvas{image.NewRGBA(image.Rect(0, 0, width, height))}
	draw.Draw(c, c.Bounds(), image.White, image.Point{}, draw.Src)
	return c
}

// Fill paints a rectangle.
func (c Canvas) Fill(r image.Rectangle, col color.Color) {
	draw.Draw(c, r, image.NewUniform(col), image.Point{}, draw.Src)
}

// Text writes s vertically centred on y; it begins at x, or ends there if right is set.
func (c Canvas) Text(x, y int, right bool, s string) {
	if right {
		x -= GlyphWidth * len([]rune(s))
	}
	d := font.Drawer{Dst: c, Src: image.NewUniform(Ink), Face: basicfont.Face7x13, Dot: fixed.P(x, y+4)}
	d.DrawString(s)
}

// Polygon paints the inside of a polygon, with smooth edges, within a part of the canvas.
func (c Canvas) Polygon(clip image.Rectangle, col color.Color, corners ...[2]float64) {
	clip = clip.Intersect(c.Bounds())
	if clip.Empty() {
		return
	}
	v := vector.NewRasterizer(clip.Dx(), clip.Dy())
	for i, p := range corners {
		x, y := float32(p[0]-float64(clip.Min.X)), float32(p[1]-float64(clip.Min.Y))
		if i == 0 {
			v.MoveTo(x, y)
		} else {
			v.LineTo(x, y)
		}
	}
	v.ClosePath()
	v.Draw(c, clip, image.NewUniform(col), image.Point{})
}

// Arrow draws a line of a pixel's width from a to b with a head of size pixels at b, within a part of the canvas.
func (c Canvas) Arrow(clip image.Rectangle, col color.Color, a, b [2]float64, size float64) {
	length := math.Hypot(b[0]-a[0], b[1]-a[1])
	if length == 0 {
		return
	}
	x, y := (b[0]-a[0])/length, (b[1]-a[1])/length
	across := func(p [2]float64, by float64) [2]float64 { return [2]float64{p[0] - y*by, p[1] + x*by} }
	c.Polygon(clip, col, across(a, 0.5), across(b, 0.5), across(b, -0.5), across(a, -0.5))
	base := [2]float64{b[0] - x*size, b[1] - y*size}
	c.Polygon(clip, col, b, across(base, size*0.4), across(base, -size*0.4))
}
