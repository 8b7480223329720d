package regions

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// Outside is the frame outside of all regions.
const Outside = 0

// Frame is a region with those around it, begun at one place of the program.
type Frame struct {
	Parent int32 // the frame around it; -1: it is Outside
	Depth  int32
	Node   int    // that begins it
	name   uint64 // word of its name
	begun  uint64 // number of the last event that began it
}

// Limits of what is kept of a thread. A program may begin regions without end, or give each a name of
// its own; what is begun beyond these limits belongs to the region around it.
const (
	MaxDepth  = 1 << 8 // of regions in each other
	maxFrames = 1 << 16
)

// nameWord is the word of the name of an annotation.
const nameWord = signature.FirstWord

// action is what the events of a node do.
type action uint8

const (
	noAction action = iota
	begins
	ends
	gives // an attribute its value; only for followers of attributes
)

func actionOf(n *efg.Node) action {
	p := signature.ProcByID(signature.Header(n.Words[0]).Proc())
	switch {
	case !p.Annotates() || len(p.Words) != len(n.Words):
		return noAction
	case p.Opens:
		return begins
	case p.Closes:
		return ends
	}
	return noAction
}

type frameKey struct {
	parent int32
	node   int
	name   uint64
}

// stack is the regions that are open in a thread.
type stack struct {
	frames []Frame
	known  map[frameKey]int32
	top    int32
	// beyond counts the regions that are open in top and not kept; least is the lowest it has been.
	beyond, least uint64
	lost          bool // there were such regions
	fault         func(kind FaultKind, frame int32)
}

func newStack() *stack {
	return &stack{frames: []Frame{{Parent: -1, Node: -1}}, known: map[frameKey]int32{}, fault: func(FaultKind, int32) {}}
}

// begin opens a region; false if it is not kept.
func (s *stack) begin(node int, name, event uint64) bool {
	key := frameKey{s.top, node, name}
	f, ok := s.known[key]
	switch {
	case s.beyond > 0 || !ok && (len(s.frames) == maxFrames || s.frames[s.top].Depth == MaxDepth):
		s.beyond++
		s.lost = true
		return false
	case !ok:
		f = int32(len(s.frames))
		s.known[key] = f
		s.frames = append(s.frames, Frame{Parent: s.top, Depth: s.frames[s.top].Depth + 1, Node: node, name: name})
	}
	s.frames[f].begun, s.top = event, f
	return true
}

// end closes a region; the name is signature.Absent if the program gives none.
func (s *stack) end(name uint64) {
	if s.beyond > 0 {
		s.beyond--
		s.least = min(s.least, s.beyond)
		return
	}
	around := s.top
	for around != Outside && name != signature.Absent && s.frames[around].name != name {
		around = s.frames[around].Parent
	}
	switch {
	case s.top == Outside:
		s.fault(NotOpen, Outside)
		return
	case around == Outside:
		s.fault(OtherName, s.top)
		around = s.top
	}
	for s.top != around {
		s.fault(NeverEnded, s.top)
		s.top = s.frames[s.top].Parent
	}
	s.top = s.frames[s.top].Parent
}
