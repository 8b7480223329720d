package mix

// chance is the probability of a bit, in its upper 22 bits, and the number of its updates.
type chance uint32

const (
	countBits  = 10
	countMask  = 1<<countBits - 1
	countLimit = 60 // from here on the last 60 or so count

	settledCount = 4 // after training

	evens  chance = 1 << 31
	likely chance = 7 << 29
)

// p is the probability of 1, of 65536.
func (c chance) p() uint32 { return uint32(c >> 16) }

// update moves the chance towards b: the less it has seen, the more.
func (c *chance) update(b bool) {
	n := *c & countMask
	p := uint64(*c >> countBits)
	rate := rates[n%chance(len(rates))]
	if b {
		p += (1<<22 - 1 - p) * rate >> rateBits
	} else {
		p -= p * rate >> rateBits
	}
	*c = chance(p)<<countBits | min(n+1, countLimit)
}

// rates[n] is 2/(2n+3), times 2^rateBits and rounded up: of 22 bits, a product with it is what a division
// gives, rounded down.
var rates = func() (r [countLimit + 4]uint64) { // a power of two, for which indices need no check
	for n := range r {
		d := uint64(2*n + 3)
		r[n] = (2<<rateBits + d - 1) / d
	}
	return r
}()

const rateBits = 40

// Logits are in units of 1/256, from -edge to edge, 11 of them.
const (
	edge     = 2816
	knotStep = 128
)

// knots are 65536 / (1 + exp(-x)) in steps of 1/2 from -11 to 11.
var knots = [...]uint32{1, 2, 3, 5, 8, 13, 22, 36, 60, 98, 162, 267, 439, 720, 1179, 1921, 3108, 4971, 7812,
	11955, 17625, 24743, 32768, 40793, 47911, 53581, 57724, 60565, 62428, 63615, 64357,
	64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514, 65523, 65528, 65531, 65533,
	65534, 65535}

// squash is the probability, of 65536, that a logit stands for.
func squash(x int64) uint32 {
	return uint32(squashed[min(max(x, -edge), edge-1)+edge])
}

// squashed has the probabilities of all logits: between the knots, which are linked by straight lines.
var squashed = func() (t [2 * edge]uint16) {
	for i := range t {
		low, high := knots[i/knotStep], knots[i/knotStep+1]
		t[i] = uint16(min(max(low+(high-low)*uint32(i%knotStep)/knotStep, 1), 1<<16-1))
	}
	return t
}()

// logits has the logit of each probability, of 4096: the first that squash makes at least it, or the last one.
var logits = func() (t [4096]int16) {
	x := 0
	for i := range t {
		for x < 2*edge-1 && int(squashed[x]) < i<<4|8 {
			x++
		}
		t[i] = int16(x - edge)
	}
	return t
}()

// stretch is the logit of a probability, of 65536.
func stretch(p uint32) int64 { return int64(logits[p>>4]) }
