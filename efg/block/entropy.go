package block

import "math/bits"

// An adaptive binary range coder for columns of integers. It needs no tables in
// the file and learns within a few dozen values, which is what most columns of
// a run file have. FORMAT.md, "Adaptive columns", specifies the code.
//
// A value is coded as a class and the bits below it. Classes 0 to 15 are the values themselves;
// larger values have the class of their length in bits and their second highest bit. The next
// modelBits bits are modelled, too; lower bits are stored unchanged.

const (
	smallValues = 16
	classBits   = 8
	modelBits   = 6
	probBits    = 16
	rangeTop    = 1 << 24
)

// classOf returns the class of v and the number of bits that follow.
func classOf(v uint64) (class uint32, rest int) {
	if v < smallValues {
		return uint32(v), 0
	}
	n := bits.Len64(v)
	return smallValues + uint32(n-5)<<1 + uint32(v>>(n-2)&1), n - 2
}

// classBase is the smallest value of a class, and the number of bits that follow.
func classBase(class uint32) (base uint64, rest int) {
	if class < smallValues {
		return uint64(class), 0
	}
	c := class - smallValues
	n := int(c>>1) + 5
	return (2 | uint64(c&1)) << (n - 2), n - 2
}

const maxClass = smallValues + (64-5)<<1 + 1

// bitModel is the probability that a bit is 0. It adapts fast at first.
type bitModel struct {
	p    uint16 // of 0, in 1/2^16, minus 1/2
	seen uint8  // at most adaptLimit
}

const adaptLimit = 30

// rates[n] is 2^16/(n+1.5): how far the n-th bit moves the probability.
var rates = func() (r [adaptLimit + 2]uint32) { // a power of two, for which indices need no check
	for i := range r {
		r[i] = uint32(2 << 16 / (2*i + 3))
	}
	return r
}()

// half is the probability before anything was seen.
const half = 1 << (probBits - 1)

func (m *bitModel) zero() uint32 { return uint32(m.p ^ half) }

// valueModel is the adaptive model of one column's values. With order 1 the class is predicted
// from the previous one.
type valueModel struct {
	order1  bool
	last    uint32
	classes [1 << classBits]*[1 << classBits]bitModel
	below   [1 << classBits]*[1 << modelBits]bitModel
}

func (m *valueModel) classTree() *[1 << classBits]bitModel {
	ctx := uint32(0)
	if m.order1 {
		ctx = m.last
	}
	t := m.classes[ctx]
	if t == nil {
		t = new([1 << classBits]bitModel)
		m.classes[ctx] = t
	}
	return t
}

func (m *valueModel) belowTree(class uint32) *[1 << modelBits]bitModel {
	t := m.below[class]
	if t == nil {
		t = new([1 << modelBits]bitModel)
		m.below[class] = t
	}
	return t
}

// rangeEncoder is the carry-less form of the LZMA range coder.
type rangeEncoder struct {
	out   []byte
	low   uint64
	rng   uint32
	cache byte
	size  int // bytes held back: the cache and 0xff bytes after it
}

func newRangeEncoder() *rangeEncoder { return &rangeEncoder{rng: ^uint32(0), size: 1} }

func (e *rangeEncoder) shiftLow() {
	if e.low < 0xff000000 || e.low >= 1<<32 {
		carry := byte(e.low >> 32)
		b := e.cache
		for ; e.size > 0; e.size-- {
			e.out = append(e.out, b+carry)
			b = 0xff
		}
		e.cache = byte(e.low >> 24)
	}
	e.size++
	e.low = e.low & 0x00ffffff << 8
}

func (e *rangeEncoder) bit(m *bitModel, bit uint32) {
	models := [2]bitModel{1: *m}
	e.tree(models[:], bit, 1)
	*m = models[1]
}

// direct writes the low n bits of v without a model.
func (e *rangeEncoder) direct(v uint64, n int) {
	for n--; n >= 0; n-- {
		e.rng >>= 1
		if v>>n&1 != 0 {
			e.low += uint64(e.rng)
		}
		for e.rng < rangeTop {
			e.rng <<= 8
			e.shiftLow()
		}
	}
}

// tree writes the low k bits of v with the models of a tree, numbered from 1. Most of the time to
// write traced times is spent here, so the state is kept in registers.
func (e *rangeEncoder) tree(models []bitModel, v uint32, k int) {
	rng, low, at := e.rng, e.low, uint32(1)
	for i := k - 1; i >= 0; i-- {
		m := &models[at]
		p := m.zero()
		rate := uint64(rates[m.seen%uint8(len(rates))])
		bound := rng >> probBits * p
		at <<= 1
		if v>>i&1 == 0 {
			rng = bound
			p += uint32(uint64(1<<probBits-p) * rate >> 16)
		} else {
			rng -= bound
			low += uint64(bound)
			p -= uint32(uint64(p) * rate >> 16)
			at |= 1
		}
		m.p = uint16(min(max(p, 1<<5), 1<<probBits-1<<5)) ^ half
		if m.seen < adaptLimit {
			m.seen++
		}
		for rng < rangeTop {
			rng <<= 8
			e.low = low
			e.shiftLow()
			low = e.low
		}
	}
	e.rng, e.low = rng, low
}

func (e *rangeEncoder) value(m *valueModel, v uint64) {
	class, rest := classOf(v)
	e.tree(m.classTree()[:], class, classBits)
	m.last = class
	if rest == 0 {
		return
	}
	k := min(rest, modelBits)
	e.tree(m.belowTree(class)[:], uint32(v>>(rest-k))&(1<<k-1), k)
	e.direct(v, rest-k)
}

// finish returns the code. Trailing zero bytes are omitted: the decoder reads zeros beyond the
// end.
func (e *rangeEncoder) finish() []byte {
	for range 5 {
		e.shiftLow()
	}
	out := e.out[1:] // the first byte is always 0
	for len(out) > 0 && out[len(out)-1] == 0 {
		out = out[:len(out)-1]
	}
	return out
}

// rangeDecoder reads zeros beyond the end of the code.
type rangeDecoder struct {
	in   []byte
	at   int // in it, or beyond its end
	rng  uint32
	code uint32
}

func newRangeDecoder(in []byte) *rangeDecoder {
	d := &rangeDecoder{in: in, rng: ^uint32(0)}
	for range 4 {
		d.code = d.code<<8 | d.next()
	}
	return d
}

// rest is the number of bytes not read.
func (d *rangeDecoder) rest() int { return max(0, len(d.in)-d.at) }

func (d *rangeDecoder) next() uint32 {
	at := d.at
	d.at++
	if uint(at) < uint(len(d.in)) {
		return uint32(d.in[at])
	}
	return 0
}

func (d *rangeDecoder) bit(m *bitModel) uint32 {
	models := [2]bitModel{1: *m}
	bit := d.tree(models[:], 1) & 1
	*m = models[1]
	return bit
}

// tree reads k bits with the models of a tree, numbered from 1. The result begins with an
// additional 1 bit. Most of the time to read statistics is spent here, so the state is kept in
// registers.
func (d *rangeDecoder) tree(models []bitModel, k int) uint32 {
	rng, code, at := d.rng, d.code, uint32(1)
	for range k {
		m := &models[at]
		p := m.zero()
		rate := uint64(rates[m.seen%uint8(len(rates))])
		bound := rng >> probBits * p
		at <<= 1
		if code < bound {
			rng = bound
			p += uint32(uint64(1<<probBits-p) * rate >> 16)
		} else {
			rng -= bound
			code -= bound
			p -= uint32(uint64(p) * rate >> 16)
			at |= 1
		}
		m.p = uint16(min(max(p, 1<<5), 1<<probBits-1<<5)) ^ half
		if m.seen < adaptLimit {
			m.seen++
		}
		for rng < rangeTop {
			rng <<= 8
			code = code<<8 | d.next()
		}
	}
	d.rng, d.code = rng, code
	return at
}

func (d *rangeDecoder) direct(n int) (v uint64) {
	rng, code := d.rng, d.code
	for range n {
		rng >>= 1
		v <<= 1
		if code >= rng {
			code -= rng
			v |= 1
		}
		for rng < rangeTop {
			rng <<= 8
			code = code<<8 | d.next()
		}
	}
	d.rng, d.code = rng, code
	return v
}

func (d *rangeDecoder) value(m *valueModel) uint64 {
	class := d.tree(m.classTree()[:], classBits) - 1<<classBits
	m.last = class
	if class > maxClass { // not made by an encoder
		class = maxClass
	}
	base, rest := classBase(class)
	if rest == 0 {
		return base
	}
	k := min(rest, modelBits)
	below := d.tree(m.belowTree(class)[:], k) - 1<<k
	v := base | uint64(below)<<(rest-k)
	return v | d.direct(rest-k)
}
