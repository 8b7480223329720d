package graph

// widest is how wide a picture may be, in points, to be read: some ten screens. Down the
// page people follow the program, however long that is.
const widest = 10_000

// readablePixels is how many a PNG may have: more take long to draw, and to look at.
const readablePixels = 25_000_000

// Readable returns the picture of the graph or, if that would not be readable, of one in which
// the outermost loops are collapsed, as reported by collapsed. pixels: it is to be drawn as
// PNG. If that cannot be drawn either, the error is ErrTooLarge.
func (g *Graph) Readable(colour *Measure, pixels bool) (p *Picture, collapsed bool, err error) {
	p, err = g.Picture(colour)
	if p.readable(pixels) || len(g.Loops) == 0 {
		return p, false, err
	}
	p, err = g.Collapse(1).Picture(colour)
	return p, true, err
}

// readable reports whether there is a picture that can be read.
func (p *Picture) readable(pixels bool) bool {
	return p != nil && p.width <= widest && (!pixels || p.width*p.height <= readablePixels)
}

// Nodes is the number of the boxes.
func (p *Picture) Nodes() int { return len(p.g.Nodes) }
