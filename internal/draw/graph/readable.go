package graph

// widest is the maximum width of a readable picture in points, about ten screens. Its height is
// not limited: people follow a program down the page.
const widest = 10_000

// readablePixels is the maximum number of pixels of a PNG: more take long to draw, and to view.
const readablePixels = 25_000_000

// Readable returns the picture of the graph or, if that would not be readable, of one in which
// loops are collapsed: those of the greatest depth that leaves a readable picture, or the outermost.
// depth is that depth, 0 if no loop is collapsed. pixels says that it is for a PNG. If that graph
// cannot be drawn either, the error is ErrTooLarge.
func (g *Graph) Readable(colour *Measure, pixels bool) (p *Picture, depth int, err error) {
	p, err = g.Picture(colour)
	if p.readable(pixels) || len(g.Loops) == 0 {
		return p, 0, err
	}
	deepest := 0
	for i := range g.Loops {
		deepest = max(deepest, g.Loops[i].Depth)
	}
	for depth = deepest; depth > 1; depth-- {
		if p, err = g.Collapse(depth).Picture(colour); p.readable(pixels) {
			return p, depth, err
		}
	}
	p, err = g.Collapse(1).Picture(colour)
	return p, 1, err
}

// readable reports whether the picture can be read.
func (p *Picture) readable(pixels bool) bool {
	return p != nil && p.width <= widest && (!pixels || p.width*p.height <= readablePixels)
}

// Nodes is the number of boxes.
func (p *Picture) Nodes() int { return len(p.g.Nodes) }
