package graph

// widest is how wide a picture may be, in points, to be read: some ten screens. Down the
// page people follow the program, however long that is.
const widest = 10_000

// Readable is the picture of the graph or, if that could not be read, of one in which as few
// loops are collapsed as it takes: those of the returned depth, from the innermost on; 0:
// none. pixels: it is to be drawn as PNG. If no depth makes a readable picture it is that of the outermost
// loops; if that cannot be drawn either, an ErrTooLarge.
func (g *Graph) Readable(colour *Measure, pixels bool) (p *Picture, depth int, err error) {
	deepest := 0
	for i := range g.Loops {
		deepest = max(deepest, g.Loops[i].Depth)
	}
	p, err = g.Picture(colour)
	for depth := deepest; depth > 0 && !p.readable(pixels); depth-- {
		if p, err = g.Collapse(depth).Picture(colour); p.readable(pixels) || depth == 1 {
			return p, depth, err
		}
	}
	return p, 0, err
}

// readable says whether there is a picture that can be read.
func (p *Picture) readable(pixels bool) bool {
	return p != nil && p.width <= widest && (!pixels || p.FitsPNG())
}

// Nodes is the number of the boxes.
func (p *Picture) Nodes() int { return len(p.g.Nodes) }
