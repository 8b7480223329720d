package seq

import "math"

// JoinedRuns iterates over sequences in lockstep, such as the attribute streams of a node. It
// does not expand repeats: where all sequences repeat, it yields the tuples of one common
// period, each with the number of times it occurs. The tuples are complete in number, but not
// in the order of their positions.
type JoinedRuns struct {
	its    []Iter
	values []uint64
	times  uint64 // of these tuples
	folded uint64 // tuples left in the current period
	passed uint64 // values that were skipped after the current period
	at     uint64 // position of the last tuple
	next   uint64 // of the next one
	wait   uint64 // tuples until folding can succeed
	err    error
}

// maxFold bounds the common period of sequences that are folded together.
const maxFold = 1 << 14

// JoinRuns starts at the first tuple.
func JoinRuns(seqs ...*Seq) *JoinedRuns {
	z := &JoinedRuns{its: make([]Iter, len(seqs)), values: make([]uint64, len(seqs)), times: 1}
	for i, s := range seqs {
		z.its[i] = s.Iter()
	}
	return z
}

// Next returns the next tuple and how often it occurs; false at the end of the
// shortest sequence or on an error. The tuple is valid until the next call.
func (z *JoinedRuns) Next() (values []uint64, times uint64, ok bool) {
	switch {
	case z.folded > 0:
		z.folded--
	case z.wait > 0:
		z.times = 1
		z.wait--
	default:
		z.times = 1
		z.fold()
	}
	for i := range z.its {
		if z.values[i], ok = z.its[i].Next(); !ok {
			z.err = z.its[i].Err()
			return nil, 0, false
		}
	}
	z.at = z.next
	z.next++
	if z.folded == 0 {
		z.next += z.passed
		z.passed = 0
	}
	return z.values, z.times, len(z.its) > 0
}

// Position is the position, counted from 0, of the first occurrence of the last tuple that Next
// returned. The tuples of a common period occur again after it.
func (z *JoinedRuns) Position() uint64 { return z.at }

// Err is the error that ended the iteration early, if any.
func (z *JoinedRuns) Err() error { return z.err }

// fold skips all except one of the common periods that follow, if there are any, and lets the
// tuples of that one count for all.
func (z *JoinedRuns) fold() {
	period, room := uint64(1), uint64(math.MaxUint64)
	for i := range z.its {
		p, r := z.its[i].periods()
		if r == 0 {
			return
		}
		period, room = lcm(period, p), min(room, r)
		if p == 0 || period > maxFold {
			z.wait = r - 1
			return
		}
	}
	if room/period < 2 {
		return
	}
	k := room/period - 1
	for i := range z.its {
		z.its[i].left -= k * period
		z.its[i].rem0 -= k * period
	}
	z.times, z.folded, z.passed = k+1, period-1, k*period
}

// periods returns the period of the next room values; 0 if they differ by a stride. Skipping
// whole periods within room leaves the iteration intact: values that it may look back to are
// stored again after them.
func (it *Iter) periods() (period, room uint64) {
	ahead, reach := min(it.rem0, it.left), uint64(len(it.ring0))
	if ahead <= reach {
		return 0, 0
	}
	if it.delta && it.shift() != 0 {
		return 0, ahead - reach
	}
	return it.d0, ahead - reach
}

// Periodic returns the period of the next room values: they repeat the first period of them. If
// room is 0, nothing is known about the values to come.
func (it *Iter) Periodic() (period, room uint64) {
	if period, room = it.periods(); period == 0 {
		return 0, 0
	}
	return period, room
}

// Pass skips n values: whole periods, and at most the room that Periodic reports.
func (it *Iter) Pass(n uint64) {
	it.left -= n
	it.rem0 -= n
}

// shift is the sum of the last d0 differences.
func (it *Iter) shift() (sum uint64) {
	for i := uint64(1); i <= it.d0; i++ {
		x := it.ring0[(it.pos0-i)&it.mask0]
		sum += x>>1 ^ -(x & 1)
	}
	return sum
}

func lcm(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return 0
	}
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}
