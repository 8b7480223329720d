package efg

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"sort"
)

// Correction maps the times of a stream's events, as the clock of its machine has them, to times
// that agree with those of other machines. It never maps a later time to an earlier one.
//
// Times of both are ns since the run began.
type Correction struct {
	// Offset is the time since the run began minus CLOCK_MONOTONIC of the machine: Process.Clock.
	Offset int64
	// Machine is the same for all streams of a machine; Stream is for the times after that.
	Machine Line
	Stream  Warp
}

// Time maps a time at a position, see Knot.
func (c *Correction) Time(at, position int64) int64 { return c.time(at, position, &warpReader{}) }

// time is Time with a reader that may be anywhere.
func (c *Correction) time(at, position int64, r *warpReader) int64 {
	return r.time(&c.Stream, c.Machine.Time(at), position)
}

// mono maps CLOCK_MONOTONIC of the machine, ns.
func (c *Correction) mono(at uint64, position int64, r *warpReader) uint64 {
	return uint64(c.time(int64(at)+c.Offset, position, r) - c.Offset)
}

// Point says what is added to a time.
type Point struct{ At, Shift int64 }

// Line is the correction of a machine's clock: what is added to a time is interpolated between
// points, in order of time, and extrapolated outside them. The zero Line changes nothing.
type Line []Point

// Time maps a time.
func (l Line) Time(at int64) int64 {
	switch len(l) {
	case 0:
		return at
	case 1:
		return at + l[0].Shift
	}
	i := sort.Search(len(l)-2, func(i int) bool { return at < l[i+1].At })
	return at + between(l[i], l[i+1], at)
}

// between is the shift at a time on the line through two points, rounded down.
func between(a, b Point, at int64) int64 {
	if a.At == b.At {
		return a.Shift
	}
	return a.Shift + scale(at-a.At, b.Shift-a.Shift, b.At-a.At)
}

// scale returns x*y/z, rounded down; z is positive. What is too large for an int64 is 0: nothing that
// was measured is.
func scale(x, y, z int64) int64 {
	high, low := bits.Mul64(magnitude(x), magnitude(y))
	if high >= uint64(z) {
		return 0
	}
	q, rest := bits.Div64(high, low, uint64(z))
	switch {
	case q >= math.MaxInt64:
		return 0
	case x < 0 == (y < 0):
		return int64(q)
	case rest > 0:
		q++
	}
	return -int64(q)
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// Knot is a point of a Warp. Events may take no time, so that its place is a position in the
// stream: the beginning of event n is at 2n, its end at 2n+1, and the beginning of the recording
// at -1.
type Knot struct {
	Position int64
	Point
	// Stretch: up to the next knot, the shift grows evenly to that of the next one. Otherwise it
	// fades out.
	Stretch bool
}

// FadeBits says how fast a shift fades out: by 1 ns in 2^FadeBits ns.
const FadeBits = 6

// Warp shifts times of a stream to later ones, so that no effect precedes its cause. The zero Warp
// changes nothing. It takes a few bytes a knot.
type Warp struct {
	blocks       []warpBlock
	code         []byte
	before, last Knot // the last is not in a block
	knots        int
}

// warpBlock is where some knots begin: the first of them, and in code those after it, relative to
// each other.
type warpBlock struct {
	first Knot
	code  int
}

// knotsOfBlock is how many knots are in a block.
const knotsOfBlock = 64

// Knots is the number of knots.
func (w *Warp) Knots() int { return w.knots }

// Last is the last knot, if there is one.
func (w *Warp) Last() Knot { return w.last }

// Stretch makes the shift grow evenly from the last knot to the next one.
func (w *Warp) Stretch() { w.last.Stretch = true }

// Append adds a knot after all others.
func (w *Warp) Append(k Knot) {
	switch n := w.knots - 1; {
	case n < 0:
	case n%knotsOfBlock == 0:
		w.blocks = append(w.blocks, warpBlock{w.last, len(w.code)})
	default:
		step := uint64(w.last.Position-w.before.Position) << 1
		if w.last.Stretch {
			step |= 1
		}
		w.code = binary.AppendUvarint(w.code, step)
		w.code = binary.AppendUvarint(w.code, uint64(w.last.At-w.before.At))
		w.code = binary.AppendVarint(w.code, w.last.Shift-w.before.Shift)
	}
	w.before, w.last = w.last, k
	w.knots++
}

// warpReader reads a Warp from some knot on.
type warpReader struct {
	warp *Warp
	at   int  // number of knot
	knot Knot // the last one at or before a position
	next Knot
	code []byte // of those after next
}

// seek goes to the block with the last knot at or before a position; false if there is none.
func (r *warpReader) seek(w *Warp, position int64) bool {
	i := sort.Search(len(w.blocks), func(i int) bool { return position < w.blocks[i].first.Position }) - 1
	*r = warpReader{warp: w}
	switch {
	case i >= 0:
		r.at, r.knot, r.code = i*knotsOfBlock, w.blocks[i].first, w.code[w.blocks[i].code:]
		r.readNext()
		return true
	case w.knots == 1 && position >= w.last.Position:
		r.knot = w.last
		return true
	}
	return false
}

// readNext reads the knot after r.knot, if there is one.
func (r *warpReader) readNext() {
	w := r.warp
	switch n := r.at + 1; {
	case n == w.knots:
	case n == w.knots-1:
		r.next = w.last
	case n%knotsOfBlock == 0:
		r.next = w.blocks[n/knotsOfBlock].first
	default:
		step, a := binary.Uvarint(r.code)
		gap, b := binary.Uvarint(r.code[a:])
		shift, c := binary.Varint(r.code[a+b:])
		r.code = r.code[a+b+c:]
		r.next = Knot{Position: r.knot.Position + int64(step>>1), Point: Point{r.knot.At + int64(gap), r.knot.Shift + shift}, Stretch: step&1 != 0}
	}
}

// time maps a time at a position. It is fast for positions that follow each other.
func (r *warpReader) time(w *Warp, at, position int64) int64 {
	if w.knots == 0 {
		return at
	}
	far := r.warp == w && r.at/knotsOfBlock+1 < len(w.blocks) && position >= w.blocks[r.at/knotsOfBlock+1].first.Position
	if r.warp != w || position < r.knot.Position || far {
		if !r.seek(w, position) {
			r.warp = nil
			return at
		}
	}
	for r.at+1 < w.knots && position >= r.next.Position {
		r.at++
		r.knot = r.next
		r.readNext()
	}
	return r.knot.time(at, r.at+1 < w.knots, r.next.Point)
}

// time maps a time after a knot, up to the next one if there is one.
func (k *Knot) time(at int64, more bool, next Point) int64 {
	if k.Stretch && more {
		return at + between(k.Point, next, at)
	}
	return at + max(0, k.Shift-(at-k.At)>>FadeBits)
}

// Fade maps a time after a knot after which the shift fades out.
func (k *Knot) Fade(at int64) int64 { return k.time(at, false, Point{}) }

// All iterates over the knots.
func (w *Warp) All() iter.Seq[Knot] {
	return func(yield func(Knot) bool) {
		if w.knots == 0 {
			return
		}
		r := warpReader{warp: w, knot: w.last}
		if len(w.blocks) > 0 {
			r.knot, r.code = w.blocks[0].first, w.code
		}
		for {
			if !yield(r.knot) || r.at+1 == w.knots {
				return
			}
			r.readNext()
			r.at++
			r.knot = r.next
		}
	}
}
