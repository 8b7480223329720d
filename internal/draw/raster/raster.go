// Package raster has what bitmap pictures share: a canvas that is filled with rectangles and
// text, and the margins around what is drawn.
package raster

import (
	"image"
	"image/color"
	"image/draw"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
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
