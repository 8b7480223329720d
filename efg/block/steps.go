package block

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// A coder of columns that takes four bits at a time, for the times of calls: each call has two, and the adaptive coder,
// which takes one bit at a time, needed longer for them than everything that is done with them. FORMAT.md,
// "Columns in steps", specifies the code.
//
// A step is a symbol from 0 to 15. Its model learns how frequent each symbol is. It keeps sums of frequencies in lanes
// of 16 bits, so that four of them are compared, or learn, at once.

const (
	stepSymbols = 16
	stepBits    = 15                                  // all frequencies together are 1<<stepBits
	stepFloor   = 2                                   // the least frequency
	stepLearned = 1<<stepBits - stepSymbols*stepFloor // what the frequencies above the least are together
	stepState   = uint64(1) << 31                     // the least state of the coder, and its first one
	stepLanes   = 0x0001_0001_0001_0001
	stepHigh    = 0x8000_8000_8000_8000 // the highest bit of each lane, which no sum has
)

// stepModel has the frequencies of all symbols below one, added up: lane i%4 of word i/4. The last word is the sum of
// all.
type stepModel struct {
	sums [5]uint64
	seen uint32 // how many symbols it has learned, at most len(stepRates)-1
}

// stepRate says how a model learns.
type stepRate struct {
	shift uint8  // the distance of a sum from what it should be is shifted by so many bits
	keep  uint64 // the bits of each lane that are its own after that
	gain  uint64 // in each lane: what a sum gains that the symbol is part of
}

// stepRates are those of models that have learned so many symbols.
var stepRates = func() (r [32]stepRate) {
	for i := range r {
		shift := min(bits.Len(uint(i+1)), 6)
		r[i] = stepRate{uint8(shift), 0xffff >> shift * stepLanes, stepLearned >> shift * stepLanes}
	}
	return r
}()

// stepFloors are the sums of the least frequencies; stepStart is where models begin: all symbols are equally frequent.
var stepFloors, stepStart = func() (floors, start [5]uint64) {
	for i := range stepSymbols {
		lane := i % 4 * 16
		floors[i/4] |= uint64(i*stepFloor) << lane
		start[i/4] |= uint64(i<<stepBits/stepSymbols) << lane
	}
	start[4] = 1 << stepBits
	return floors, start
}()

// stepAbove has, for each symbol, lanes of ones for the sums that it is part of.
var stepAbove = func() (above [stepSymbols][4]uint64) {
	for s := range above {
		for i := s + 1; i < stepSymbols; i++ {
			above[s][i/4] |= 0xffff << (i % 4 * 16)
		}
	}
	return above
}()

// of returns the sum of the frequencies of the symbols below one, and its own.
func (m *stepModel) of(s int) (below, frequency uint64) {
	next := s + 1
	below = m.sums[s>>2] >> (s & 3 * 16) & 0xffff
	return below, m.sums[next>>2]>>(next&3*16)&0xffff - below
}

// find returns the symbol that a number below 1<<stepBits stands for.
func (m *stepModel) find(at uint64) int {
	lanes := at*stepLanes | stepHigh
	w := &m.sums
	reached := (lanes-w[0])&stepHigh | (lanes-w[1])&stepHigh>>1 | (lanes-w[2])&stepHigh>>2 | (lanes-w[3])&stepHigh>>3
	return (bits.OnesCount64(reached) - 1) & (stepSymbols - 1)
}

func (m *stepModel) learn(s int) {
	r := &stepRates[m.seen%uint32(len(stepRates))]
	if int(m.seen) < len(stepRates)-1 {
		m.seen++
	}
	above := &stepAbove[s&(stepSymbols-1)]
	w, shift := &m.sums, r.shift&15
	w[0] += r.gain&above[0] - (w[0]-stepFloors[0])>>shift&r.keep
	w[1] += r.gain&above[1] - (w[1]-stepFloors[1])>>shift&r.keep
	w[2] += r.gain&above[2] - (w[2]-stepFloors[2])>>shift&r.keep
	w[3] += r.gain&above[3] - (w[3]-stepFloors[3])>>shift&r.keep
}

// Values below stepEscape * stepSymbols take two steps. Others begin with the step stepEscape; stepSymbols is added to them,
// so that they have at least stepLength bits, of which the highest one, eight with models, and others follow.
const (
	stepEscape = stepSymbols - 1
	stepLength = 9
	stepMost   = 1<<64 - 1 - stepSymbols // the largest value that can be coded
)

// stepColumn has the models of a column.
type stepColumn struct {
	firsts    [stepSymbols]stepModel               // by the first step of the value before
	seconds   [stepSymbols]stepModel               // of short values, by the first step
	lengths   stepModel                            // of longer values
	longest   stepModel                            // of those that are much longer
	mantissas [stepSymbols]stepModel               // the four bits below the highest one, by the length
	belows    [stepSymbols * stepSymbols]stepModel // the four bits below these, by length and mantissa
}

func newStepColumn() *stepColumn {
	c := &stepColumn{}
	c.lengths.sums, c.longest.sums = stepStart, stepStart
	for _, models := range [][]stepModel{c.firsts[:], c.seconds[:], c.mantissas[:], c.belows[:]} {
		for i := range models {
			models[i].sums = stepStart
		}
	}
	return c
}

// stepEncoder collects the parts of a code, because the coder writes the last one first.
type stepEncoder struct{ parts []stepPart }

// stepPart is a symbol, or, if its frequency is 0, bits as they are.
type stepPart struct {
	below, frequency uint16
	bits             uint32
	width            uint8
}

func (e *stepEncoder) symbol(m *stepModel, s int) {
	below, frequency := m.of(s)
	e.parts = append(e.parts, stepPart{below: uint16(below), frequency: uint16(frequency)})
	m.learn(s)
}

// direct writes the low n bits of v without a model.
func (e *stepEncoder) direct(v uint64, n int) {
	for n > 0 {
		k := min(n, stepDirect)
		n -= k
		e.parts = append(e.parts, stepPart{bits: uint32(v >> n & (1<<k - 1)), width: uint8(k)})
	}
}

// stepDirect is how many bits the coder takes at once without a model.
const stepDirect = 31

func (e *stepEncoder) values(vals []uint64) {
	c, last := newStepColumn(), 0
	for _, v := range vals {
		first := int(min(v/stepSymbols, stepEscape))
		e.symbol(&c.firsts[last], first)
		if last = first; first < stepEscape {
			e.symbol(&c.seconds[first], int(v%stepSymbols))
		} else {
			e.long(c, v)
		}
	}
}

func (e *stepEncoder) long(c *stepColumn, v uint64) {
	v += stepSymbols
	n := bits.Len64(v)
	length := min(n-stepLength, stepEscape)
	e.symbol(&c.lengths, length)
	if length == stepEscape {
		more := n - stepLength - stepEscape
		e.symbol(&c.longest, more>>2)
		e.direct(uint64(more&3), 2)
	}
	rest := n - stepLength
	mantissa := int(v >> (rest + 4) & (stepSymbols - 1))
	e.symbol(&c.mantissas[length], mantissa)
	e.symbol(&c.belows[length<<4|mantissa], int(v>>rest&(stepSymbols-1)))
	e.direct(v, rest)
}

// code writes the parts.
func (e *stepEncoder) code() []byte {
	x := stepState
	var words []uint32
	for i := len(e.parts) - 1; i >= 0; i-- {
		p := &e.parts[i]
		if p.frequency == 0 {
			if x>>(63-p.width) != 0 {
				words, x = append(words, uint32(x)), x>>32
			}
			x = x<<p.width | uint64(p.bits)
			continue
		}
		size := uint64(p.frequency)
		if x >= size<<(63-stepBits) {
			words, x = append(words, uint32(x)), x>>32
		}
		x = x/size<<stepBits + x%size + uint64(p.below)
	}
	out := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+4*len(words)), x)
	for i := len(words) - 1; i >= 0; i-- {
		out = binary.LittleEndian.AppendUint32(out, words[i])
	}
	return out
}

// stepColumnOf encodes a column; nil if it has values that cannot be coded.
func stepColumnOf(vals []uint64) []byte {
	if slices.Max(vals) > stepMost {
		return nil
	}
	e := stepEncoder{make([]stepPart, 0, 2*len(vals))}
	e.values(vals)
	return e.code()
}

// stepDecoder reads zeros beyond the end of the code. Its state is a parameter, and a result, of its methods, so that it
// is kept in a register.
type stepDecoder struct {
	in []byte
	at int // in it, or beyond its end
}

// filled returns the state x with the next word of the code, if it is too small.
func (d *stepDecoder) filled(x uint64) uint64 {
	if x >= stepState {
		return x
	}
	at := d.at
	d.at += 4
	if at <= len(d.in)-4 {
		return x<<32 | uint64(binary.LittleEndian.Uint32(d.in[at:]))
	}
	return x << 32
}

func (d *stepDecoder) symbol(m *stepModel, x uint64) (s int, next uint64) {
	at := x & (1<<stepBits - 1)
	s = m.find(at)
	below, frequency := m.of(s)
	x = frequency*(x>>stepBits) + at - below
	m.learn(s)
	return s, d.filled(x)
}

// direct reads n bits without a model.
func (d *stepDecoder) direct(n int, x uint64) (v, next uint64) {
	for n > 0 {
		k := min(n, stepDirect)
		n -= k
		v = v<<k | x&(1<<k-1)
		x = d.filled(x >> k)
	}
	return v, x
}

// values reads a column, and returns the state after it.
func (d *stepDecoder) values(vals []uint64, x uint64) uint64 {
	c, last := newStepColumn(), 0
	for i := range vals {
		last, x = d.symbol(&c.firsts[last&(stepSymbols-1)], x)
		if last == stepEscape {
			vals[i], x = d.long(c, x)
			continue
		}
		var second int
		second, x = d.symbol(&c.seconds[last&(stepSymbols-1)], x)
		vals[i] = uint64(last<<4 | second)
	}
	return x
}

func (d *stepDecoder) long(c *stepColumn, x uint64) (v, next uint64) {
	length, x := d.symbol(&c.lengths, x)
	rest := length
	if length == stepEscape {
		more, y := d.symbol(&c.longest, x)
		low, y := d.direct(2, y)
		rest, x = min(rest+more<<2+int(low), 64-stepLength), y // more is not made by an encoder
	}
	mantissa, x := d.symbol(&c.mantissas[length], x)
	below, x := d.symbol(&c.belows[length<<4|mantissa], x)
	low, x := d.direct(rest, x)
	return uint64(1<<8|mantissa<<4|below)<<rest + low - stepSymbols, x
}

// unstepColumn decodes a column.
func unstepColumn(payload []byte, vals []uint64) error {
	if len(payload) < 8 {
		return fmt.Errorf("%w: no state", errColumn)
	}
	d := stepDecoder{in: payload, at: 8}
	if x := d.values(vals, binary.LittleEndian.Uint64(payload)); x != stepState || d.at != len(payload) {
		return fmt.Errorf("%w: %w", errColumn, errTrailing)
	}
	return nil
}
