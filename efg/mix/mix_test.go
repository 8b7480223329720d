package mix

import (
	"bytes"
	"encoding/hex"
	"math/rand"
	"slices"
	"testing"
)

// script codes values of all kinds, and returns what the coder returns.
func script(c *Coder, seed int64) []uint64 {
	rng := rand.New(rand.NewSource(seed))
	var out []uint64
	var last uint64
	for i := range 3000 {
		v := uint64(i % 7)
		switch rng.Intn(8) {
		case 0:
			v = rng.Uint64() >> rng.Intn(64)
		case 1:
			v = last + 3
		}
		guesses := []Guess{{Context: Hash(1, last)}, {Context: Hash(2, uint64(i%7))}, {Value: last + 3, Sure: 1}, {None: true}}
		given := v
		if !c.Encoding() {
			given = 0
		}
		last = c.Value(i%3, guesses, Hash(3), last, given)
		out = append(out, last)
		n := rng.Uint64() >> rng.Intn(64)
		if !c.Encoding() {
			out = append(out, c.Number(Hash(4), 0), uint64(bit(c.Bit(Hash(5), false))))
			continue
		}
		out = append(out, c.Number(Hash(4), n), uint64(bit(c.Bit(Hash(5), n&1 != 0))))
	}
	return out
}

// A decoder can follow an encoder at work, also if that gives up, and finds how much is left.
func TestStream(t *testing.T) {
	state := NewEncoder(8).Learned()
	for seed := range int64(20) {
		s := NewStream()
		decoded, rest := make(chan []uint64, 1), make(chan int, 1)
		go func() {
			d := state.DecoderOf(s)
			decoded <- script(d, seed)
			rest <- d.Rest()
		}()
		e := state.EncoderTo(s)
		want := script(e, seed)
		if seed%2 == 1 {
			for range 800 { // the decoder does not want these
				e.Number(Hash(6), uint64(seed)<<40)
			}
		}
		alone := state.Decoder(e.Finish())
		if got := <-decoded; !slices.Equal(got, want) {
			t.Errorf("seed %d: other values came back", seed)
		}
		script(alone, seed)
		if got := <-rest; got != alone.Rest() || (got > 0) != (seed%2 == 1) {
			t.Errorf("seed %d: %d bytes are left, want %d", seed, got, alone.Rest())
		}
	}
	s := NewStream()
	overrun := make(chan bool, 1)
	go func() {
		d := state.DecoderOf(s)
		script(d, 1)
		overrun <- d.Overrun()
	}()
	e := state.EncoderTo(s)
	e.Number(Hash(4), 5)
	s.End()
	if !<-overrun {
		t.Error("the end of the code was not found")
	}
}

// What was coded comes back, with tables of any size.
func TestWhatWasCodedComesBack(t *testing.T) {
	for tableBits := 8; tableBits <= TableBits; tableBits += 4 {
		e := NewEncoder(tableBits)
		want := script(e, int64(tableBits))
		code := e.Finish()
		e.Close()
		d := NewDecoder(code, tableBits)
		got := script(d, int64(tableBits))
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("table of 2^%d: value %d is %d, not %d", tableBits, i, got[i], want[i])
			}
		}
		if d.Overrun() || d.Rest() > 0 {
			t.Errorf("table of 2^%d: overrun %v, %d bytes left", tableBits, d.Overrun(), d.Rest())
		}
		d.Close()
	}
}

// The code is part of the format: the same values always make the same bytes.
func TestTheCodeStays(t *testing.T) {
	e := NewEncoder(10)
	for i := range 40 {
		e.Value(1, []Guess{{Context: Hash(uint64(i % 5))}, {Value: uint64(i), Sure: 2}}, 7, uint64(i), uint64(i*i%23))
	}
	e.Number(Hash(9), 1<<40+12345)
	const want = "772ba391259aa30b946e2a04ed7c224e554625443b136e7072c31806d212d7a8f8e7a0d8c8b652"
	if got := hex.EncodeToString(e.Finish()); got != want {
		t.Errorf("%s", got)
	}
}

// Training makes the code shorter.
func TestTraining(t *testing.T) {
	text := []byte("what both sides know beforehand")
	size := func(train bool) int {
		e := NewEncoder(12)
		all := func() {
			last := uint64(0)
			for _, b := range text {
				last = e.Byte(0, []uint64{Hash(last), Hash(2)}, uint64(b))
			}
		}
		if train {
			e.Train(all)
		}
		all()
		return len(e.Finish())
	}
	if with, without := size(true), size(false); 3*with > 2*without {
		t.Errorf("%d bytes, %d without training", with, without)
	}
}

// Probabilities keep their order through logits and back.
func TestLogits(t *testing.T) {
	for p := uint32(0); p < 1<<16; p += 7 {
		if x := stretch(p); x < stretch(max(p, 7)-7) || squash(x) > p+1<<9 || squash(x)+1<<9 < p {
			t.Fatalf("stretch(%d) = %d, squash %d", p, x, squash(x))
		}
	}
}

// Any bytes can be decoded: a decoder reports that it has overrun them.
func FuzzDecoder(f *testing.F) {
	e := NewEncoder(8)
	script(e, 1)
	f.Add(e.Finish())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, code []byte) {
		d := NewDecoder(bytes.Clone(code), 8)
		defer d.Close()
		for range 1000 {
			script(d, 1)
			if d.Overrun() {
				return
			}
		}
	})
}
