package mix

// encoder is an arithmetic coder of bits: the code lies between low and high.
type encoder struct {
	low, high uint32
	out       []byte
	to        *Stream // nil: nobody reads the code while it is made
}

// split is the last number of the part of low to high that stands for a 1.
func split(low, high, p uint32) uint32 {
	return low + uint32(uint64(high-low)*uint64(p)>>16)
}

func (e *encoder) bit(p uint32, b bool) {
	at := split(e.low, e.high, p)
	if b {
		e.high = at
	} else {
		e.low = at + 1
	}
	for (e.low^e.high)>>24 == 0 {
		e.out = append(e.out, byte(e.high>>24))
		if e.to != nil && len(e.out)%streamPiece == 0 {
			e.to.set(e.out)
		}
		e.low <<= 8
		e.high = e.high<<8 | 0xff
	}
}

// finish ends the code with as few bytes as possible: a decoder reads zeros beyond them.
func (e *encoder) finish() []byte {
	for n := range 5 {
		// the smallest number with n bytes that is not below low
		mask := uint32(1<<(32-8*n) - 1)
		v := (uint64(e.low) + uint64(mask)) &^ uint64(mask)
		if n == 0 {
			v = 0
		}
		if v >= uint64(e.low) && v <= uint64(e.high) {
			for i := range n {
				e.out = append(e.out, byte(v>>(24-8*i)))
			}
			break
		}
	}
	if e.to != nil {
		e.to.set(e.out)
		e.to.End()
	}
	return e.out
}

type decoder struct {
	low, high, at uint32
	code          []byte
	overrun       int
	from          *Stream // nil: code is all there is
	read          int     // bytes that were taken from it
}

// newDecoder returns a decoder of the code and of what the stream carries; either may be nil.
func newDecoder(code []byte, from *Stream) *decoder {
	d := &decoder{high: 1<<32 - 1, code: code, from: from}
	for range 4 {
		d.at = d.at<<8 | uint32(d.next())
	}
	return d
}

// next is the next byte of the code; zeros follow it.
func (d *decoder) next() byte {
	if len(d.code) == 0 && d.from != nil {
		d.code = d.from.after(d.read)
		d.read += len(d.code)
	}
	if len(d.code) == 0 {
		d.overrun++
		return 0
	}
	b := d.code[0]
	d.code = d.code[1:]
	return b
}

// rest is the number of bytes of the code that were not read.
func (d *decoder) rest() int {
	if d.from == nil {
		return len(d.code)
	}
	return d.from.size() - d.read + len(d.code)
}

func (d *decoder) bit(p uint32) bool {
	at := split(d.low, d.high, p)
	b := d.at <= at
	if b {
		d.high = at
	} else {
		d.low = at + 1
	}
	for (d.low^d.high)>>24 == 0 {
		d.low <<= 8
		d.high = d.high<<8 | 0xff
		d.at = d.at<<8 | uint32(d.next())
	}
	return b
}
