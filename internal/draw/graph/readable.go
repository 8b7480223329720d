package graph

// widest is the maximum width of a readable picture in points, about ten screens. Its height is
// not limited: people follow a program down the page.
const widest = 10_000

// readablePixels is the maximum number of pixels of a PNG: more take long to draw, and to view.
const readablePixels = 25_000_000

// Readable returns the picture of the graph or, if that would not be readable, of one in which
// the outermost loops are collapsed, as reported by collapsed. pixels says that it is for a
// PNG. If that graph cannot be drawn either, the error is ErrTooLarge.
func (g *Graph) Readable(colour *Measure, pixels bool) (p *Picture, collapsed bool, err error) {
	p, err = g.Picture(colour)
	if p.readable(pixels) || len(g.Loops) == 0 {
		return p, false, err
	}
	p, err = g.Collapse(1).Picture(colour)
	return p, true, err
}

// readable reports whether the picture can be read.
func (p *Picture) readable(pixels bool) bool {
	return p != nil && p.width <= widest && (!pixels || p.width*p.height <= readablePixels)
}

// Nodes is the number of boxes.
func (p *Picture) Nodes() int { return len(p.g.Nodes) }
