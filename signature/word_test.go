package signature_test

import (
	"encoding/binary"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/efg-tools/efg/signature"
)

func TestHash(t *testing.T) {
	for n := range 70 {
		var words []uint64
		var bytes []byte
		for i := range n {
			w := uint64(i+1) * 0x9e3779b97f4a7c15
			words = append(words, w)
			bytes = binary.LittleEndian.AppendUint64(bytes, w)
		}
		if got, want := signature.Hash(words...), xxhash.Sum64(bytes); got != want {
			t.Errorf("%d words: %#x, want %#x", n, got, want)
		}
	}
	if got := signature.Hash(); got != 0xef46db3751d8e999 {
		t.Errorf("no words: %#x", got)
	}
	if w := signature.Ident(^uint64(0)); w != 1<<62-1 {
		t.Errorf("identity %#x", w)
	}
}

func TestHeader(t *testing.T) {
	h := signature.MakeHeader(0x1234, signature.F08, true, 31, 0x8007)
	if h.Proc() != 0x1234 || h.Lang() != signature.F08 || !h.Large() || h.Words() != 31 || h.ErrorClass() != 0x8007 {
		t.Errorf("%#x", uint64(h))
	}
	if h != 0x80071f061234 {
		t.Errorf("layout: %#x", uint64(h))
	}
}

func TestWordForms(t *testing.T) {
	id := signature.ID{Thread: 4095, Node: 1<<26 - 1, Slot: 1<<24 - 1}
	got, ok := signature.ParseID(id.Word())
	if !ok || got != id {
		t.Errorf("got %+v", got)
	}
	if w := (signature.ID{Thread: 1, Node: 2, Slot: 3}).Word(); w != 1<<62|1<<50|2<<24|3 {
		t.Errorf("layout: %#x", w)
	}
	if k, ok := signature.ConstNumber(signature.Const(77)); !ok || k != 77 {
		t.Errorf("constant: %d, %v", k, ok)
	}
	minusOne := ^uint64(0)
	for _, w := range []uint64{0, 5, minusOne, minusOne - 1000} {
		if _, ok := signature.ConstNumber(w); ok {
			t.Errorf("%#x is a constant", w)
		}
		if _, ok := signature.ParseID(w); ok {
			t.Errorf("%#x is an id", w)
		}
	}
}
