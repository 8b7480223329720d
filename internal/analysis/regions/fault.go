package regions

import (
	"fmt"

	"github.com/efg-tools/efg/signature"
)

// FaultKind is how regions are not balanced.
type FaultKind uint8

const (
	NeverEnded FaultKind = iota // the region around it was ended, or the thread
	OtherName                   // a region was ended by another name
	NotOpen                     // an end when no region was open
)

// Fault is a fault, or equal ones at one place of the program.
type Fault struct {
	Kind FaultKind
	Node int    // where it is: the region's begin if that never ends, otherwise the end
	Seq  uint64 // number of the first event there that is at fault
	// Frame is the region that is not ended, or is ended by another name.
	Frame int32
	Name  string // that the end has; "" if it has none
	Count uint64
}

type faultKey struct {
	kind   FaultKind
	node   int
	region uint64 // word of the region's name
	name   uint64 // of that of the end
}

// note counts a fault of the event at hand.
func (t *Thread) note(kind FaultKind, frame int32) {
	key := faultKey{kind, t.node, t.stack.frames[frame].name, t.name}
	f := Fault{Kind: kind, Node: t.node, Seq: t.seq, Frame: frame, Name: t.names.text(t.name)}
	if kind == NeverEnded {
		begun := &t.stack.frames[frame]
		key.node, key.name = begun.Node, signature.Absent
		f.Node, f.Seq, f.Name = begun.Node, begun.begun, ""
	}
	i, ok := t.faultAt[key]
	if !ok {
		i = len(t.Faults)
		t.faultAt[key], t.Faults = i, append(t.Faults, f)
	}
	t.Faults[i].Count += t.times
}

// FaultText says what is wrong.
func (t *Thread) FaultText(f *Fault) string {
	switch {
	case f.Kind == NeverEnded:
		return fmt.Sprintf("began the region %q, which was never ended", t.Name(f.Frame))
	case f.Kind == OtherName:
		return fmt.Sprintf("ended the region %q by the name %q", t.Name(f.Frame), f.Name)
	case f.Name == "":
		return "ended a region, and none was open"
	}
	return fmt.Sprintf("ended the region %q, and none was open", f.Name)
}
