package token_test

import (
	"testing"

	"github.com/efg-tools/efg/internal/token"
	"github.com/efg-tools/efg/signature"
)

func TestPairs(t *testing.T) {
	for _, p := range [][2]uint64{{0, 0}, {5, 63}, {5, 64}, {1 << 20, 1<<24 - 1}} {
		if a, b := token.Unpair(token.Pair(p[0], p[1])); a != p[0] || b != p[1] {
			t.Errorf("%v comes back as %d, %d", p, a, b)
		}
	}
	if token.Pair(1, 2) >= 1<<8 {
		t.Error("a pair of small numbers is large")
	}
}

func TestIDs(t *testing.T) {
	for _, id := range []signature.ID{{}, {Thread: 1<<12 - 1, Node: 1<<26 - 1, Slot: 1<<20 - 1}, {Thread: 3, Node: 4, Slot: 5}} {
		if v, ok := token.PackID(id); !ok || token.UnpackID(v) != id {
			t.Errorf("%v comes back as %v, %v", id, token.UnpackID(v), ok)
		}
	}
	for _, id := range []signature.ID{{Thread: 1 << 12}, {Node: 1 << 26}, {Slot: 1 << 20}} {
		if _, ok := token.PackID(id); ok {
			t.Errorf("%v fits", id)
		}
	}
}
