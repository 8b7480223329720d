// Package mix codes values that contexts predict: each of several experts guesses the next
// value, a mixer learns whom to believe, and what no expert guessed is spelled out. The same
// calls encode and decode, so that both sides learn the same. All arithmetic is in integers:
// the code is the same on every machine. FORMAT.md specifies it.
package mix

const (
	// Experts is the maximum number of guesses for a value.
	Experts = 16
	// Kinds is the maximum number of kinds of values: each has its own mixer.
	Kinds = 128

	sureLevels = 16 // how often a guess was right in its context
	pastLevels = 8  // which of the expert's last three guesses for the kind were right
	tries      = 4  // how many different guesses are asked about
	biasInput  = 64
)

// Guess is an expert's guess of the next value.
type Guess struct {
	// Context selects the guess: the value that followed when Context was the same.
	// If 0, Value is the guess, and Sure, at most 15, its sureness.
	Context uint64
	Value   uint64
	Sure    uint8
	None    bool // there is no guess
}

// trusts are, for each expert, how sure a guess is and the last three, the chance that it is right.
type trusts [Experts][sureLevels][pastLevels]chance

// Coder encodes values, or decodes them.
type Coder struct {
	encoder  *encoder // nil: it decodes
	decoder  *decoder
	training bool
	inputs   [Contexts]bitInput // of the bit that is coded
	learned
}

// learned is what a coder learns.
type learned struct {
	table    contexts
	trust    [Kinds]*trusts
	past     [Kinds][Experts]uint8
	mixer    [Kinds][Experts + 1]int64
	spell    chances // of the bits of values that no expert guessed
	spellers [Kinds]*bitMixer
	// own are the kinds whose trust and spellers are not those of the state with which the coder began.
	own struct{ trust, spellers [Kinds]bool }
}

// TableBits limits the table of contexts to 1<<TableBits slots.
const TableBits = 20

// NewEncoder returns a coder that encodes, with a table of 1<<tableBits contexts, tableBits
// from 8 to TableBits.
func NewEncoder(tableBits int) *Coder {
	c := newCoder(tableBits)
	c.encoder = &encoder{high: 1<<32 - 1}
	return c
}

// NewDecoder returns a coder that decodes what an encoder with the same tableBits wrote.
func NewDecoder(code []byte, tableBits int) *Coder {
	c := newCoder(tableBits)
	c.decoder = newDecoder(code, nil)
	return c
}

// Close releases the coder's memory. The coder must not be used afterwards.
func (c *Coder) Close() {
	c.table.close()
	c.spell.close()
	for kind, own := range c.own.trust {
		if own {
			memory.trusts.Put(c.trust[kind])
		}
	}
}

func newCoder(tableBits int) *Coder {
	c := &Coder{learned: learned{table: newContexts(tableBits), spell: newChances(min(tableBits+1, maxSpellBits))}}
	for k := range c.mixer {
		for i := range c.mixer[k] {
			c.mixer[k][i] = 1 << 16 * 7 / 20
		}
	}
	return c
}

// trusted returns the chances of a kind.
func (c *Coder) trusted(kind int) *trusts {
	if c.own.trust[kind] {
		return c.trust[kind]
	}
	t, ok := memory.trusts.Get().(*trusts)
	if !ok {
		t = new(trusts)
	}
	begun := c.trust[kind]
	c.trust[kind], c.own.trust[kind] = t, true
	if begun != nil {
		*t = *begun
		return t
	}
	for i := range t {
		for sure := range t[i] {
			for past := range t[i][sure] {
				t[i][sure][past] = evens
				if sure > 1 {
					t[i][sure][past] = likely
				}
			}
		}
	}
	return t
}

// Encoding reports whether the coder is given what it codes: it encodes, or is trained.
func (c *Coder) Encoding() bool { return c.encoder != nil || c.training }

// Train has the coder learn from what f codes, which both sides know: it is not in the code.
func (c *Coder) Train(f func()) {
	c.training = true
	f()
	c.training = false
}

// Finish returns the code of an encoder.
func (c *Coder) Finish() []byte { return c.encoder.finish() }

// Overrun reports whether a decoder has read past the end of its code.
func (c *Coder) Overrun() bool { return c.decoder != nil && c.decoder.overrun > 8 }

// Rest is the number of bytes of its code that a decoder has not read.
func (c *Coder) Rest() int { return c.decoder.rest() }

// Hash mixes values into a context, which is never 0.
func Hash(values ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, v := range values {
		h = (h ^ v) * 0xbf58476d1ce4e5b9
		h ^= h >> 29
	}
	h *= 0x94d049bb133111eb
	return h ^ h>>32 | 1
}

// Recall fills in a guess from its context.
func (c *Coder) Recall(g *Guess) {
	if g.Context == 0 {
		return
	}
	s := c.table.find(g.Context)
	g.Value, g.Sure, g.None = s.value, s.sure(), !s.of(g.Context)
}

// learn notes what followed a context.
func (c *Coder) learn(context, v uint64) {
	s := c.table.put(context)
	sure := s.sure()
	switch {
	case !s.of(context):
		sure, s.value = 1, v
	case s.value == v:
		sure = min(sure+1, sureLevels-1)
	case sure > 3:
		sure, s.value = 2, v
	default:
		sure, s.value = 1, v
	}
	s.mark = uint32(context)&^sureMask | uint32(sure)
}

// candidate is a value that some experts guess.
type candidate struct {
	value uint64
	votes int64
	by    uint32 // experts, as bits
}

// Value codes v, given guesses. If none is right, v, or its difference from near, is spelled
// out as by Number in the context rest.
func (c *Coder) Value(kind int, guesses []Guess, rest, near, v uint64) uint64 {
	return c.ValueOr(kind, guesses, v, func(v uint64) uint64 { return c.spelled(kind, guesses, rest, near, v) })
}

// ValueOr is like Value, but calls spell to code what no expert guessed.
func (c *Coder) ValueOr(kind int, guesses []Guess, v uint64, spell func(v uint64) uint64) uint64 {
	var in [Experts]int64
	var trusts [Experts]*chance
	var list [Experts]candidate
	n := 0
	weights, past, trust := &c.mixer[kind], &c.past[kind], c.trusted(kind)
	for i := range guesses {
		g := &guesses[i]
		c.Recall(g)
		if g.None {
			continue
		}
		t := &trust[i][g.Sure][past[i]&(pastLevels-1)]
		trusts[i], in[i] = t, stretch(t.p())
		k := 0
		for k < n && list[k].value != g.Value {
			k++
		}
		if k == n {
			list[k] = candidate{value: g.Value}
			n++
		}
		list[k].votes += weights[i] * in[i]
		list[k].by |= 1 << i
	}
	v, hit := c.ask(weights, list[:n], in[:len(guesses)], v)
	if !hit {
		v = spell(v)
	}
	for i := range guesses {
		if trusts[i] != nil {
			right := guesses[i].Value == v
			trusts[i].update(right)
			past[i] = past[i]<<1 | bit(right)
		}
		if guesses[i].Context != 0 {
			c.learn(guesses[i].Context, v)
		}
	}
	return v
}

// ask codes whether v is the candidate with the most votes, or the next one. in are the inputs of the experts.
func (c *Coder) ask(weights *[Experts + 1]int64, list []candidate, in []int64, v uint64) (uint64, bool) {
	var inputs [Experts]int64
	for range min(tries, len(list)) {
		best := 0
		for k := range list {
			if list[k].votes > list[best].votes {
				best = k
			}
		}
		x := list[best]
		list = append(list[:best], list[best+1:]...)
		sum := weights[Experts] * biasInput
		for i, s := range in[:min(len(in), Experts)] {
			if x.by>>i&1 == 0 {
				s = -max(s, 0) / 2
			}
			inputs[i] = s
			sum += weights[i] * s
		}
		p := squash(sum >> 16)
		hit := c.bit(p, x.value == v)
		miss := int64(bit(hit))<<16 - int64(p)
		for i, s := range inputs[:min(len(in), Experts)] { // what has no input learns nothing
			weights[i] += (miss*s*5 + 1<<15) >> 16
		}
		weights[Experts] += (miss*biasInput*5 + 1<<15) >> 16
		if hit {
			return x.value, true
		}
	}
	return v, false
}

// bit codes a bit that is 1 with probability p / 65536.
func (c *Coder) bit(p uint32, b bool) bool {
	switch {
	case c.training:
		return b
	case c.encoder != nil:
		c.encoder.bit(p, b)
		return b
	}
	return c.decoder.bit(p)
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// State is what a coder has learned. Many coders can begin with it.
type State struct{ learned }

// Learned returns what the coder has learned, without how often it has seen what beyond a few times, so
// that coders that begin with it adapt to what follows. The coder must not be used afterwards.
func (c *Coder) Learned() *State {
	settle(c.spell.list)
	for kind, t := range c.trust {
		if !c.own.trust[kind] {
			continue
		}
		for i := range t {
			for j := range t[i] {
				settle(t[i][j][:])
			}
		}
	}
	return &State{c.learned}
}

func settle(list []chance) {
	for i, s := range list {
		list[i] = s&^countMask | min(s&countMask, settledCount)
	}
}

// Encoder returns an encoder that begins with the state.
func (s *State) Encoder() *Coder {
	return &Coder{learned: s.copy(), encoder: &encoder{high: 1<<32 - 1}}
}

// Decoder returns a decoder, of what such an encoder wrote, that begins with the state.
func (s *State) Decoder(code []byte) *Coder {
	return &Coder{learned: s.copy(), decoder: newDecoder(code, nil)}
}

// EncoderTo is like Encoder; the stream carries the code.
func (s *State) EncoderTo(to *Stream) *Coder {
	c := s.Encoder()
	c.encoder.to = to
	return c
}

// DecoderOf is like Decoder, of what a stream carries: it waits for code that has not been written.
func (s *State) DecoderOf(from *Stream) *Coder {
	return &Coder{learned: s.copy(), decoder: newDecoder(nil, from)}
}

// copy copies what was learned; of a kind, when a coder first changes that.
func (l *learned) copy() learned {
	out := *l
	out.table, out.spell = l.table.copy(), l.spell.copy()
	clear(out.own.trust[:])
	clear(out.own.spellers[:])
	return out
}
