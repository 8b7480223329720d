package graph

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"

	"github.com/efg-tools/efg/internal/draw/layered"
)

// SVG draws the graph. If it is too large the error is ErrTooLarge.
func (g *Graph) SVG(w io.Writer, colour *Measure) error {
	p, err := g.Picture(colour)
	if err != nil {
		return err
	}
	return p.SVG(w)
}

// SVG draws the picture.
func (p *Picture) SVG(w io.Writer) error {
	c := &svg{bufio.NewWriter(w)}
	fmt.Fprintf(c, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	fmt.Fprintf(c, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%[1]gpt\" height=\"%[2]gpt\" viewBox=\"0 0 %[1]g %[2]g\">\n", p.width, p.height)
	fmt.Fprintf(c, "<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", paper)
	fmt.Fprintf(c, "<g font-family=\"'Go Mono', 'DejaVu Sans Mono', Menlo, Consolas, 'Courier New', monospace\" font-size=\"%g\">\n", fontSize)
	p.draw(c)
	fmt.Fprintf(c, "</g>\n</svg>\n")
	return c.Flush()
}

// svg is a canvas of SVG. Errors are kept in it.
type svg struct{ *bufio.Writer }

func (c *svg) escaped(s string) { xml.EscapeText(c, []byte(s)) }

func (c *svg) begin(name, tip string) {
	fmt.Fprintf(c, "<g id=\"%s\"><title>", name)
	c.escaped(tip)
	fmt.Fprintf(c, "</title>\n")
}

func (c *svg) end() { fmt.Fprintf(c, "</g>\n") }

func (c *svg) box(x, y, w, h float64, fill, stroke string, dashed bool) {
	dashes := ""
	if dashed {
		dashes = " stroke-dasharray=\"5 3\""
	}
	fmt.Fprintf(c, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"%s\"%s/>\n", x, y, w, h, fill, stroke, dashes)
}

func (c *svg) curve(points []layered.Point, stroke string) {
	fmt.Fprintf(c, "<path d=\"M%.1f %.1f", points[0].X, points[0].Y)
	for i := 1; i+2 < len(points); i += 3 {
		fmt.Fprintf(c, " C%.1f %.1f %.1f %.1f %.1f %.1f", points[i].X, points[i].Y, points[i+1].X, points[i+1].Y, points[i+2].X, points[i+2].Y)
	}
	fmt.Fprintf(c, "\" fill=\"none\" stroke=\"%s\"/>\n", stroke)
}

func (c *svg) polygon(points []layered.Point, fill string) {
	fmt.Fprintf(c, "<polygon points=\"")
	for _, p := range points {
		fmt.Fprintf(c, "%.1f,%.1f ", p.X, p.Y)
	}
	fmt.Fprintf(c, "\" fill=\"%s\"/>\n", fill)
}

func (c *svg) text(x, y float64, s, colour string, bold bool) {
	weight := ""
	if bold {
		weight = " font-weight=\"bold\""
	}
	fmt.Fprintf(c, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\"%s xml:space=\"preserve\">", x, y, colour, weight)
	c.escaped(s)
	fmt.Fprintf(c, "</text>\n")
}
