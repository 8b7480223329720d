package efg

import (
	"fmt"
	"math/bits"

	"github.com/efg-tools/efg/signature"
)

// AddNew appends an event that creates a local object. As the recorder does, it gives the
// object the lowest free slot of the event's node, and stores that in the event's slot word. It
// returns the object's id word.
func (b *Builder) AddNew(e Input) (uint64, error) {
	k := slotWord(e.Words[0])
	if k == 0 {
		return 0, fmt.Errorf("event %d makes no object that has a slot", b.events)
	}
	to, err := b.node(e)
	if err != nil {
		return 0, err
	}
	id := signature.ID{Thread: b.thread, Node: uint32(to), Slot: b.nodes[to].takeSlot()}
	e.Words[k] = uint64(id.Slot)
	b.enter(to, e)
	return id.Word(), nil
}

// AddSlot appends an event that creates a local object with a slot, which is in the event's slot word. If
// live reports that there is such an object, the new one gets another slot. It returns the object's
// id word.
func (b *Builder) AddSlot(e Input, live func(id uint64) bool) (uint64, error) {
	k := slotWord(e.Words[0])
	if k == 0 {
		return 0, fmt.Errorf("event %d makes no object that has a slot", b.events)
	}
	to, err := b.node(e)
	if err != nil {
		return 0, err
	}
	id := signature.ID{Thread: b.thread, Node: uint32(to), Slot: uint32(e.Words[k])}
	for live(id.Word()) {
		id.Slot = b.nodes[to].takeSlot()
	}
	e.Words[k] = uint64(id.Slot)
	b.enter(to, e)
	return id.Word(), nil
}

// Free releases the slot of an object.
func (b *Builder) Free(id uint64) {
	o, ok := signature.ParseID(id)
	if !ok || int(o.Node) >= len(b.nodes) {
		return
	}
	if n := b.nodes[o.Node]; int(o.Slot/64) < len(n.slots) {
		n.slots[o.Slot/64] &^= 1 << (o.Slot % 64)
	}
}

// takeSlot takes the node's lowest free slot.
func (n *buildNode) takeSlot() uint32 {
	for i := 0; ; i++ {
		if i == len(n.slots) {
			n.slots = append(n.slots, 0)
		}
		if bit := bits.TrailingZeros64(^n.slots[i]); bit < 64 {
			n.slots[i] |= 1 << bit
			return uint32(64*i + bit)
		}
	}
}
