package seq

import (
	"errors"
	"testing"
)

// An iteration takes memory for the values it has passed, not for the distance that a sequence
// claims to look back.
func TestIterationOfLongReachIsSmall(t *testing.T) {
	far := func(level int) Symbol {
		return Symbol{Level: level, Distance: uint64(PackWindow[level] - 1), Length: 9}
	}
	s, err := Make(1<<40, 0, []Symbol{{Value: 1}, {Value: 2}, far(0), far(1), far(2)})
	if err != nil {
		t.Fatal(err)
	}
	it := s.Iter()
	for want := uint64(1); want <= 2; want++ {
		if v, ok := it.Next(); !ok || v != want {
			t.Fatalf("%d, %v", v, ok)
		}
	}
	room := len(it.ring0)
	for l := range it.upper {
		room += len(it.upper[l].ring)
	}
	if room > Levels*firstRing {
		t.Errorf("rings of %d entries for two values", room)
	}
	if _, ok := it.Next(); ok || !errors.Is(it.Err(), ErrBroken) {
		t.Errorf("a repeat before the start: %v", it.Err())
	}
}
