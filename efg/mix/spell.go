package mix

import "math/bits"

// bitMixer has weights for the contexts of a spelled bit: of each, by how often it was seen.
type bitMixer [Contexts][seenLevels]int32

const (
	// Contexts is the maximum number of contexts of a spelled bit.
	Contexts   = 8
	seenLevels = 5

	spellExperts = 2 // guesses whose contexts are also contexts of the bits that spell a value
	spellRate    = 5
)

// seenLevel is the level of a chance with that many updates.
func seenLevel(n int) uint8 {
	switch {
	case n < 2:
		return uint8(n)
	case n < 4:
		return 2
	case n < 10:
		return 3
	}
	return 4
}

// levels has the level of each number of updates.
var levels = func() (l [countLimit + 4]uint8) { // a power of two, for which indices need no check
	for n := range l {
		l[n] = seenLevel(n)
	}
	return l
}()

// firstWeights are the weights at first, by level.
var firstWeights = [seenLevels]int32{0, 18000, 22000, 26000, 30000}

// spelling returns the weights of a kind.
func (c *Coder) spelling(kind int) *bitMixer {
	if c.own.spellers[kind] {
		return c.spellers[kind]
	}
	m := new(bitMixer)
	begun := c.spellers[kind]
	c.spellers[kind], c.own.spellers[kind] = m, true
	if begun != nil {
		*m = *begun
		return m
	}
	for i := range m {
		m[i] = firstWeights
	}
	return m
}

// spelled codes a value, or its difference from another, whichever is shorter.
func (c *Coder) spelled(kind int, guesses []Guess, context, near, v uint64) uint64 {
	d := v - near
	zigzag := d<<1 ^ uint64(int64(d)>>63)
	contexts := make([]uint64, 2, 2+spellExperts)
	contexts[0], contexts[1] = Hash(context), Hash(1, uint64(kind))
	for i := range guesses {
		if x := guesses[i].Context; x != 0 && len(contexts) < 2+spellExperts {
			contexts = append(contexts, x)
		}
	}
	m := c.spelling(kind)
	if c.modelled(m, contexts, 0, bits.Len64(zigzag) < bits.Len64(v)) {
		z := c.number(m, contexts, ofDifference, zigzag)
		return near + (z>>1 ^ -(z & 1))
	}
	return c.number(m, contexts, ofValue, v)
}

// What distinguishes the trees of differences from those of values.
const (
	ofValue      = 1 << 32
	ofDifference = 3 << 32
)

// numberKind has the weights of numbers and bits that are not values of a kind.
const numberKind = Kinds - 2

// Number codes v in a context: its number of bits, and those after the highest.
func (c *Coder) Number(context, v uint64) uint64 {
	return c.number(c.spelling(numberKind), []uint64{context}, ofValue, v)
}

func (c *Coder) number(m *bitMixer, contexts []uint64, salt, v uint64) uint64 {
	length := int(c.tree(m, contexts, salt, 7, uint64(bits.Len64(v))))
	if length > 64 {
		length = 64
	}
	if length < 2 {
		return uint64(length)
	}
	below := length - 1
	return 1<<below | c.tree(m, contexts, salt+uint64(length)<<40, below, v&(1<<below-1))
}

// Byte codes a byte in contexts.
func (c *Coder) Byte(kind int, contexts []uint64, v uint64) uint64 {
	return c.tree(c.spelling(kind), contexts, 0, 8, v)
}

// Bit codes a bit in a context.
func (c *Coder) Bit(context uint64, b bool) bool {
	return c.modelled(c.spelling(numberKind), []uint64{context}, 0, b)
}

// tree codes n bits, highest first.
func (c *Coder) tree(m *bitMixer, contexts []uint64, salt uint64, n int, v uint64) uint64 {
	node := uint64(1)
	for i := n - 1; i >= 0; i-- {
		node = node<<1 | uint64(bit(c.modelled(m, contexts, salt+node, v>>i&1 != 0)))
	}
	return node &^ (1 << n)
}

// maxSpellBits limits the number of chances of bits to 1 << maxSpellBits; otherwise there are twice as
// many as slots of contexts.
const maxSpellBits = 18

// modelled codes a bit in contexts, each with node: a chance for each, mixed.
func (c *Coder) modelled(m *bitMixer, contexts []uint64, node uint64, b bool) bool {
	const mixing = 0xd6e8feb86659fd93
	inputs := &c.inputs
	node *= 0x9e3779b97f4a7c15
	sum := int64(0)
	contexts = contexts[:min(len(contexts), Contexts)]
	if c.spell.lacks(len(contexts)) {
		c.spell.grow()
	}
	spell, shift, whole := c.spell.list, c.spell.shift&63, c.spell.places == nil
	for i, x := range contexts {
		k := uint32((x + node) * mixing >> shift)
		if !whole {
			k = c.spell.position(k)
		}
		s := spell[k]
		l := levels[s&countMask%chance(len(levels))]
		in := int32(stretch(s.p()))
		inputs[i] = bitInput{k, in, l}
		sum += int64(m[i][l]) * int64(in)
	}
	p := min(max(squash(sum>>16), 32), 1<<16-32)
	b = c.bit(p, b)
	miss := int64(bit(b))<<16 - int64(p)
	for i := range contexts {
		in := &inputs[i]
		m[i][in.level] += int32((miss*int64(in.logit)*spellRate + 1<<15) >> 16)
		spell[in.at].update(b)
	}
	return b
}

// bitInput is what a context says of a bit.
type bitInput struct {
	at    uint32 // of its chance
	logit int32
	level uint8
}
