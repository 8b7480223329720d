package mix

import (
	"bytes"
	"math/rand"
	"sync"
	"testing"
)

// A table that grows has at each time what one of all places would have.
func TestTablesGrow(t *testing.T) {
	for _, bits := range []int{8, firstBits, firstBits + 1, lastBits, lastBits + 2, TableBits} {
		rng := rand.New(rand.NewSource(int64(bits)))
		slots, bitChances := newContexts(bits), newChances(min(bits, maxSpellBits))
		first := len(slots.slots)
		wantSlots, wantChances := map[uint64]uint64{}, map[uint32]chance{}
		for i := range uint64(150_000) {
			context := Hash(rng.Uint64() % 120_000)
			place := context >> (64 - bits)
			if got := slots.find(context).value; got != wantSlots[place] {
				t.Fatalf("%d bits, %d: value %d, want %d", bits, i, got, wantSlots[place])
			}
			slots.put(context).value = i
			wantSlots[place] = i

			at := uint32(context >> (64 - min(bits, maxSpellBits)))
			if bitChances.lacks(1) {
				bitChances.grow()
			}
			position := at
			if bitChances.places != nil {
				position = bitChances.position(at)
			}
			want, ok := wantChances[at]
			if !ok {
				want = evens
			}
			if got := bitChances.list[position]; got != want {
				t.Fatalf("%d bits, %d: chance %x, want %x", bits, i, got, want)
			}
			bitChances.list[position].update(i%3 == 0)
			want.update(i%3 == 0)
			wantChances[at] = want
		}
		if grown := len(slots.slots) > first; grown != (bits > firstBits) || len(slots.slots) > 1<<bits {
			t.Errorf("%d bits: from %d slots to %d", bits, first, len(slots.slots))
		}
		slots.close()
		bitChances.close()
	}
}

// Coders that begin with one state neither change it nor each other.
func TestCodersOfOneState(t *testing.T) {
	trained := NewEncoder(16)
	trained.Train(func() { script(trained, 1) })
	state := trained.Learned()
	code := func(seed int64) []byte {
		c := state.Encoder()
		defer c.Close()
		script(c, seed)
		return c.Finish()
	}
	want := code(2)
	var coding sync.WaitGroup
	for i := range 4 {
		coding.Go(func() {
			for k := range 3 {
				code(int64(3 + i + k))
				if got := code(2); !bytes.Equal(got, want) {
					t.Errorf("%d bytes, other than the first %d", len(got), len(want))
				}
			}
		})
	}
	coding.Wait()
}
