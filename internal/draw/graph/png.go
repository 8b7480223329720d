package graph

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"github.com/efg-tools/efg/internal/draw/layered"
)

const (
	// maxPixels bounds the memory of a picture; pictures with fewer than manyPixels are drawn
	// at twice the size.
	maxPixels  = 100_000_000
	manyPixels = 25_000_000
	lineWidth  = 1.0
)

// PNG draws the graph. If it is too large the error is ErrTooLarge.
func (g *Graph) PNG(w io.Writer, colour *Measure) error {
	p, err := g.Picture(colour)
	if err != nil {
		return err
	}
	return p.PNG(w)
}

// PNG draws the picture. If it has too many pixels the error is ErrTooLarge.
func (p *Picture) PNG(w io.Writer) (err error) {
	scale := 2.0
	if 4*p.width*p.height > manyPixels {
		scale = 1
	}
	if p.width*p.height > maxPixels {
		return fmt.Errorf("%w as PNG, %.0f by %.0f pixels, but not as SVG", ErrTooLarge, p.width, p.height)
	}
	c := &bitmap{RGBA: image.NewRGBA(image.Rect(0, 0, int(p.width*scale), int(p.height*scale))), scale: scale}
	draw.Draw(c, c.Bounds(), image.White, image.Point{}, draw.Src)
	if c.regular, err = face(gomono.TTF, scale); err != nil {
		return err
	}
	if c.bold, err = face(gomonobold.TTF, scale); err != nil {
		return err
	}
	p.draw(c)
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	return enc.Encode(w, c)
}

func face(data []byte, scale float64) (font.Face, error) {
	f, err := opentype.Parse(data)
	if err != nil {
		return nil, err
	}
	return opentype.NewFace(f, &opentype.FaceOptions{Size: fontSize * scale, DPI: 72})
}

// bitmap is a canvas of pixels.
type bitmap struct {
	*image.RGBA
	scale         float64
	regular, bold font.Face
}

func (c *bitmap) begin(_, _ string) {}
func (c *bitmap) end()              {}

// colourOf reads "#rrggbb".
func colourOf(s string) color.RGBA {
	var r, g, b uint8
	fmt.Sscanf(s, "#%02x%02x%02x", &r, &g, &b)
	return color.RGBA{r, g, b, 255}
}

func (c *bitmap) box(x, y, w, h float64, fill, stroke string, dashed bool) {
	corners := []layered.Point{{X: x, Y: y}, {X: x + w, Y: y}, {X: x + w, Y: y + h}, {X: x, Y: y + h}}
	if fill != "none" {
		c.polygon(corners, fill)
	}
	if stroke == "none" {
		return
	}
	for i, from := range corners {
		to := corners[(i+1)%4]
		if !dashed {
			c.line([]layered.Point{from, to}, stroke)
			continue
		}
		length := math.Hypot(to.X-from.X, to.Y-from.Y)
		along := func(d float64) layered.Point {
			d = min(d, length) / length
			return layered.Point{X: from.X + d*(to.X-from.X), Y: from.Y + d*(to.Y-from.Y)}
		}
		for d := 0.0; d < length; d += 8 {
			c.line([]layered.Point{along(d), along(d + 5)}, stroke)
		}
	}
}

func (c *bitmap) polygon(points []layered.Point, fill string) {
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range points {
		left, right = min(left, p.X*c.scale), max(right, p.X*c.scale)
		top, bottom = min(top, p.Y*c.scale), max(bottom, p.Y*c.scale)
	}
	area := image.Rect(int(math.Floor(left)), int(math.Floor(top)), int(math.Ceil(right)), int(math.Ceil(bottom))).Intersect(c.Bounds())
	if area.Empty() {
		return
	}
	z := vector.NewRasterizer(area.Dx(), area.Dy())
	at := func(p layered.Point) (x, y float32) {
		return float32(p.X*c.scale - float64(area.Min.X)), float32(p.Y*c.scale - float64(area.Min.Y))
	}
	z.MoveTo(at(points[0]))
	for _, p := range points[1:] {
		z.LineTo(at(p))
	}
	z.ClosePath()
	z.Draw(c, area, image.NewUniform(colourOf(fill)), image.Point{})
}

// line draws a line through points, each segment separately: a mask for all of them would be as
// large as the page if a line goes across it and then down.
func (c *bitmap) line(points []layered.Point, stroke string) {
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		if length == 0 {
			continue
		}
		// Slightly longer than the segment, so that there are no gaps where lines turn.
		dx, dy := (b.X-a.X)/length*lineWidth/2, (b.Y-a.Y)/length*lineWidth/2
		c.polygon([]layered.Point{
			{X: a.X - dx*0.5 - dy, Y: a.Y - dy*0.5 + dx}, {X: b.X + dx*0.5 - dy, Y: b.Y + dy*0.5 + dx},
			{X: b.X + dx*0.5 + dy, Y: b.Y + dy*0.5 - dx}, {X: a.X - dx*0.5 + dy, Y: a.Y - dy*0.5 - dx},
		}, stroke)
	}
}

// curveSteps is the number of segments of a curve.
const curveSteps = 12

func (c *bitmap) curve(points []layered.Point, stroke string) {
	way := points[:1:1]
	for i := 1; i+2 < len(points); i += 3 {
		p0, p1, p2, p3 := points[i-1], points[i], points[i+1], points[i+2]
		if p0.X == p3.X && p1.X == p0.X && p2.X == p0.X {
			way = append(way, p3)
			continue
		}
		for k := 1; k <= curveSteps; k++ {
			t := float64(k) / curveSteps
			u := 1 - t
			way = append(way, layered.Point{
				X: u*u*u*p0.X + 3*u*u*t*p1.X + 3*u*t*t*p2.X + t*t*t*p3.X,
				Y: u*u*u*p0.Y + 3*u*u*t*p1.Y + 3*u*t*t*p2.Y + t*t*t*p3.Y,
			})
		}
	}
	c.line(way, stroke)
}

func (c *bitmap) text(x, y float64, s, colour string, bold bool) {
	d := font.Drawer{Dst: c, Src: image.NewUniform(colourOf(colour)), Face: c.regular,
		Dot: fixed.Point26_6{X: fixed.Int26_6(x * c.scale * 64), Y: fixed.Int26_6(y * c.scale * 64)}}
	if bold {
		d.Face = c.bold
	}
	d.DrawString(s)
}
