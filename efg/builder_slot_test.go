package efg

import (
	"testing"

	"github.com/efg-tools/efg/signature"
)

// An object gets the lowest free slot of its event's node.
func TestAddNewTakesTheLowestFreeSlot(t *testing.T) {
	var defs Definitions
	b := NewBuilder(3, DefaultDemote, &defs)
	p := signature.ProcByName("MPI_Irecv")
	post := func(tag uint64) signature.ID {
		t.Helper()
		w := make([]uint64, len(p.Words))
		w[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(w), 0))
		w[7] = tag
		id, err := b.AddNew(Input{Words: w})
		if err != nil {
			t.Fatal(err)
		}
		got, ok := signature.ParseID(id)
		if !ok || uint64(got.Slot) != w[8] {
			t.Fatalf("id %x, slot word %d", id, w[8])
		}
		return got
	}
	expect := func(got signature.ID, node, slot uint32) {
		t.Helper()
		if got != (signature.ID{Thread: 3, Node: node, Slot: slot}) {
			t.Fatalf("%+v, want node %d, slot %d", got, node, slot)
		}
	}
	for i := range uint32(130) {
		expect(post(0), 0, i)
	}
	expect(post(1), 1, 0)
	b.Free(signature.ID{Thread: 3, Node: 0, Slot: 100}.Word())
	b.Free(signature.ID{Thread: 3, Node: 0, Slot: 2}.Word())
	b.Free(signature.ID{Thread: 3, Node: 7, Slot: 2}.Word())
	expect(post(0), 0, 2)
	expect(post(0), 0, 100)
	expect(post(0), 0, 130)
	send := signature.ProcByName("MPI_Send")
	w := make([]uint64, len(send.Words))
	w[0] = uint64(signature.MakeHeader(send.ID, signature.C, false, len(w), 0))
	if _, err := b.AddNew(Input{Words: w}); err == nil {
		t.Error("a call that makes nothing is not refused")
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(defs.List); err != nil || s.Events != 134 {
		t.Errorf("%d events: %v", s.Events, err)
	}
}
