package mix

// A short byte that is longer or more is followed by a tree of its own.
const (
	shortBits = 4
	longer    = 1<<shortBits - 1
	ofLonger  = 1 << 8
)

// Short codes a byte in contexts, in four bits if it is below 15.
func (c *Coder) Short(kind int, contexts []uint64, v uint64) uint64 {
	m := c.spelling(kind)
	if short := c.tree(m, contexts, 0, shortBits, min(v, longer)); short < longer {
		return short
	}
	return c.tree(m, contexts, ofLonger, 8, v)
}

// Plain codes the lowest n bits of v, which are as often 0 as 1, highest first.
func (c *Coder) Plain(n int, v uint64) uint64 {
	out := uint64(0)
	for n--; n >= 0; n-- {
		out = out<<1 | uint64(bit(c.bit(1<<15, v>>n&1 != 0)))
	}
	return out
}
