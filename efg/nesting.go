package efg

import "github.com/efg-tools/efg/signature"

// Nesting follows the depths of a stream's events, in their order: the time before a call counts
// from the end of the last event of at most its depth; or, for the first one inside a call that
// is not known yet, from where that of the outer call will. See FORMAT.md, "Times".
type Nesting[T any] struct {
	last  int // depth of the last event
	outer [signature.MaxDepth]resumption[T]
}

// resumption is where the call around some events continues.
type resumption[T any] struct {
	state T      // before the first of them
	first uint64 // the number of that one
}

// Enter moves on to event seq, of a depth. It returns the state from which the time before the event counts,
// and the number of the first event inside it, seq if there is none. now is the state after the
// last event.
func (n *Nesting[T]) Enter(depth int, seq uint64, now T) (T, uint64) {
	last := n.last
	n.last = depth
	for l := last; l < depth; l++ {
		n.outer[l] = resumption[T]{now, seq}
	}
	if last > depth {
		return n.outer[depth].state, n.outer[depth].first
	}
	return now, seq
}

// depthsOf returns the depths of the calls of each node, nil if all are outermost.
func depthsOf(nodes []Node) []uint8 {
	var depths []uint8
	for i := range nodes {
		d := signature.Header(nodes[i].Words[0]).Depth()
		if d > 0 && depths == nil {
			depths = make([]uint8, len(nodes))
		}
		if d > 0 {
			depths[i] = uint8(d)
		}
	}
	return depths
}

// depthAt is the depth of a node's calls, in depths as depthsOf returns them.
func depthAt(depths []uint8, node int) int {
	if depths == nil {
		return 0
	}
	return int(depths[node])
}

// Nested reports whether there are calls that were made inside others.
func (s *Stream) Nested() bool { return depthsOf(s.Nodes) != nil }
